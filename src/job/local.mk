libattnscope_a_SOURCES += \
	%D%/blame.c %D%/blame.h \
	%D%/crew.c %D%/crew.h \
	%D%/far.c %D%/far.h \
	%D%/foundry.c %D%/foundry.h \
	%D%/gpu_lock.c %D%/gpu_lock.h \
	%D%/inputs.c %D%/inputs.h \
	%D%/job.c %D%/job.h \
	%D%/judging.c %D%/judging.h \
	%D%/lateness.c %D%/lateness.h \
	%D%/nodes.c %D%/nodes_text.c %D%/nodes.h %D%/serve_rank.c \
	%D%/peer.c %D%/peer.h \
	%D%/proc.c %D%/proc.h \
	%D%/request.c %D%/request.h \
	%D%/remote.c %D%/remote.h %D%/remote_ask.c %D%/remote_ask.h \
	%D%/serve.h \
	%D%/serve_remote.c \
	%D%/serve_check.c %D%/serve_check.h \
	%D%/serve_code.c %D%/serve_code.h \
	%D%/serve_extra.c %D%/serve_extra.h \
	%D%/serve_judge.c \
	%D%/serve_listing.c %D%/serve_listing.h \
	%D%/launch.c %D%/launch.h %D%/serve_launch.c \
	%D%/serve_share.c %D%/serve_share.h \
	%D%/serve_time.c %D%/serve_time.h \
	%D%/state.c %D%/state.h \
	%D%/super.c %D%/super.h \
	%D%/wire.c %D%/wire.h
