# Installed for libraries of the user's own: attnscope-kernel(5).
pkginclude_HEADERS = %D%/attn_args.h
libattnscope_a_SOURCES += \
	%D%/attn_args.h \
	%D%/blob.c \
	%D%/blob.h \
	%D%/code.c \
	%D%/code.h \
	%D%/desc_check.c \
	%D%/desc_code.c \
	%D%/desc_param.c \
	%D%/desc_parse.c \
	%D%/desc_parse.h \
	%D%/desc_parser.h \
	%D%/desc_smem.c \
	%D%/desc_text.c \
	%D%/descriptor.c %D%/desc_hash.c \
	%D%/descriptor.h \
	%D%/lex.c \
	%D%/lex.h \
	%D%/ptxas.c \
	%D%/rename.c \
	%D%/rename.h \
	%D%/registry.c \
	%D%/registry.h \
	%D%/registry_python.c \
	%D%/registry_state.h \
	%D%/registry_user.c \
	%D%/terms.c
