# measure: reference, error metrics, timing rules, statistics
libattnscope_a_SOURCES += %D%/row.h %D%/run_fields.h %D%/row.c %D%/origin.h %D%/origin.c
libattnscope_a_SOURCES += %D%/options.h %D%/options.c
libattnscope_a_SOURCES += %D%/stats.h %D%/stats.c
libattnscope_a_SOURCES += %D%/load.h %D%/load.c %D%/noise.h %D%/noise.c
libattnscope_a_SOURCES += %D%/timing.h %D%/timing.c
libattnscope_a_SOURCES += %D%/attend.h %D%/attend.inc.h %D%/attend.c
libattnscope_a_SOURCES += %D%/reference.h %D%/reference.c %D%/sample.c
libattnscope_a_SOURCES += %D%/diagnose.h %D%/diagnose.c %D%/diagnosis.c %D%/fault.c %D%/fault.h %D%/verify.h %D%/verify.c
