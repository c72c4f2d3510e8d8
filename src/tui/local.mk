# The full-screen interface; the only folder that includes curses.
# In the order of their tabs.
screens = explore compare sweep roofline timeline source lessons
screen_table.h: %D%/local.mk
	$(AM_V_GEN){ printf '%s\n' '#define SCREENS_TABLE(X) \'; \
	for n in $(screens); do printf '    X(%s) %s\n' $$n '\'; done; echo; } > $@.tmp && mv $@.tmp $@
BUILT_SOURCES += screen_table.h
CLEANFILES += screen_table.h

libattnscope_ui_a_SOURCES += \
  %D%/app/ahead.h %D%/app/ahead.c %D%/app/app.h %D%/app/app.c %D%/app/drive.h %D%/app/drive.c \
  %D%/kit/clip.h %D%/kit/clip.c \
  %D%/kit/codeview.h %D%/kit/codeview.c \
  %D%/screens/compare.c \
  %D%/screens/source_change.h %D%/screens/source_change.c \
  %D%/screens/source_costs.h %D%/screens/source_costs.c \
  %D%/screens/source_effect.h %D%/screens/source_effect.c \
  %D%/screens/compare_counters.h %D%/screens/compare_counters.c \
  %D%/screens/contender.h %D%/screens/contender.c \
  %D%/screens/compare_view.h %D%/screens/compare_view.c \
  %D%/kit/entry.h %D%/kit/entry.c \
  %D%/screens/explore.c \
  %D%/screens/explore_explain.h %D%/screens/explore_explain.c \
  %D%/screens/explore_kernels.h %D%/screens/explore_kernels.c \
  %D%/screens/explore_view.h %D%/screens/explore_view.c \
  %D%/kit/flow.h %D%/kit/flow.c \
  %D%/app/frame.c \
  %D%/app/keymap.h %D%/app/keymap.c \
  %D%/app/keyfile.h %D%/app/keyfile.c \
  %D%/kit/keys.h \
  %D%/screens/knobs.h %D%/screens/knobs.c \
  %D%/screens/layout.h %D%/screens/layout.c \
  %D%/screens/lesson.c %D%/screens/lesson_list.h %D%/screens/lesson_list.c \
  %D%/screens/lesson_lines.h %D%/screens/lesson_lines.c %D%/screens/lesson_page.h %D%/screens/lesson_page.c \
  %D%/kit/marks.h %D%/kit/marks.c \
  %D%/app/menus.h %D%/app/menu_export.c %D%/app/menu_consent.c %D%/app/menu_options.c %D%/app/picker.c %D%/app/popup_help.c \
  %D%/kit/outlet.h %D%/kit/outlet.c \
  %D%/kit/pane.h %D%/kit/pane.c \
  %D%/kit/popup.h %D%/kit/popup.c \
  %D%/kit/veil.h %D%/app/veil.h %D%/app/veil.c \
  %D%/app/prompt.h %D%/app/prompt.c \
  %D%/screens/roofline.c \
  %D%/screens/roofline_point.h %D%/screens/roofline_point.c \
  %D%/screens/measurement.h %D%/screens/measurement.c \
  %D%/screens/sim_view.h %D%/screens/sim_view.c \
  %D%/screens/simulation.h %D%/screens/simulation.c \
  %D%/screens/subject.h %D%/screens/subject.c \
  %D%/screens/screen_util.h %D%/screens/screen_util.c \
  %D%/app/history.h %D%/app/history.c \
  %D%/kit/signals.h %D%/kit/signals.c \
  %D%/app/state.h %D%/app/state.c \
  %D%/screens/sweep.c %D%/screens/sweep_cell.h %D%/screens/sweep_cell.c \
  %D%/screens/sweep_setup.h %D%/screens/sweep_setup.c \
  %D%/screens/source.h %D%/screens/source.c \
  %D%/screens/debug_view.h %D%/screens/debug_view.c \
  %D%/kit/textview.h %D%/kit/textview.c \
  %D%/kit/theme.h %D%/kit/theme.c \
  %D%/screens/timeline.c \
  %D%/kit/tty.h %D%/kit/tty.c \
  %D%/tui.h %D%/tui.c %D%/app/keys.c %D%/app/loop.c
