# Rows and their pictures as files: text, JSON, CSV, Markdown, HTML.
libattnscope_a_SOURCES += \
	%D%/csv.c \
	%D%/findings.c \
	%D%/html.c %D%/html.h \
	%D%/md.c \
	%D%/report.c %D%/report_section.c %D%/report.h \
	%D%/row_charts.c %D%/row_charts.h %D%/row_grids.c %D%/row_grids.h \
	%D%/rowpath.c %D%/rows.c %D%/rows.h \
	%D%/sheet.c %D%/sheet.h \
	%D%/table.c %D%/table.h \
	%D%/tally.c %D%/tally.h \
	%D%/text.c \
	%D%/tidy.c %D%/tidy.h
