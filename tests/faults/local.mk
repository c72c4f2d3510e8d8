# A thousand faults between a front end and a kernel, on the fake driver.
unit_tests += %D%/test_faults.t
%C%_test_faults_t_SOURCES = %D%/test_faults.c %D%/faults.h %D%/kinds.c %D%/proxy.c
%C%_test_faults_t_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/%D% -I$(srcdir)/tests/unit
long_tests += %D%/faults_long.sh
EXTRA_DIST += %D%/faults_long.sh
