# Kernels that cheat: each C file is a library. The runner says what it wants of them.
cheat_sources = \
	%D%/c/after_calls.c \
	%D%/c/ahead.c \
	%D%/c/background.c \
	%D%/c/blocked.c \
	%D%/c/by_content.c \
	%D%/c/by_pointer.c \
	%D%/c/by_shape.c \
	%D%/c/clock.c \
	%D%/c/denormals.c \
	%D%/c/environment.c \
	%D%/c/freed_memory.c \
	%D%/c/guard.c \
	%D%/c/guard_before.c \
	%D%/c/guard_far.c \
	%D%/c/honest.c \
	%D%/c/idle.c \
	%D%/c/input_check.c \
	%D%/c/input_timed.c \
	%D%/c/limit.c \
	%D%/c/low_precision.c \
	%D%/c/lse.c \
	%D%/c/lse_asked.c \
	%D%/c/lse_unasked.c \
	%D%/c/more_threads.c \
	%D%/c/nice.c \
	%D%/c/one_answer.c \
	%D%/c/one_seed.c \
	%D%/c/one_shape.c \
	%D%/c/pinned.c \
	%D%/c/pinned_others.c \
	%D%/c/poison.c \
	%D%/c/posix_timer.c \
	%D%/c/process.c \
	%D%/c/rounding.c \
	%D%/c/sampled_rows.c \
	%D%/c/seventh.c \
	%D%/c/signals.c \
	%D%/c/sleeper.c \
	%D%/c/timer.c \
	%D%/c/traps.c \
	%D%/c/waker.c \
	%D%/c/watcher.c
cheat_scripts = \
	%D%/py/cheat_after_calls.py \
	%D%/py/cheat_ahead.py \
	%D%/py/cheat_background.py \
	%D%/py/cheat_by_content.py \
	%D%/py/cheat_by_pointer.py \
	%D%/py/cheat_by_shape.py \
	%D%/py/cheat_clock.py \
	%D%/py/cheat_honest.py \
	%D%/py/cheat_inputs.py \
	%D%/py/cheat_lazy.py \
	%D%/py/cheat_one_shape.py \
	%D%/py/cheat_seventh.py
%D%/libraries.stamp: $(cheat_sources) %D%/c/attend.h
	$(AM_V_GEN)for c in $(cheat_sources); do \
	  $(fake_compile) -o $(@D)/`basename $$c .c`.so $(srcdir)/$$c -lm -lpthread || exit 1; done; touch $@
check_DATA += %D%/libraries.stamp
CLEANFILES += %D%/libraries.stamp %D%/*.so
long_run_tests += %D%/run.sh
# On a real GPU: tests/gpu/cheats compiles and tries them.
cheat_cuda = %D%/cu/attend.cuh %D%/cu/after_calls.cu %D%/cu/after_runs.cu %D%/cu/ahead.cu %D%/cu/background.cu %D%/cu/behind.cu %D%/cu/by_content.cu %D%/cu/by_pointer.cu %D%/cu/by_shape.cu %D%/cu/clock.cu %D%/cu/freed_memory.cu %D%/cu/guard.cu %D%/cu/honest.cu %D%/cu/input_check.cu %D%/cu/input_timed.cu %D%/cu/low_precision.cu %D%/cu/lse_unasked.cu %D%/cu/one_seed.cu %D%/cu/one_shape.cu %D%/cu/poison.cu %D%/cu/process.cu %D%/cu/sampled_rows.cu %D%/cu/second_stream.cu %D%/cu/seventh.cu %D%/cu/watcher.cu
EXTRA_DIST += $(cheat_sources) $(cheat_scripts) $(cheat_cuda) %D%/c/attend.h
