# Rows and figures as files: text, JSON, CSV, Markdown, SVG, gnuplot, HTML.
libattnscope_a_SOURCES += \
	%D%/csv.c \
	%D%/fig_blocks.c \
	%D%/fig_heat.c \
	%D%/fig_items.c \
	%D%/fig_lines.c \
	%D%/fig_roof.c \
	%D%/fig_smem.c \
	%D%/figs.h \
	%D%/figure.c %D%/figure.h \
	%D%/findings.c \
	%D%/gnuplot.c \
	%D%/html.c %D%/html.h \
	%D%/items.c \
	%D%/md.c \
	%D%/model.c %D%/model.h \
	%D%/report.c %D%/report_section.c %D%/report.h \
	%D%/rowpath.c %D%/rows.c %D%/rows.h \
	%D%/scale.c %D%/scale.h \
	%D%/table.c %D%/table.h \
	%D%/tally.c %D%/tally.h \
	%D%/text.c
