# The programs and the library under them. Everything but the two main files and the two front
# ends is in libattnscope.a, which programs and tests link; the linker takes what each needs, so
# the interface program has no kernels in it and the worker no curses.
noinst_LIBRARIES += libattnscope.a libattnscope_ui.a
libattnscope_a_SOURCES =
libattnscope_ui_a_SOURCES =
nodist_libattnscope_a_SOURCES = blob_table.c ptx_blobs.c build_id.c

include %D%/base/local.mk
include %D%/sim/local.mk
include %D%/spec/local.mk
include %D%/kernel/local.mk
include %D%/plan/local.mk
include %D%/backend/local.mk
include %D%/measure/local.mk
include %D%/job/local.mk
include %D%/store/local.mk
include %D%/draw/local.mk
include %D%/export/local.mk
include %D%/command/local.mk
include %D%/lesson/local.mk
include %D%/repl/local.mk
include %D%/tui/local.mk

# liblzma unpacks the simulator's PTX, which the worker does: the interface program does not get it.
core_libs = libattnscope.a $(cpu_libs) $(JANSSON_LIBS) $(SQLITE_LIBS) $(MD4C_LIBS) \
	$(LZMA_LIBS) $(NETTLE_LIBS) $(LIBS)

# What is made before anything is compiled, also by `make attnscope` in a fresh folder: only all, check and install
# begin with BUILT_SOURCES.
$(libattnscope_a_OBJECTS) $(libattnscope_ui_a_OBJECTS): | verb_table.h ladder_table.h screen_table.h backend_table.h

bin_PROGRAMS += attnscope
attnscope_SOURCES = %D%/main.c %D%/base/heap.c
attnscope_LDADD = libattnscope_ui.a $(core_libs) $(READLINE_LIBS) $(NCURSES_LIBS)

pkglibexec_PROGRAMS += attnscope-worker
attnscope_worker_SOURCES = %D%/worker.c
attnscope_worker_LDADD = $(core_libs)

# Kernel sources, headers, tables and lessons travel inside the programs.
blob_table.c: tools/embed.sh $(blob_files) Makefile
	$(AM_V_GEN)$(SHELL) $(srcdir)/tools/embed.sh $(abs_srcdir) $(abs_builddir) $(blob_files) > $@.tmp && mv $@.tmp $@
blob_table.$(OBJEXT): blob_table.c $(blob_files)
BUILT_SOURCES += blob_table.c
CLEANFILES += blob_table.c
ptx_blobs.c: tools/embed.sh $(ptx_files) Makefile
	$(AM_V_GEN)TABLE=ptx_blobs $(SHELL) $(srcdir)/tools/embed.sh $(abs_srcdir) $(abs_builddir) $(ptx_files) > $@.tmp && mv $@.tmp $@
ptx_blobs.$(OBJEXT): ptx_blobs.c $(ptx_files)
BUILT_SOURCES += ptx_blobs.c
CLEANFILES += ptx_blobs.c
# What the library is made from, in sixteen digits: interface and worker compare it before they talk.
build_id.c: $(libattnscope_a_SOURCES) $(blob_files) Makefile
	$(AM_V_GEN)id=`cd $(srcdir) && cat $(libattnscope_a_SOURCES) $(blob_files) | sha256sum | cut -c 1-16` && \
	  printf '#include "job/wire.h"\nconst char wire_build[] = "%s";\n' "$$id" > $@.tmp && mv $@.tmp $@
BUILT_SOURCES += build_id.c
CLEANFILES += build_id.c
EXTRA_DIST += tools/embed.sh $(blob_files) $(ptx_files)
