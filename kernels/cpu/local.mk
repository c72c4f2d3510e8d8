# CPU kernels. They need no flags of their own: the files with vector code set their instruction set
# and -O3 by pragma, so that no other function of the program can end up with such instructions.
# A file for another architecture compiles to nothing. Headers come first: the source hash of every
# kernel covers them, in this order.
cpu_kernel_headers = %D%/attn_cpu.h %D%/simd_vec.h %D%/simd_math.h %D%/simd_tiled.h %D%/simd_pairs.h %D%/simd_amx.h %D%/simd_decode.h \
	%D%/simd_decode_pairs.h %D%/parts.h
cpu_kernel_sources = %D%/naive.c %D%/row_online.c %D%/fa1_2022.c %D%/qtile_seq.c %D%/fa2.c \
	%D%/splitkv.c %D%/cpu_tiled.c %D%/decode_splitkv.c
libattnscope_a_SOURCES += $(cpu_kernel_headers) $(cpu_kernel_sources) \
	%D%/simd_avx512.c %D%/simd_avx2.c %D%/simd_neon.c %D%/simd_generic.c
# What a C kernel of the user's is compiled with: programs.c has the same list.
blob_files += $(cpu_kernel_headers) $(cpu_kernel_sources) src/backend/cpu/cpu_kernel.h \
	src/backend/cpu/cpu_simd.h src/kernel/attn_args.h src/spec/dtype.h src/base/status.h
