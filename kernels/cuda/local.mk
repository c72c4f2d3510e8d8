# CUDA kernels. The headers' order here is the order in which the source hash takes them.
cuda_sources = %D%/attn.cuh %D%/async.cuh %D%/mma.cuh %D%/hopper.cuh %D%/wmma.cuh %D%/fused.cuh %D%/naive.cu %D%/row_full.cu %D%/row_atomic.cu %D%/row_online.cu %D%/row_tile.cu \
	%D%/fa1_2022.cu %D%/qtile_seq.cu %D%/qtile_tpq.cu %D%/qtile_patch.cu %D%/fa2_keys.cu %D%/fa2.cu %D%/splitkv.cu \
	%D%/splitkv_atomic.cu %D%/fa_scalar.cu %D%/wmma_serial.cu %D%/wmma_shape.cu %D%/wmma_stages.cu \
	%D%/wmma_split.cu %D%/wmma_depth.cu \
	%D%/fused_scalar.cu %D%/fused_wmma_qk.cu %D%/fused_wmma_pv.cu %D%/fused_warp_softmax.cu %D%/fused_dyn_smem.cu \
	%D%/fused_vector_io.cu %D%/fused_cp_async.cu %D%/fused_warp_spec.cu \
	%D%/fa2_mma_plain.cu %D%/fa2_mma_swizzle.cu \
	%D%/fa2_mma_async.cu %D%/fa2_mma_rows.cu %D%/fa2_mma_lazy.cu %D%/fa2_mma_wide.cu %D%/fa2_mma.cu \
	%D%/fa3_wgmma.cu %D%/fa3_warpspec.cu %D%/fa3_pingpong.cu %D%/fa3_overlap.cu %D%/fa3_persistent.cu %D%/decode_splitkv.cu %D%/half2_tile.cu %D%/cublas.cu
blob_files += $(cuda_sources) %D%/ptxas.tsv
EXTRA_DIST += tools/update-ptxas tools/descriptor.py tests/gpu/try_kernels.py
