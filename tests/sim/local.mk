# Faults planted in the ladder's kernels, which simulation must find.
long_run_tests += %D%/faults/faults.sh
long_tests += %D%/faults/all.sh
# Not the folder: that of the build has the test's log, which would be no news in the tarball.
EXTRA_DIST += %D%/faults/all.sh %D%/faults/faults.py %D%/faults/faults.tsv %D%/faults/found.tsv $(srcdir)/%D%/faults/*.patch
# Machines without nvcc, and without any compiler.
shell_tests += %D%/bare.sh
long_tests += %D%/compilers.sh
EXTRA_DIST += %D%/compilers.sh

# How fast the simulator is: every kernel, and from the command to the answer. SIM_SPEED picks, see speed.c.
check_PROGRAMS += %D%/speed
%C%_speed_SOURCES = %D%/speed.c %D%/trial.c %D%/trial.h
%C%_speed_LDADD = $(core_libs)
.PHONY: sim-speed
sim-speed: %D%/speed attnscope attnscope-worker
	ATTNSCOPE='$(abs_builddir)/attnscope' ATTNSCOPE_WORKER='$(abs_builddir)/attnscope-worker' %D%/speed

# Counters against what the machine code of the same PTX does.
unit_tests += %D%/test_counters.t
%C%_test_counters_t_SOURCES = %D%/test_counters.c %D%/trial.c %D%/trial.h
%C%_test_counters_t_CPPFLAGS = $(AM_CPPFLAGS) $(CUNIT_CFLAGS) -I$(srcdir)/tests/unit
EXTRA_DIST += %D%/counters.tsv %D%/counters_90a.tsv
# COUNTERS: the folder that `tests/gpu/counters collect` wrote on a machine with a GPU; without it the GPU's figures stay.
.PHONY: update-counters
update-counters: %D%/test_counters.t
	$(srcdir)/tests/gpu/counters $(if $(COUNTERS),golden '$(COUNTERS)',again) %D%/test_counters.t

# A simulator's process that goes wrong.
%D%/caged.so: %D%/caged.c
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(CC) $(DEFS) $(CPPFLAGS) -D_GNU_SOURCE -std=gnu11 -Wall -Wextra -O1 -fPIC -fvisibility=hidden -shared \
	  -o $@ $(srcdir)/%D%/caged.c
check_DATA += %D%/caged.so
CLEANFILES += %D%/caged.so
EXTRA_DIST += %D%/caged.c
