# backend: who runs a kernel. The file of each, in the order in which people meet them; a further one is a file
# with its row, and a word here.
backends = %D%/cpu/cpu.c %D%/cuda.c %D%/sim.c
backend_table.h: $(backends) %D%/local.mk
	$(AM_V_GEN)for f in $(backends); do test -f $$f || f=$(srcdir)/$$f; \
	sed -n '/^BACKEND_ROW(/,/);$$/{s/^BACKEND_ROW/BACKEND/;s/);$$/)/;p;}' $$f; done > $@.tmp && mv $@.tmp $@
BUILT_SOURCES += backend_table.h
CLEANFILES += backend_table.h
libattnscope_a_SOURCES += $(backends) %D%/backend.h %D%/backend.c %D%/names.c
libattnscope_a_SOURCES += %D%/cuda/cuda.h %D%/cuda/gpu.h %D%/cuda/gpu.c
libattnscope_a_SOURCES += %D%/cuda/bounce.h %D%/cuda/bounce.c %D%/cuda/inputs.h %D%/cuda/inputs.c %D%/cuda/unit_sum.h %D%/cuda/unit_sum.c %D%/cuda/pools.h %D%/cuda/pools.c %D%/cuda/slot.h %D%/cuda/slot.c %D%/cuda/module.c %D%/cuda/timer.h %D%/cuda/timer.c %D%/cuda/flush.h %D%/cuda/flush.c
libattnscope_a_SOURCES += %D%/cuda/nccl.h %D%/cuda/nccl.c %D%/cuda/ranks.h %D%/cuda/ranks.c %D%/cuda/seat.h %D%/cuda/seat.c %D%/cuda/shares.h %D%/cuda/shares.c %D%/cuda/ring.h %D%/cuda/ring.c
libattnscope_a_SOURCES += %D%/cuda/cuda_abi.h %D%/cuda/cuda_api.h %D%/cuda/cuda_api.c %D%/cuda/nvml.h %D%/cuda/nvml.c
libattnscope_a_SOURCES += %D%/compile/compile.h %D%/compile/compile_wire.h %D%/compile/compile.c %D%/compile/compile_confine.c %D%/compile/nvrtc.c
libattnscope_a_SOURCES += %D%/compile/cubin_cache.h %D%/compile/cubin_cache.c
libattnscope_a_SOURCES += %D%/cpu/cpu.h %D%/cpu/cpu_kernel.h %D%/cpu/sets.h %D%/cpu/sets.c %D%/spot.h %D%/spot.c \
	%D%/cpu/cpu_own.c \
	%D%/cpu/cpu_own.h %D%/cpu/cpu_kernel.c
libattnscope_a_SOURCES += %D%/cpu/cpu_simd.h %D%/cpu/cpu_simd.c
libattnscope_a_SOURCES += %D%/cpu_host.h %D%/cpu_host.c %D%/quota.h %D%/quota.c
libattnscope_a_SOURCES += %D%/pool.h %D%/pool.c %D%/trace.h %D%/trace.c %D%/cuda/trace.h %D%/cuda/trace.c
libattnscope_a_SOURCES += %D%/peer/python.h %D%/peer/python.c %D%/peer/python_child.h %D%/peer/python_child.c %D%/finder.h %D%/finder.c
libattnscope_a_SOURCES += %D%/peer/cuda_peer.h %D%/peer/python_gpu.c %D%/peer/cublas.h %D%/peer/cublas.c %D%/peer/cudnn.c %D%/peer/cudnn_graph.c %D%/peer/cudnn_graph.h %D%/peer/cudnn_abi.h
libattnscope_a_SOURCES += %D%/cuda/cupti_abi.h %D%/cuda/cupti.h %D%/cuda/cupti.c %D%/cuda/profile.h %D%/cuda/profile.c
libattnscope_a_SOURCES += %D%/args.h %D%/args.c %D%/ring_args.h %D%/ring_args.c %D%/once.h %D%/once.c
libattnscope_a_SOURCES += %D%/counters.h %D%/counters.c %D%/counter_table.h
libattnscope_a_SOURCES += %D%/peak.h %D%/peak.c %D%/cpu/cpu_peak.h %D%/cpu/cpu_peak.c %D%/cuda/bench.h %D%/cuda/bench.c
libattnscope_a_SOURCES += %D%/compile/build.h %D%/compile/build.c %D%/compile/programs.c %D%/foreign.h %D%/foreign.c
libattnscope_a_SOURCES += %D%/compile/compile_log.h %D%/compile/compile_log.c
libattnscope_a_SOURCES += %D%/sim/cage.h %D%/sim/cage.c %D%/sim/walls.h %D%/sim/walls.c
libattnscope_a_SOURCES += %D%/compile/ptx.h %D%/compile/ptx.c %D%/compile/ptx_shipped.c %D%/compile/ptx_names.h %D%/compile/ptx_names.c %D%/compile/ptx_text.h %D%/compile/ptx_text.c
libattnscope_a_SOURCES += %D%/sim/launch.h %D%/sim/launch.c %D%/sim/ring.h %D%/sim/ring.c %D%/sim/omit.h %D%/sim/omit.c %D%/sim/params.h %D%/sim/params.c %D%/sim/sample.h %D%/sim/sample.c %D%/sim/sum.h %D%/sim/sum.c %D%/look.h %D%/look.c %D%/sim/look.h %D%/sim/look.c %D%/sim/seen.c %D%/sim/finding.h %D%/sim/finding.c %D%/sim/answer.h %D%/sim/answer.c
libattnscope_a_SOURCES += %D%/debug.h %D%/debug.c %D%/sim/debugged.h %D%/sim/debug.c %D%/sim/debug_serve.c %D%/sim/numbers.c %D%/sim/names.c %D%/sim/history.c %D%/sim/shown.c %D%/sim/stop.c
