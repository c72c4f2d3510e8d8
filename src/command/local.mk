libattnscope_a_SOURCES += \
	%D%/verbs/alias.c \
	%D%/help/apropos.c \
	%D%/ask/axis.c \
	%D%/verbs/cmd_compare.c \
	%D%/verbs/cmd_completions.c \
	%D%/verbs/cmd_device.c \
	%D%/verbs/cmd_doctor.c \
	%D%/verbs/cmd_edit.c \
	%D%/show/edit.h \
	%D%/show/edit_copy.c \
	%D%/show/edit_show.c \
	%D%/verbs/cmd_kernel.c %D%/show/kernel_add.c \
	%D%/line/editor.c \
	%D%/verbs/cmd_explain.c \
	%D%/verbs/cmd_export.c \
	%D%/verbs/cmd_help.c \
	%D%/verbs/cmd_history.c \
	%D%/verbs/cmd_list.c \
	%D%/verbs/cmd_occupancy.c \
	%D%/verbs/cmd_plan.c \
	%D%/verbs/cmd_profile.c \
	%D%/verbs/cmd_record.c \
	%D%/verbs/cmd_report.c \
	%D%/verbs/cmd_results.c \
	%D%/verbs/cmd_roofline.c \
	%D%/verbs/cmd_run.c \
	%D%/verbs/cmd_script.c \
	%D%/verbs/cmd_set.c \
	%D%/verbs/cmd_source.c \
	%D%/verbs/cmd_sweep.c \
	%D%/verbs/cmd_timeline.c \
	%D%/verbs/cmd_watch.c \
	%D%/command.c \
	%D%/ask/compare_rec.c \
	%D%/command.h %D%/front.h \
	%D%/line/complete.c %D%/line/complete_words.c %D%/line/complete.h \
	%D%/help/glossary.c \
	%D%/services.c %D%/services.h \
	%D%/help/help.c \
	%D%/line/history.c \
	%D%/line/history.h \
	%D%/internal.h \
	%D%/rows.c %D%/rows.h \
	%D%/ask/keys.c \
	%D%/line/lex.c \
	%D%/ask/measure.c \
	%D%/ask/measure.h \
	%D%/ask/options.c \
	%D%/output.c \
	%D%/line/parse.c \
	%D%/ask/recorded.c \
	%D%/show/profile.c \
	%D%/show/profile.h \
	%D%/ask/request.c %D%/ask/request_text.c \
	%D%/show/roof.c \
	%D%/show/roof.h \
	%D%/settings.c %D%/settings.h \
	%D%/session.c \
	%D%/session.h \
	%D%/line/shell.c \
	%D%/show/source.c \
	%D%/show/source.h \
	%D%/ask/sweep.c \
	%D%/ask/sweep.h \
	%D%/ask/sweep_draw.c \
	%D%/show/timeline.c \
	%D%/show/timeline.h \
	%D%/line/write.c
