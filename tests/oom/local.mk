# Memory that runs out at every place where it is asked for.
%D%/oom.so: %D%/oom.c
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(CC) $(DEFS) $(CPPFLAGS) -D_GNU_SOURCE -std=gnu11 -Wall -Wextra -O1 -fPIC -fvisibility=hidden -shared \
	  -o $@ $(srcdir)/%D%/oom.c
check_DATA += %D%/oom.so
CLEANFILES += %D%/oom.so
long_run_tests += %D%/run.sh
long_tests += %D%/all.sh
EXTRA_DIST += %D%/oom.c %D%/loop.py %D%/all.sh
