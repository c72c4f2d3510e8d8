# How GPUs of a ring combine what they have found; its PTX travels along for the simulator.
blob_files += %D%/merge.ptx
EXTRA_DIST += %D%/merge.cu
# The first line says of which text it is: tests/cli/ring.sh compares.
update-ring:
	cd $(srcdir)/%D% && '$(NVCC)' -ptx -arch=compute_80 -lineinfo -std=c++17 -o merge.tmp merge.cu && \
	{ echo "// merge.cu `cksum < merge.cu`" && sed 's,\(\.file.*"\).*/,\1,' merge.tmp; } > merge.ptx && rm -f merge.tmp
