# On a pseudo-terminal: the line reader and the full screen. One library drives both.
tui_cppflags = $(AM_CPPFLAGS) -I$(srcdir)/%D% -I$(srcdir)/tests/unit
if HAVE_CUNIT
check_LIBRARIES += libtuirun.a
endif
libtuirun_a_SOURCES = %D%/tuirun.h %D%/tuirun.c %D%/ptyrun.h %D%/ptyrun.c
libtuirun_a_CPPFLAGS = $(tui_cppflags) $(CUNIT_CFLAGS)
tui_libs = libtuirun.a libtap.a $(CUNIT_LIBS)
unit_tests += %D%/fuzz_repl.t
%C%_fuzz_repl_t_SOURCES = %D%/fuzz_repl.c
%C%_fuzz_repl_t_CPPFLAGS = $(tui_cppflags)
%C%_fuzz_repl_t_LDADD = $(tui_libs)
long_tests += %D%/fuzz_repl_long.sh
EXTRA_DIST += %D%/fuzz_repl_long.sh
unit_tests += %D%/test_repl.t
%C%_test_repl_t_SOURCES = %D%/test_repl.c
%C%_test_repl_t_CPPFLAGS = $(tui_cppflags)
%C%_test_repl_t_LDADD = $(tui_libs)
unit_tests += %D%/test_tui.t
%C%_test_tui_t_SOURCES = %D%/test_tui.c
%C%_test_tui_t_CPPFLAGS = $(tui_cppflags)
%C%_test_tui_t_LDADD = $(tui_libs)
unit_tests += %D%/test_slow.t
%C%_test_slow_t_SOURCES = %D%/test_slow.c
%C%_test_slow_t_CPPFLAGS = $(tui_cppflags)
%C%_test_slow_t_LDADD = $(tui_libs)
unit_tests += %D%/test_views.t
%C%_test_views_t_SOURCES = %D%/test_views.c
%C%_test_views_t_CPPFLAGS = $(tui_cppflags)
%C%_test_views_t_LDADD = $(tui_libs)
unit_tests += %D%/test_edit.t
%C%_test_edit_t_SOURCES = %D%/test_edit.c
%C%_test_edit_t_CPPFLAGS = $(tui_cppflags)
%C%_test_edit_t_LDADD = $(tui_libs)
unit_tests += %D%/test_compile.t
%C%_test_compile_t_SOURCES = %D%/test_compile.c
%C%_test_compile_t_CPPFLAGS = $(tui_cppflags)
%C%_test_compile_t_LDADD = $(tui_libs)
unit_tests += %D%/test_signals.t
%C%_test_signals_t_SOURCES = %D%/test_signals.c
%C%_test_signals_t_CPPFLAGS = $(tui_cppflags)
%C%_test_signals_t_LDADD = $(tui_libs)
unit_tests += %D%/test_screens.t
%C%_test_screens_t_SOURCES = %D%/test_screens.c
%C%_test_screens_t_CPPFLAGS = $(tui_cppflags)
%C%_test_screens_t_LDADD = $(tui_libs)
unit_tests += %D%/test_hang.t
%C%_test_hang_t_SOURCES = %D%/test_hang.c
%C%_test_hang_t_CPPFLAGS = $(tui_cppflags)
%C%_test_hang_t_LDADD = $(tui_libs)
unit_tests += %D%/test_ahead.t
%C%_test_ahead_t_SOURCES = %D%/test_ahead.c
%C%_test_ahead_t_CPPFLAGS = $(tui_cppflags)
%C%_test_ahead_t_LDADD = $(tui_libs) libattnscope_ui.a $(core_libs) $(READLINE_LIBS) $(NCURSES_LIBS)
unit_tests += %D%/test_pty.t
%C%_test_pty_t_SOURCES = %D%/test_pty.c
%C%_test_pty_t_CPPFLAGS = $(tui_cppflags)
%C%_test_pty_t_LDADD = $(tui_libs)
unit_tests += %D%/budget.t
%C%_budget_t_SOURCES = %D%/budget.c
%C%_budget_t_CPPFLAGS = $(tui_cppflags)
%C%_budget_t_LDADD = $(tui_libs)
# What the program costs its user, as a table with the limits of the design.
.PHONY: budget
budget: %D%/budget.t attnscope attnscope-worker
	BUDGET=1 ATTNSCOPE='$(abs_builddir)/attnscope' \
	ATTNSCOPE_WORKER='$(abs_builddir)/attnscope-worker' %D%/budget.t

