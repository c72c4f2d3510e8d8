libattnscope_a_SOURCES += \
	%D%/confine.c \
	%D%/confine.h \
	%D%/deadly.c %D%/deadly.h \
	%D%/diff.c \
	%D%/diff.h \
	%D%/expr.c \
	%D%/expr.h \
	%D%/clock.h %D%/clock.c \
	%D%/fuzzy.h %D%/fuzzy.c \
	%D%/kin.c %D%/kin.h \
	%D%/hash.h %D%/sha256.h %D%/sha256.c \
	%D%/json_text.c \
	%D%/json_text.h \
	%D%/mem.c \
	%D%/mem.h \
	%D%/number.c \
	%D%/number.h \
	%D%/path.c \
	%D%/path.h \
	%D%/procstate.c %D%/procstate.h \
	%D%/file.c %D%/file.h \
	%D%/field.c \
	%D%/field.h \
	%D%/record.c \
	%D%/record.h \
	%D%/rowset.c \
	%D%/rowset.h \
	%D%/sanitize.c \
	%D%/sanitize.h \
	%D%/sanitized.h \
	%D%/status.c \
	%D%/status.h \
	%D%/str.c \
	%D%/str.h \
	%D%/texts.c %D%/texts.h \
	%D%/utf8.c \
	%D%/whose.c %D%/whose.h
