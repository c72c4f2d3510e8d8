# Installed for libraries of the user's own: attnscope-kernel(5).
pkginclude_HEADERS = %D%/attn_args.h
libattnscope_a_SOURCES += \
	%D%/attn_args.h \
	%D%/blob.c \
	%D%/blob.h \
	%D%/code.c \
	%D%/code.h \
	%D%/desc_check.c %D%/desc_check.h \
	%D%/desc_parse.c \
	%D%/desc_parse.h \
	%D%/desc_smem.c %D%/desc_smem.h \
	%D%/desc_text.c %D%/desc_text.h \
	%D%/descriptor.c %D%/desc_hash.c  \
	%D%/descriptor.h \
	%D%/kernel_whose.c %D%/kernel_whose.h \
	%D%/lex.c \
	%D%/lex.h \
	%D%/ptxas.c \
	%D%/rename.c %D%/moved.c \
	%D%/rename.h %D%/moved.h \
	%D%/registry.c \
	%D%/registry.h \
	%D%/terms.c
