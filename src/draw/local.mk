# Figures on a cell canvas: no terminal, no I/O.
libattnscope_a_SOURCES += \
  %D%/axes.h %D%/axes.c \
  %D%/canvas.h %D%/canvas.c \
  %D%/dots.h %D%/dots.c \
  %D%/svg.h %D%/svg.c \
  %D%/figures.h %D%/figures.c \
  %D%/heat.c %D%/intervals.c %D%/lines.c %D%/roofline.c \
  %D%/timeline.h %D%/timeline.c
