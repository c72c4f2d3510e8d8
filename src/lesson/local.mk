# lesson: parser, runner, progress, the verbs lessons, lesson and trace
libattnscope_a_SOURCES += %D%/lesson.h %D%/internal.h
libattnscope_a_SOURCES += %D%/parse.c %D%/text.c %D%/question.c
libattnscope_a_SOURCES += %D%/directive.h %D%/directive.c %D%/line.c %D%/line_command.c
libattnscope_a_SOURCES += %D%/values.c %D%/order.c %D%/where.c %D%/recorded.c
libattnscope_a_SOURCES += %D%/run.h %D%/run.c %D%/reveal.c %D%/carry.c %D%/answer.c
libattnscope_a_SOURCES += %D%/catalog.c %D%/verbs.h %D%/verbs.c %D%/notes.c
libattnscope_a_SOURCES += %D%/step_figure.c %D%/words.c
libattnscope_a_SOURCES += %D%/trace.h %D%/trace.c %D%/trace_split.c %D%/trace_sum.c %D%/trace_warp.c %D%/trace_banks.c
libattnscope_a_SOURCES += %D%/trace_pipe.c %D%/trace_calls.c
libattnscope_a_SOURCES += %D%/progress.h %D%/progress.c
# what `lesson ACTION` does, for classes and authors
libattnscope_a_SOURCES += %D%/action.h %D%/action.c %D%/scores.h %D%/scores.c
libattnscope_a_SOURCES += %D%/tsv.h %D%/tsv.c %D%/route.h %D%/route.c %D%/prepare.c
libattnscope_a_SOURCES += %D%/pack.h %D%/pack.c %D%/pack_write.c %D%/grade.c
libattnscope_a_SOURCES += %D%/walk.h %D%/walk.c %D%/author_new.c %D%/author_check.c
libattnscope_a_SOURCES += %D%/check.h %D%/check.c %D%/check_gate.c %D%/check_text.c
# the ledger of what the reports claim
libattnscope_a_SOURCES += %D%/claims.h %D%/claims.c %D%/judge.c %D%/audit.c
