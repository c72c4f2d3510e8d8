# Faults planted in the ladder's kernels, which simulation must find.
shell_tests += %D%/faults/faults.sh
long_tests += %D%/faults/all.sh
# Not the folder: that of the build has the test's log, which would be no news in the tarball.
EXTRA_DIST += %D%/faults/all.sh %D%/faults/faults.py %D%/faults/faults.tsv $(srcdir)/%D%/faults/*.patch
long_tests += %D%/compilers.sh
EXTRA_DIST += %D%/compilers.sh
