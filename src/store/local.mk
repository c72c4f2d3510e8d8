libattnscope_a_SOURCES += %D%/store.h %D%/store.c %D%/kept.h %D%/kept.c
libattnscope_a_SOURCES += %D%/recording.h %D%/recording.c %D%/recorder.c %D%/seal.h %D%/seal.c %D%/library.c %D%/recall.c %D%/recall.h
libattnscope_a_SOURCES += %D%/ceilings.h %D%/ceilings.c
libattnscope_a_SOURCES += %D%/calibrations.h %D%/calibrations.c
libattnscope_a_SOURCES += %D%/tuned.h %D%/tuned.c
libattnscope_a_SOURCES += %D%/merge.h %D%/merge.c %D%/own.h %D%/own.c %D%/mark.h %D%/mark.c
