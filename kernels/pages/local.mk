# What fills the pages of K and V on a GPU. As PTX that every driver since CUDA 10 compiles: nothing in it is newer.
blob_files += %D%/pages.ptx
EXTRA_DIST += %D%/pages.cu
# The first line says of which text it is: tests/cli/pages.sh compares.
update-pages:
	cd $(srcdir)/%D% && '$(NVCC)' -ptx -arch=compute_75 -std=c++17 -o pages.tmp pages.cu && \
	{ echo "// pages.cu `cksum < pages.cu`" && sed 's,^\.version .*,.version 6.4,' pages.tmp; } > pages.ptx && rm -f pages.tmp
