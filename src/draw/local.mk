# Pictures: their models, and what draws them as cells, SVG and gnuplot. No terminal, no I/O.
# The kinds of pictures, each in the file of its name: lines.c defines chart_lines. What says most comes first: a table is
# drawn as the first one that it has. A further kind is a file and a line.
chart_files = \
  %D%/pairs.c \
  %D%/heat.c \
  %D%/lines.c \
  %D%/ratios.c \
  %D%/times.c \
  %D%/stack.c \
  %D%/timeline.c \
  %D%/smem.c \
  %D%/lanes.c \
  %D%/source.c \
  %D%/change.c \
  %D%/window.c \
  %D%/roles.c \
  %D%/trail.c \
  %D%/sm.c \
  %D%/roofline.c \
  %D%/histogram.c \
  %D%/samples.c \
  %D%/errors.c

libattnscope_a_SOURCES += $(chart_files) \
  %D%/axes.h %D%/axes.c \
  %D%/canvas.h %D%/canvas.c \
  %D%/chart.h %D%/chart.c \
  %D%/errors.h \
  %D%/figures.h %D%/figures.c \
  %D%/gnuplot.h %D%/gnuplot.c \
  %D%/grid.h \
  %D%/samples.h \
  %D%/phases.h %D%/phases.c \
  %D%/roles.h \
  %D%/scale.h %D%/scale.c \
  %D%/spread.h %D%/spread.c \
  %D%/svg.h %D%/svg.c \
  %D%/timeline.h %D%/timeline/take.c \
  %D%/timeline/key.h %D%/timeline/key.c \
  %D%/timeline/slots.h %D%/timeline/slots.c

nodist_libattnscope_a_SOURCES += chart_table.c
chart_table.c: %D%/local.mk
	$(AM_V_GEN){ echo '#include "draw/chart.h"'; names=; \
	for f in $(chart_files); do f=$${f##*/}; names="$$names $${f%.c}"; done; \
	for n in $$names; do echo "extern const struct chart_kind chart_$$n;"; done; \
	echo 'const struct chart_kind *const chart_kinds[] = {'; \
	for n in $$names; do echo "    &chart_$$n,"; done; \
	echo '    NULL};'; \
	echo 'const char *const chart_names[] = {'; \
	for n in $$names; do echo "    \"$$n\","; done; \
	echo '    NULL};'; } > $@.tmp && mv $@.tmp $@
BUILT_SOURCES += chart_table.c
CLEANFILES += chart_table.c