# The app in the test's own process, on a terminal in memory.
check_LIBRARIES += libmemtty.a
libmemtty_a_SOURCES = %D%/memtty.h %D%/memtty.c
libmemtty_a_CPPFLAGS = $(tui_cppflags)
if HAVE_CUNIT
check_LIBRARIES += libmemrun.a
endif
libmemrun_a_SOURCES = %D%/memrun.h %D%/memrun.c
libmemrun_a_CPPFLAGS = $(tui_cppflags) $(CUNIT_CFLAGS)
mem_libs = libmemtty.a libattnscope_ui.a $(core_libs) $(READLINE_LIBS)
fuzz_tests += %D%/fuzz_keys.t
%C%_fuzz_keys_t_SOURCES = %D%/fuzz_keys.c
%C%_fuzz_keys_t_CPPFLAGS = $(tui_cppflags)
%C%_fuzz_keys_t_LDADD = $(mem_libs)
unit_tests += %D%/test_golden.t
%C%_test_golden_t_SOURCES = %D%/test_golden.c
%C%_test_golden_t_CPPFLAGS = $(tui_cppflags)
%C%_test_golden_t_LDADD = libtap.a $(mem_libs) $(CUNIT_LIBS)
unit_tests += %D%/test_veil.t
%C%_test_veil_t_SOURCES = %D%/test_veil.c
%C%_test_veil_t_CPPFLAGS = $(tui_cppflags)
%C%_test_veil_t_LDADD = libtap.a $(mem_libs) $(CUNIT_LIBS)
unit_tests += %D%/test_consent.t
%C%_test_consent_t_SOURCES = %D%/test_consent.c
%C%_test_consent_t_CPPFLAGS = $(tui_cppflags)
%C%_test_consent_t_LDADD = libtap.a $(mem_libs) $(CUNIT_LIBS)
unit_tests += %D%/test_stopped.t
%C%_test_stopped_t_SOURCES = %D%/test_stopped.c
%C%_test_stopped_t_CPPFLAGS = $(tui_cppflags)
%C%_test_stopped_t_LDADD = libmemrun.a libtap.a $(mem_libs) $(CUNIT_LIBS)
unit_tests += %D%/test_counted.t
%C%_test_counted_t_SOURCES = %D%/test_counted.c
%C%_test_counted_t_CPPFLAGS = $(tui_cppflags)
%C%_test_counted_t_LDADD = libmemrun.a libtap.a $(mem_libs) $(CUNIT_LIBS)
unit_tests += %D%/test_app.t
%C%_test_app_t_SOURCES = %D%/test_app.c
%C%_test_app_t_CPPFLAGS = $(tui_cppflags)
%C%_test_app_t_LDADD = libmemrun.a libtap.a $(mem_libs) $(CUNIT_LIBS)
unit_tests += %D%/test_keymap.t
%C%_test_keymap_t_SOURCES = %D%/test_keymap.c
%C%_test_keymap_t_CPPFLAGS = $(tui_cppflags)
%C%_test_keymap_t_LDADD = libtap.a libattnscope_ui.a $(core_libs) $(READLINE_LIBS) $(NCURSES_LIBS) $(CUNIT_LIBS)
EXTRA_DIST += %D%/golden.txt %D%/session.json %D%/stopped.txt %D%/counted.txt
# What the screens show is as it should be: keep it.
.PHONY: update-golden
update-golden: %D%/test_golden.t %D%/test_stopped.t %D%/test_counted.t attnscope-worker
	UPDATE_GOLDEN=1 ATTNSCOPE_SRCDIR='$(abs_top_srcdir)' %D%/test_golden.t
	UPDATE_GOLDEN=1 ATTNSCOPE_SRCDIR='$(abs_top_srcdir)' ATTNSCOPE_COMPILE=off \
	ATTNSCOPE_WORKER='$(abs_builddir)/attnscope-worker' %D%/test_stopped.t
	UPDATE_GOLDEN=1 ATTNSCOPE_SRCDIR='$(abs_top_srcdir)' ATTNSCOPE_COMPILE=off \
	ATTNSCOPE_WORKER='$(abs_builddir)/attnscope-worker' %D%/test_counted.t
	$(SHELL) $(srcdir)/tools/screens-page.sh > $(srcdir)/man/SCREENS.md
