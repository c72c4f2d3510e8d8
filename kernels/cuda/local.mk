# CUDA kernels. The headers' order here is the order in which the source hash takes them.
cuda_sources = %D%/attn.cuh %D%/async.cuh %D%/mma.cuh %D%/mma_parts.cuh %D%/hopper.cuh %D%/wmma.cuh %D%/fused.cuh %D%/cluster.cuh %D%/send.cuh %D%/parts.cuh %D%/short.cuh %D%/decode.cuh %D%/counted.cuh %D%/owned.cuh %D%/pages.cuh %D%/naive.cu %D%/row_full.cu %D%/row_atomic.cu %D%/row_online.cu %D%/row_tile.cu %D%/bigd_cluster.cu %D%/bigd_split.cu %D%/bigd_rows.cu %D%/bigd_unfused.cu %D%/bigd_mma.cu \
	%D%/fa1_2022.cu %D%/qtile_seq.cu %D%/qtile_tpq.cu %D%/qtile_patch.cu %D%/fa2_keys.cu %D%/fa2.cu %D%/splitkv.cu \
	%D%/splitkv_atomic.cu %D%/splitkv_cluster.cu %D%/splitkv_columns.cu %D%/splitkv_wgmma.cu %D%/fa_scalar.cu %D%/wmma_serial.cu %D%/wmma_shape.cu %D%/wmma_stages.cu \
	%D%/wmma_split.cu %D%/wmma_depth.cu \
	%D%/fused_scalar.cu %D%/fused_wmma_qk.cu %D%/fused_wmma_pv.cu %D%/fused_warp_softmax.cu %D%/fused_dyn_smem.cu \
	%D%/fused_vector_io.cu %D%/fused_cp_async.cu %D%/fused_warp_spec.cu \
	%D%/fa2_mma_plain.cu %D%/fa2_mma_swizzle.cu \
	%D%/fa2_mma_async.cu %D%/fa2_mma_rows.cu %D%/fa2_mma_lazy.cu %D%/fa2_mma_wide.cu %D%/fa2_mma.cu %D%/fa2_mma_short.cu \
	%D%/fa3_wgmma.cu %D%/fa3_warpspec.cu %D%/fa3_pingpong.cu %D%/fa3_overlap.cu %D%/fa3_persistent.cu %D%/fa3_streamk.cu %D%/decode_splitkv.cu %D%/decode_atomic.cu %D%/decode_paged.cu %D%/decode_cluster.cu %D%/decode_tma.cu %D%/half2_tile.cu %D%/cublas.cu
blob_files += $(cuda_sources) %D%/ptxas.tsv %D%/same.tsv
# What clang is given where neither NVRTC nor nvcc is.
blob_files += %D%/clang/clang_cuda.h %D%/clang/cuda_fp16.h %D%/clang/cuda_bf16.h %D%/clang/mma.h %D%/clang/cuda_pipeline.h \
	%D%/clang/assert.h %D%/clang/cuda_runtime.h %D%/clang/device_launch_parameters.h %D%/clang/math_constants.h
ptx_files += %D%/ptx.tsv %D%/ptx.xz
EXTRA_DIST += %D%/spills.tsv tools/update-ptxas tools/update-ptx tools/same-code tools/descriptor.py tests/gpu/try_kernels.py

# The ladder, in the order in which it is taught: each section (+, with _ for a blank) and its kernels. A
# further kernel is a file, its place here, and in the list of files above.
ladder = \
	+unfused naive \
	+one_query_per_block row_full row_atomic row_online \
	+FA-1 fa1_2022 \
	+query_tiles qtile_seq qtile_tpq qtile_patch \
	+FA-2 fa2_keys fa2 \
	+parallel_K/V splitkv splitkv_atomic splitkv_cluster splitkv_columns splitkv_wgmma \
	+WMMA fa_scalar wmma_serial wmma_shape wmma_stages wmma_split wmma_depth fused_scalar fused_wmma_qk \
		fused_wmma_pv fused_warp_softmax fused_dyn_smem fused_vector_io fused_cp_async fused_warp_spec \
	+FA-2_on_tensor_cores fa2_mma_plain fa2_mma_swizzle fa2_mma_async fa2_mma_rows fa2_mma_lazy \
		fa2_mma_wide fa2_mma fa2_mma_short \
	+Hopper fa3_wgmma fa3_warpspec fa3_pingpong fa3_overlap fa3_persistent fa3_streamk \
	+decode decode_splitkv decode_atomic decode_paged decode_cluster decode_tma \
	+half2_tiles half2_tile \
	+large_D row_tile bigd_cluster bigd_mma bigd_split bigd_rows bigd_unfused \
	+CPU cpu_tiled \
	+peers cublas cudnn torch:flash torch:cudnn torch:efficient torch:math
ladder_table.h: %D%/local.mk
	$(AM_V_GEN)group=; for n in $(ladder); do case $$n in \
	+*) group=`echo $$n | tr -d + | tr _ ' '` ;; \
	*) echo "{\"$$n\", \"$$group\"}," ;; esac; done > $@.tmp && mv $@.tmp $@
BUILT_SOURCES += ladder_table.h
CLEANFILES += ladder_table.h
