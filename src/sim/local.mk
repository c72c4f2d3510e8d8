libattnscope_a_SOURCES += \
	%D%/ptx.h
