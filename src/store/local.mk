libattnscope_a_SOURCES += %D%/store.h %D%/store.c %D%/store_open.c %D%/store_state.h
libattnscope_a_SOURCES += %D%/recording.h %D%/recording.c %D%/recorder.c %D%/library.c
