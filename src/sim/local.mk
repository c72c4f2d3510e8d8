# What PTX text becomes before it is lowered.
libattnscope_a_SOURCES += \
	%D%/flow.h \
	%D%/place.h

libattnscope_a_SOURCES += \
	%D%/cache.h \
	%D%/hazard.h \
	%D%/pattern.c %D%/pattern.h \
	%D%/ptx.h \
	%D%/tensor.h
libattnscope_a_SOURCES += %D%/sim.h
