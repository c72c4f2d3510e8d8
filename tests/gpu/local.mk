# What the checks on a real GPU need; `make check` itself runs nothing here.
noinst_PROGRAMS += onekernel phases cores
onekernel_SOURCES = %D%/onekernel.c
onekernel_LDADD = $(core_libs)
phases_SOURCES = %D%/phases.c
phases_LDADD = $(core_libs)
cores_SOURCES = %D%/cores.c
cores_LDADD = $(core_libs)
EXTRA_DIST += tools/pack-gpu %D%/run %D%/stages.py %D%/course.py %D%/try_kernels.py %D%/profile %D%/counters %D%/faults %D%/own %D%/cheats \
	%D%/tables %D%/auto %D%/limit %D%/variants %D%/hour %D%/hour.steps %D%/cpu %D%/fresh %D%/paged %D%/ring %D%/errors %D%/errors.tsv %D%/sanitized %D%/sanitized.tsv %D%/owed %D%/owed.tsv %D%/steps %D%/tensor_sums %D%/tensor_sums.cu %D%/drawn.py %D%/table_list.py %D%/table_rows.py \
	%D%/own_files/eng.cu %D%/own_files/inc/mine.h %D%/own_files/libmine.cu
