libattnscope_a_SOURCES += \
	%D%/dtype.c \
	%D%/dtype.h \
	%D%/input.c \
	%D%/input.h \
	%D%/npy.c \
	%D%/npy.h \
	%D%/pages.c \
	%D%/pages.h \
	%D%/problem.c \
	%D%/shape.c \
	%D%/shape.h \
	%D%/tensor_file.c \
	%D%/tensor_file.h \
	%D%/tensors.c
