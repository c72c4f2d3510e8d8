# What PTX text becomes before it is lowered.
libattnscope_a_SOURCES += \
	%D%/flow.h \
	%D%/place.h \
	%D%/statics.h \
	%D%/chain.h \
	%D%/lower/address.c %D%/lower/address.h \
	%D%/lower/merge.c %D%/lower/merge.h \
	%D%/lower/chain.c \
	%D%/lower/chain_graph.c %D%/lower/chain_graph.h \
	%D%/lower/statics.c \
	%D%/lower/flow.c \
	%D%/lower/place.c \
	%D%/lower/ptx_body.c \
	%D%/lower/ptx_debug.c \
	%D%/lower/ptx_inline.c \
	%D%/lower/ptx_lex.c \
	%D%/lower/ptx_lex.h \
	%D%/lower/ptx_names.c \
	%D%/lower/ptx_names.h \
	%D%/lower/ptx_parse.c \
	%D%/lower/ptx_read.c \
	%D%/lower/ptx_read.h \
	%D%/lower/ptx_store.c \
	%D%/lower/ptx_store.h \
	%D%/lower/ptx_variable.c

libattnscope_a_SOURCES += \
	%D%/cache.c %D%/cache.h \
	%D%/cache_feed.c \
	%D%/hazard.c %D%/hazard.h \
	%D%/hazard/agents.c \
	%D%/hazard/block.h \
	%D%/hazard/found.c %D%/hazard/found.h \
	%D%/hazard/global_use.c \
	%D%/hazard/know.c %D%/hazard/know.h \
	%D%/hazard/ordering.c \
	%D%/hazard/hoard.c %D%/hazard/hoard.h \
	%D%/hazard/release.c \
	%D%/hazard/shared_use.c \
	%D%/hazard/values.c \
	%D%/pattern.c %D%/pattern.h \
	%D%/ptx.h \
	%D%/half.h \
	%D%/tensor.c %D%/tensor.h \
	%D%/tensor_cut.c %D%/tensor_cut.h \
	%D%/tensor_block.h %D%/tensor_body.h %D%/tensor_isa.h \
	%D%/tensor_avx2.c \
	%D%/tensor_avx512.c \
	%D%/tensor_generic.c \
	%D%/tensor_load.c \
	%D%/tensor_map.c %D%/tensor_map.h \
	%D%/wgmma.c %D%/wgmma.h
# What it becomes, and what runs it.
libattnscope_a_SOURCES += \
	%D%/sim.h %D%/sim.c \
	%D%/code.h \
	%D%/isa.h %D%/isa.c \
	%D%/special.h \
	%D%/lower/lower.h \
	%D%/lower/emit.c \
	%D%/lower/lower.c \
	%D%/lower/lower_data.c \
	%D%/lower/lower_hopper.c \
	%D%/lower/lower_tensor.c \
	%D%/lower/wgmma_uses.c %D%/lower/wgmma_uses.h \
	%D%/lower/within.c %D%/lower/within.h \
	%D%/lower/lower_warp.c \
	%D%/lower/operands.c \
	%D%/exec/access.c \
	%D%/exec/block.c %D%/exec/block.h \
	%D%/exec/course.c %D%/exec/course.h \
	%D%/exec/cvt.c %D%/exec/cvt.h \
	%D%/exec/fault.c \
	%D%/exec/bulk.c \
	%D%/exec/flight.h \
	%D%/exec/guest.c %D%/exec/guest.h \
	%D%/exec/wgmma_run.c \
	%D%/exec/bodies.h %D%/exec/half_body.h \
	%D%/exec/lanes.h \
	%D%/exec/mem_body.h %D%/exec/async_body.h \
	%D%/exec/image.c %D%/exec/image.h \
	%D%/exec/mbarrier.c %D%/exec/mbarrier.h \
	%D%/exec/memory.c %D%/exec/memory.h \
	%D%/exec/ops_avx2.c \
	%D%/exec/ops_avx512.c \
	%D%/exec/ops_body.h \
	%D%/exec/ops_generic.c \
	%D%/observe.h \
	%D%/exec/observe.c %D%/exec/observe.h \
	%D%/exec/pace.c %D%/exec/pace.h \
	%D%/exec/phase.c %D%/exec/phase.h \
	%D%/exec/printf.c \
	%D%/exec/quick_body.h \
	%D%/exec/run.c %D%/exec/send.c \
	%D%/step.h \
	%D%/exec/step.c %D%/exec/step_keep.c %D%/exec/step_made.c %D%/exec/step_named.c %D%/exec/step_state.c %D%/exec/step_state.h \
	%D%/exec/sync.c \
	%D%/exec/warp.c %D%/exec/warp.h \
	%D%/exec/warp_body.h \
	%D%/exec/worker.h
