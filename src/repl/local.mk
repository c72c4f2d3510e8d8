libattnscope_ui_a_SOURCES += \
	%D%/front.c \
	%D%/front.h \
	%D%/guard.c %D%/guard.h \
	%D%/line.c \
	%D%/line.h \
	%D%/repl.c \
	%D%/repl.h \
	%D%/undo.c \
	%D%/undo.h
