# backend: who runs a kernel
libattnscope_a_SOURCES += %D%/backend.h %D%/backend.c %D%/names.c
libattnscope_a_SOURCES += %D%/cuda.h %D%/cuda.c %D%/cuda_state.h %D%/cuda_device.c
libattnscope_a_SOURCES += %D%/cuda_inputs.c %D%/cuda_module.c %D%/cuda_launch.c %D%/cuda_time.c %D%/cuda_flush.c
libattnscope_a_SOURCES += %D%/cuda_abi.h %D%/cuda_api.h %D%/cuda_api.c %D%/nvml.h %D%/nvml.c
libattnscope_a_SOURCES += %D%/compile.h %D%/compile_wire.h %D%/compile.c %D%/compile_confine.c %D%/nvrtc.c
libattnscope_a_SOURCES += %D%/cubin_cache.h %D%/cubin_cache.c
libattnscope_a_SOURCES += %D%/cpu.h %D%/cpu.c %D%/cpu_kernel.h %D%/cpu_kernel.c
libattnscope_a_SOURCES += %D%/cpu_simd.h %D%/cpu_simd.c
libattnscope_a_SOURCES += %D%/cpu_host.h %D%/cpu_host.c
libattnscope_a_SOURCES += %D%/pool.h %D%/pool.c %D%/trace.h %D%/trace.c %D%/cuda_trace.c
libattnscope_a_SOURCES += %D%/python.h %D%/python.c %D%/python_child.h %D%/python_child.c %D%/nvidia_library.h %D%/nvidia_library.c
libattnscope_a_SOURCES += %D%/cuda_peer.h %D%/cuda_peer.c %D%/cublas.c %D%/cudnn.c %D%/cudnn_graph.c %D%/cudnn_graph.h %D%/cudnn_abi.h
libattnscope_a_SOURCES += %D%/cupti_abi.h %D%/cupti.h %D%/cupti.c %D%/cuda_profile.c
libattnscope_a_SOURCES += %D%/counters.h %D%/counters.c
libattnscope_a_SOURCES += %D%/peak.h %D%/peak.c
libattnscope_a_SOURCES += %D%/build.h %D%/build.c %D%/nvcc.c %D%/foreign.h %D%/foreign.c
libattnscope_a_SOURCES += %D%/compile_log.h %D%/compile_log.c
