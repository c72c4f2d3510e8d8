# Tests report TAP. Unit tests and fuzz targets are programs, the rest are shell scripts; all find
# the programs and the sources through the environment below.
#
# What runs for half a minute begins first, so that the others fill the lanes beside it (tools/test-times shows how long
# each takes): scripts, then these programs.
long_run_tests =
include %D%/faults/local.mk
include %D%/unit/local.mk
include %D%/fuzz/local.mk
include %D%/tui/local.mk
include %D%/cli/local.mk
include %D%/fakecuda/local.mk
include %D%/cheats/local.mk
include %D%/oom/local.mk
include %D%/sim/local.mk
include %D%/gpu/local.mk

# python3 of the PATH may be a script that looks for the real one at each start, which takes ten times as long: here
# it is that one. (Where there is none, none.) What packages have run at each start (.pth) takes three times as long as the
# rest of it, so it is not: packages are found without.
%D%/bin/python3:
	$(AM_V_GEN)$(MKDIR_P) $(@D) && { real=`python3 -c 'import sys; print(sys.executable)' 2>/dev/null` && test -x "$$real" && \
	  packages=`python3 -c 'import site; print(":".join(site.getsitepackages()))'` && \
	  printf '#!/bin/sh\nPYTHONPATH="$${PYTHONPATH:+$$PYTHONPATH:}%s" exec "%s" -S "$$@"\n' "$$packages" "$$real" > $@.tmp && \
	  chmod +x $@.tmp && mv $@.tmp $@ || :; }
check_DATA += %D%/bin/python3
CLEANFILES += %D%/bin/python3

TEST_EXTENSIONS = .t .sh
T_LOG_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
SH_LOG_DRIVER = $(T_LOG_DRIVER)
# A test that wants a home makes one. The user's own would lend it kernels, results and tuned parameters that another
# machine has not; in /dev/null nothing is found and nothing can be left.
AM_TESTS_ENVIRONMENT = \
	PATH='$(abs_top_builddir)/%D%/bin':"$$PATH"; export PATH; \
	ATTNSCOPE='$(abs_top_builddir)/attnscope' \
	ATTNSCOPE_WORKER='$(abs_top_builddir)/attnscope-worker' \
	ATTNSCOPE_SRCDIR='$(abs_top_srcdir)' ATTNSCOPE_BUILDDIR='$(abs_top_builddir)' \
	ATTNSCOPE_FAKECUDA='$(abs_top_builddir)/%D%/fakecuda' \
	ATTNSCOPE_GPU_LOCK=off ATTNSCOPE_COMPILE=off LC_ALL=C.UTF-8 TERM=xterm-256color TZ=UTC; \
	HOME=/dev/null; export HOME; unset XDG_CONFIG_HOME XDG_DATA_HOME XDG_STATE_HOME XDG_CACHE_HOME; \
	unset NO_COLOR CLICOLOR_FORCE SSH_TTY ATTNSCOPE_CPU ATTNSCOPE_LIBCUDA ATTNSCOPE_LIBNVRTC ATTNSCOPE_NVCC ATTNSCOPE_CLANG \
	  ATTNSCOPE_LIBCUBLAS ATTNSCOPE_LIBCUDNN ATTNSCOPE_LIBCUPTI ATTNSCOPE_PYTHON; \
	export ATTNSCOPE ATTNSCOPE_WORKER ATTNSCOPE_SRCDIR ATTNSCOPE_BUILDDIR ATTNSCOPE_FAKECUDA ATTNSCOPE_GPU_LOCK ATTNSCOPE_COMPILE LC_ALL TERM TZ;

TESTS += $(long_run_tests)
check_LIBRARIES += libfuzzmain.a
libfuzzmain_a_SOURCES = %D%/fuzz/fuzz_main.c
check_PROGRAMS += $(fuzz_tests)

if HAVE_CUNIT
check_LIBRARIES += libtap.a
libtap_a_SOURCES = %D%/unit/tap.c %D%/unit/tap.h
libtap_a_CPPFLAGS = $(AM_CPPFLAGS) $(CUNIT_CFLAGS)
check_PROGRAMS += $(unit_tests)
TESTS += $(unit_tests)
endif

# Everything a test program may need; the linker takes what is used.
LDADD = libtap.a $(core_libs) $(CUNIT_LIBS)

TESTS += $(fuzz_tests) $(shell_tests)
shell_tests += %D%/man.sh %D%/layering.sh %D%/ptxas_fresh.sh %D%/ptx_fresh.sh %D%/same_code.sh %D%/gpu_proofs.sh
EXTRA_DIST += $(long_run_tests) $(shell_tests) %D%/cppcheck.txt
