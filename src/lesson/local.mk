# lesson: parser, runner, progress, the verbs lessons, lesson and trace
libattnscope_a_SOURCES += %D%/lesson.h %D%/verbs.h %D%/verbs.c
libattnscope_a_SOURCES += %D%/text/parsed.h %D%/text/parse.c %D%/text/directive.h %D%/text/directive.c
libattnscope_a_SOURCES += %D%/text/values.h %D%/text/values.c %D%/text/where.h %D%/text/where.c
libattnscope_a_SOURCES += %D%/text/question.h %D%/text/question.c %D%/text/wrap.h %D%/text/wrap.c
libattnscope_a_SOURCES += %D%/text/speech.h %D%/text/speech.c %D%/text/catalog.c %D%/text/tsv.h %D%/text/tsv.c
libattnscope_a_SOURCES += %D%/take/run.h %D%/take/run.c %D%/take/progress.h %D%/take/progress.c
libattnscope_a_SOURCES += %D%/take/recorded.h %D%/take/recorded.c %D%/take/step_figure.h %D%/take/step_figure.c
libattnscope_a_SOURCES += %D%/take/words.h %D%/take/words.c
libattnscope_a_SOURCES += %D%/trace/trace.c %D%/trace/trace_query.h %D%/trace/trace_query.c %D%/trace/trace_softmax.c
libattnscope_a_SOURCES += %D%/trace/trace_split.c %D%/trace/trace_sum.c %D%/trace/trace_look.c %D%/trace/trace_pipe.c %D%/trace/trace_calls.c
# what `lesson ACTION` does, for classes and authors
libattnscope_a_SOURCES += %D%/action.h %D%/action.c %D%/classroom/scores.h %D%/classroom/scores.c
libattnscope_a_SOURCES += %D%/classroom/notes.c %D%/classroom/route.h %D%/classroom/route.c %D%/classroom/prepare.c
libattnscope_a_SOURCES += %D%/classroom/pack.h %D%/classroom/pack.c %D%/classroom/pack_write.c %D%/classroom/grade.c
libattnscope_a_SOURCES += %D%/author/walk.h %D%/author/walk.c %D%/author/author_new.c %D%/author/author_add.c %D%/author/author_check.c
libattnscope_a_SOURCES += %D%/author/check.h %D%/author/check.c %D%/author/check_gate.c %D%/author/check_text.c %D%/author/check_page.c
# the ledger of what the reports claim
libattnscope_a_SOURCES += %D%/audit/claims.h %D%/audit/claims.c %D%/audit/judge.c %D%/audit/audit.c
