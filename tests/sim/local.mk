# Faults planted in the ladder's kernels, which simulation must find.
shell_tests += %D%/faults/faults.sh
long_tests += %D%/faults/all.sh
EXTRA_DIST += %D%/faults
long_tests += %D%/compilers.sh
EXTRA_DIST += %D%/compilers.sh
