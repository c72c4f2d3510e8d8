# The verbs, in the order in which help has them; the lessons add theirs.
verbs = run check compare bench sweep profile sanitize debug plan tune calibrate explain edit kernel source occupancy why roofline \
	timeline ring kernels device devices doctor set show reset results export record open merge report help \
	apropos alias unalias host unhost watch save source_file history log shell completions complete_line quit
verb_table.h: %D%/local.mk
	$(AM_V_GEN){ printf '%s\n' '#define VERBS_TABLE(X) \'; \
	for n in $(verbs); do printf '    X(%s) %s\n' $$n '\'; done; echo; } > $@.tmp && mv $@.tmp $@
BUILT_SOURCES += verb_table.h
CLEANFILES += verb_table.h

libattnscope_a_SOURCES += \
	%D%/desk/cmd_alias.c \
	%D%/help/apropos.c \
	%D%/ask/axis.c %D%/ask/axis.h %D%/ask/automatic.c %D%/ask/automatic.h %D%/ask/loads.c %D%/ask/loads.h %D%/verbs/tune_measure.c %D%/verbs/tune_measure.h %D%/verbs/tune_values.c %D%/verbs/tune_values.h \
	%D%/ask/columns.c %D%/ask/columns.h %D%/ask/predicted.c %D%/ask/predicted.h \
	%D%/ask/gather.c %D%/ask/gather.h %D%/verbs/cmd_calibrate.c \
	%D%/show/chosen.c %D%/show/chosen.h %D%/show/owner.c %D%/show/owner.h \
	%D%/show/predicted_words.c %D%/show/predicted_words.h \
	%D%/ask/suite.c %D%/ask/suite.h %D%/verbs/bench_table.c %D%/verbs/bench_table.h %D%/verbs/cmd_bench.c \
	%D%/verbs/cmd_compare.c \
	%D%/desk/cmd_completions.c \
	%D%/verbs/cmd_device.c \
	%D%/debug/charts.c %D%/debug/charts.h %D%/debug/cmd_debug.c %D%/debug/debugger.c %D%/debug/debugger.h \
	%D%/debug/picture.c %D%/debug/picture.h %D%/debug/words.c %D%/debug/words.h \
	%D%/verbs/cmd_doctor.c %D%/verbs/doctor_peak.c %D%/verbs/doctor_peak.h %D%/verbs/doctor_rows.c %D%/verbs/doctor_rows.h \
	%D%/edit/cmd_edit.c %D%/edit/follow.c %D%/edit/follow.h \
	%D%/edit/simulated.c %D%/edit/simulated.h \
	%D%/verbs/cmd_kernel.c \
	%D%/line/editor.c %D%/line/editor.h \
	%D%/verbs/cmd_explain.c \
	%D%/desk/cmd_export.c \
	%D%/desk/cmd_help.c \
	%D%/desk/cmd_history.c \
	%D%/desk/cmd_host.c %D%/hosts.c %D%/hosts.h \
	%D%/verbs/cmd_list.c \
	%D%/verbs/cmd_occupancy.c \
	%D%/verbs/cmd_plan.c \
	%D%/verbs/cmd_profile.c \
	%D%/desk/cmd_record.c \
	%D%/desk/cmd_report.c \
	%D%/desk/cmd_results.c \
	%D%/verbs/cmd_ring.c \
	%D%/verbs/cmd_roofline.c \
	%D%/verbs/cmd_run.c \
	%D%/verbs/cmd_sanitize.c \
	%D%/desk/cmd_script.c \
	%D%/desk/cmd_set.c \
	%D%/verbs/cmd_source.c \
	%D%/verbs/cmd_sweep.c \
	%D%/verbs/cmd_timeline.c \
	%D%/verbs/cmd_tune.c \
	%D%/desk/cmd_watch.c \
	%D%/may.c %D%/may.h \
	%D%/command.c %D%/call.c %D%/front.c %D%/table.c \
	%D%/ask/compare_rec.c %D%/ask/compare_rec.h \
	%D%/command.h %D%/front.h \
	%D%/help/complete.c \
	%D%/help/glossary.c \
	%D%/services.c %D%/services.h \
	%D%/help/help.c %D%/help/help.h \
	%D%/line/history.c \
	%D%/line/history.h \
	%D%/verbs/cmd_why.c \
	%D%/verbs/verbs.c %D%/verbs/verbs.h %D%/verbs/cmd_list.h %D%/verbs/cmd_run.h %D%/verbs/cmd_compare.h \
	%D%/rows.c %D%/rows.h \
	%D%/ask/keys.c %D%/ask/keys.h %D%/ask/set.c %D%/ask/set.h \
	%D%/line/config.c %D%/line/config.h \
	%D%/line/lex.c %D%/line/lex.h \
	%D%/ask/consent.c %D%/ask/consent.h \
	%D%/ask/estimate.c \
	%D%/ask/ceiling.c \
	%D%/ask/ceiling.h \
	%D%/ask/carrier.c %D%/ask/carrier.h %D%/ask/carrier_pairs.c %D%/ask/carrier_pairs.h %D%/ask/scaling.c %D%/ask/scaling.h %D%/ask/settle.c %D%/ask/settle.h \
	%D%/ask/estimate.h \
	%D%/ask/measure.c \
	%D%/ask/measure.h \
	%D%/output.c %D%/output.h \
	%D%/line/parse.c %D%/line/parse.h \
	%D%/ask/recorded.c %D%/ask/recorded.h \
	%D%/ask/recollect.c %D%/ask/recollect.h \
	%D%/show/sweep_where.c %D%/show/sweep_where.h %D%/show/sweep_words.c %D%/show/sweep_words.h \
	%D%/show/groups.c %D%/show/groups.h \
	%D%/show/profile.c \
	%D%/show/profile.h \
	%D%/ask/request.c %D%/ask/request.h %D%/ask/plan_here.c %D%/ask/plan_here.h \
	%D%/ask/plan_row.c %D%/ask/plan_row.h %D%/ask/request_text.c \
	%D%/show/costs.c %D%/show/costs.h \
	%D%/show/effect.c %D%/show/effect.h \
	%D%/show/hazard_words.c %D%/show/hazard_words.h \
	%D%/show/peaks.c \
	%D%/show/peaks.h \
	%D%/show/roof.c \
	%D%/show/roof.h \
	%D%/settings.c %D%/settings.h \
	%D%/session.c \
	%D%/session.h \
	%D%/line/shell.c %D%/line/shell.h \
	%D%/show/simulated.c %D%/show/simulated.h \
	%D%/show/looked.c %D%/show/looked.h \
	%D%/show/block_steps.c %D%/show/block_steps.h \
	%D%/show/roles.c %D%/show/roles.h \
	%D%/show/source.c %D%/show/alone.c \
	%D%/show/source.h %D%/show/alone.h \
	%D%/ask/simulate.c %D%/ask/simulate.h \
	%D%/ask/lanes.c %D%/ask/lanes.h %D%/ask/sweep_walk.c %D%/ask/sweep_walk.h \
	%D%/ask/sweep.c \
	%D%/ask/shards.c %D%/ask/shards.h %D%/desk/cmd_merge.c \
	%D%/ask/sweep.h \
	%D%/ask/sweep_draw.c \
	%D%/show/timeline.c \
	%D%/show/timeline.h \
	%D%/line/write.c
