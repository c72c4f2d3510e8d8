libattnscope_a_SOURCES += \
	%D%/cache.h \
	%D%/hazard.h \
	%D%/pattern.h \
	%D%/ptx.h \
	%D%/tensor.h
libattnscope_a_SOURCES += %D%/sim.h
