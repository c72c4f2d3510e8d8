# Pictures: their models, and what draws them as cells, SVG and gnuplot. No terminal, no I/O.
libattnscope_a_SOURCES += \
  %D%/axes.h %D%/axes.c \
  %D%/canvas.h %D%/canvas.c \
  %D%/chart.h %D%/chart.c \
  %D%/dots.h %D%/dots.c \
  %D%/figures.h %D%/figures.c \
  %D%/gnuplot.h %D%/gnuplot.c \
  %D%/grid.h %D%/heat.c %D%/lines.c \
  %D%/roofline.c \
  %D%/scale.h %D%/scale.c \
  %D%/smem.c \
  %D%/spread.h %D%/spread.c %D%/intervals.c %D%/times.c \
  %D%/svg.h %D%/svg.c \
  %D%/timeline.h %D%/timeline.c
