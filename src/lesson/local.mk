# lesson: parser, runner, progress, the verbs lessons, lesson and trace
libattnscope_a_SOURCES += %D%/lesson.h %D%/internal.h
libattnscope_a_SOURCES += %D%/parse.c %D%/directive.c %D%/text.c
libattnscope_a_SOURCES += %D%/values.c %D%/run.h %D%/run.c %D%/answer.c
libattnscope_a_SOURCES += %D%/catalog.c %D%/verbs.c
libattnscope_a_SOURCES += %D%/trace.h %D%/trace.c %D%/trace_split.c %D%/trace_sum.c
libattnscope_a_SOURCES += %D%/progress.h %D%/progress.c
