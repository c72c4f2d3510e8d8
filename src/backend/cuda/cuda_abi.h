/* cuda_abi.h - the part of the CUDA driver's binary interface that we call.
 *
 * Written from the documented interface, so that the program builds where no CUDA toolkit is
 * installed. tests/unit/test_cuda_abi.c holds every value and size against cuda.h where there is
 * one. Names begin with cu_ or CU_ but are ours.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BACKEND_CUDA_ABI_H
#define ATTNSCOPE_BACKEND_CUDA_ABI_H

#include <stddef.h>
#include <stdint.h>

typedef int cu_result; /* 0 is success */
typedef int cu_device;
typedef uint64_t cu_pointer; /* an address on the device */
typedef struct cu_context *cu_context;
typedef struct cu_module *cu_module;
typedef struct cu_function *cu_function;
typedef struct cu_stream *cu_stream;
typedef struct cu_event *cu_event;
typedef struct cu_graph *cu_graph;
typedef struct cu_graph_exec *cu_graph_exec;

/* Results that we tell apart; cuda_api.c has a table of those that end the process. */
enum {
    CU_SUCCESS = 0,
    CU_OUT_OF_MEMORY = 2,
    CU_STUB_LIBRARY = 34,
    CU_NO_DEVICE = 100,
    CU_INVALID_DEVICE = 101,
    CU_INVALID_IMAGE = 200,
    CU_NO_BINARY_FOR_GPU = 209,
    CU_UNSUPPORTED_PTX_VERSION = 222,
    CU_OPERATING_SYSTEM = 304,
    CU_NOT_FOUND = 500,
    CU_NOT_READY = 600,
    CU_LAUNCH_OUT_OF_RESOURCES = 701,
    CU_DRIVER_MISMATCH = 803,
};

enum cu_device_attribute {
    CU_DEV_MAX_THREADS_PER_BLOCK = 1,
    CU_DEV_SMEM_PER_BLOCK = 8,
    CU_DEV_REGS_PER_BLOCK = 12,
    CU_DEV_CLOCK_KHZ = 13,
    CU_DEV_SM_COUNT = 16,
    CU_DEV_MEMORY_CLOCK_KHZ = 36,
    CU_DEV_MEMORY_BUS_BITS = 37,
    CU_DEV_L2_BYTES = 38,
    CU_DEV_THREADS_PER_SM = 39,
    CU_DEV_CC_MAJOR = 75,
    CU_DEV_CC_MINOR = 76,
    CU_DEV_SMEM_PER_SM = 81,
    CU_DEV_REGS_PER_SM = 82,
    CU_DEV_SMEM_OPTIN = 97,
    CU_DEV_BLOCKS_PER_SM = 106,
    CU_DEV_SMEM_RESERVED = 111,
    CU_DEV_CLUSTER_LAUNCH = 120,
};

enum cu_function_attribute {
    CU_FUNC_MAX_THREADS = 0,
    CU_FUNC_STATIC_SMEM = 1,
    CU_FUNC_LOCAL_BYTES = 3, /* per thread: stack and spills */
    CU_FUNC_REGS = 4,
    CU_FUNC_MAX_DYNAMIC_SMEM = 8, /* may be set: the opt-in */
    CU_FUNC_NONPORTABLE_CLUSTER = 14,
};

enum { CU_STREAM_NONBLOCKING = 1, CU_CAPTURE_THREAD_LOCAL = 1, CU_WAIT_GEQ = 0 };

/* Where a tensor lies and what part of it one copy moves; written by the driver, read by the copy engine. */
struct cu_tensor_map {
    _Alignas(64) uint64_t opaque[16];
};

enum cu_tensor_map_type { CU_MAP_F16 = 6, CU_MAP_F32 = 7, CU_MAP_BF16 = 9 };
enum cu_tensor_map_swizzle { CU_SWIZZLE_NONE, CU_SWIZZLE_32, CU_SWIZZLE_64, CU_SWIZZLE_128 };
enum { CU_INTERLEAVE_NONE = 0, CU_L2_PROMOTION_128 = 2, CU_FILL_ZEROS = 0 };

enum { CU_ATTR_CLUSTER_DIM = 4 };

/* One attribute of a launch: an id, padding to 8 bytes, 64 bytes of value. */
struct cu_launch_attribute {
    int id;
    int pad;
    union {
        unsigned cluster[3]; /* blocks per cluster, x y z */
        uint64_t room[8];
    } value;
};

struct cu_launch_config {
    unsigned grid[3], block[3];
    unsigned dynamic_smem;
    cu_stream stream;
    struct cu_launch_attribute *attrs;
    unsigned nattrs;
};

_Static_assert(sizeof(struct cu_launch_attribute) == 72, "launch attribute of CUDA 11.8 to 13");
_Static_assert(sizeof(struct cu_tensor_map) == 128, "tensor map of CUDA 12 to 13");
_Static_assert(sizeof(struct cu_launch_config) == 56, "launch configuration of CUDA 11.8 to 13");

#endif
