# lesson: parser, runner, progress, the verbs lessons, lesson and trace
libattnscope_a_SOURCES += %D%/lesson.h %D%/internal.h
libattnscope_a_SOURCES += %D%/text/parse.c %D%/text/text.c %D%/text/question.c
libattnscope_a_SOURCES += %D%/text/directive.h %D%/text/directive.c %D%/text/line.c %D%/text/line_command.c
libattnscope_a_SOURCES += %D%/take/values.c %D%/text/order.c %D%/text/where.c %D%/take/recorded.c
libattnscope_a_SOURCES += %D%/take/run.h %D%/take/run.c %D%/take/reveal.c %D%/take/carry.c %D%/take/answer.c
libattnscope_a_SOURCES += %D%/text/catalog.c %D%/verbs.h %D%/verbs.c %D%/classroom/notes.c
libattnscope_a_SOURCES += %D%/take/step_figure.c %D%/take/words.c
libattnscope_a_SOURCES += %D%/trace/trace.h %D%/trace/trace.c %D%/trace/trace_split.c %D%/trace/trace_sum.c %D%/trace/trace_warp.c %D%/trace/trace_banks.c
libattnscope_a_SOURCES += %D%/trace/trace_pipe.c %D%/trace/trace_calls.c
libattnscope_a_SOURCES += %D%/take/progress.h %D%/take/progress.c
# what `lesson ACTION` does, for classes and authors
libattnscope_a_SOURCES += %D%/action.h %D%/action.c %D%/classroom/scores.h %D%/classroom/scores.c
libattnscope_a_SOURCES += %D%/audit/tsv.h %D%/audit/tsv.c %D%/classroom/route.h %D%/classroom/route.c %D%/classroom/prepare.c
libattnscope_a_SOURCES += %D%/classroom/pack.h %D%/classroom/pack.c %D%/classroom/pack_write.c %D%/classroom/grade.c
libattnscope_a_SOURCES += %D%/author/walk.h %D%/author/walk.c %D%/author/author_new.c %D%/author/author_check.c
libattnscope_a_SOURCES += %D%/author/check.h %D%/author/check.c %D%/author/check_gate.c %D%/author/check_text.c
# the ledger of what the reports claim
libattnscope_a_SOURCES += %D%/audit/claims.h %D%/audit/claims.c %D%/audit/judge.c %D%/audit/audit.c
