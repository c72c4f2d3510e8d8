libattnscope_a_SOURCES += \
	%D%/gpu_lock.c %D%/gpu_lock.h \
	%D%/job.c %D%/job.h \
	%D%/peer.c %D%/peer.h \
	%D%/proc.c %D%/proc.h \
	%D%/request.c %D%/request.h \
	%D%/serve.h \
	%D%/serve_check.c \
	%D%/serve_code.c \
	%D%/serve_extra.c \
	%D%/serve_judge.c \
	%D%/serve_listing.c \
	%D%/serve_launch.c %D%/serve_launch.h \
	%D%/serve_time.c \
	%D%/super.c %D%/super.h %D%/super_hear.c %D%/super_judge.c \
	%D%/super_state.h \
	%D%/wire.c %D%/wire.h
