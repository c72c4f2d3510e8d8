# A CUDA driver over host memory, in three editions, a cuBLAS, an old cuDNN, a CUPTI and an NCCL. Plain shared objects, loaded with dlopen.
fake_drivers = %D%/fakecublas.so %D%/fakecudnn8.so %D%/fakecupti.so %D%/fakenccl.so %D%/fakecuda.so %D%/fakecuda_old.so %D%/fakecuda_broken.so
fake_sources = %D%/fakecuda.c %D%/fakecuda.h %D%/faults.c %D%/faults.h \
	%D%/apart.c %D%/apart.h \
	%D%/attend.c %D%/attend.h %D%/elements.h %D%/fakecublas.c %D%/fakecudnn8.c %D%/fakecupti.c %D%/fakenccl.c
fake_compile = $(MKDIR_P) $(@D) && $(CC) $(DEFS) $(AM_CPPFLAGS) $(CPPFLAGS) -std=gnu11 -Wall -Wextra \
	$(CFLAGS) -fPIC -fvisibility=hidden -shared
%D%/fakecuda.so: $(fake_sources)
	$(AM_V_CCLD)$(fake_compile) -o $@ $(srcdir)/%D%/fakecuda.c $(srcdir)/%D%/apart.c $(srcdir)/%D%/attend.c $(srcdir)/%D%/faults.c -lm
%D%/fakecublas.so: $(fake_sources)
	$(AM_V_CCLD)$(fake_compile) -o $@ $(srcdir)/%D%/fakecublas.c -lm
%D%/fakecudnn8.so: $(fake_sources)
	$(AM_V_CCLD)$(fake_compile) -o $@ $(srcdir)/%D%/fakecudnn8.c
%D%/fakecupti.so: $(fake_sources)
	$(AM_V_CCLD)$(fake_compile) -I$(srcdir)/src -o $@ $(srcdir)/%D%/fakecupti.c $(srcdir)/%D%/faults.c -lm
%D%/fakenccl.so: $(fake_sources)
	$(AM_V_CCLD)$(fake_compile) -o $@ $(srcdir)/%D%/fakenccl.c
%D%/fakecuda_old.so: $(fake_sources)
	$(AM_V_CCLD)$(fake_compile) -DFAKE_OLD -o $@ $(srcdir)/%D%/fakecuda.c $(srcdir)/%D%/apart.c $(srcdir)/%D%/attend.c $(srcdir)/%D%/faults.c -lm
%D%/fakecuda_broken.so: $(fake_sources)
	$(AM_V_CCLD)$(fake_compile) -DFAKE_BROKEN -o $@ $(srcdir)/%D%/fakecuda.c $(srcdir)/%D%/apart.c $(srcdir)/%D%/attend.c $(srcdir)/%D%/faults.c -lm
# A user's library, for tests/cli/kernel.sh.
%D%/attnlib.so: %D%/attnlib.c
	$(AM_V_CCLD)$(fake_compile) -o $@ $(srcdir)/%D%/attnlib.c -lm
check_DATA = $(fake_drivers) %D%/attnlib.so
CLEANFILES += $(fake_drivers) %D%/attnlib.so
EXTRA_DIST += $(fake_sources) %D%/attnlib.c
