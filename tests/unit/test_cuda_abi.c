/* test_cuda_abi.c - our short copy of the driver's interface against NVIDIA's cuda.h, where a CUDA
 * toolkit is present. What can be compared at compile time is; the test then says so.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tap.h"

#ifndef HAVE_CUDA_OCCUPANCY /* configure found no toolkit */

int main(void)
{
    return tap_skip_all("no CUDA toolkit, so no cuda.h to compare with");
}

#else

#include <cuda.h>

#include "backend/cuda/cuda_abi.h"
#if __has_include(<cudnn_graph.h>)
#include <cudnn_graph.h>

#include "backend/peer/cudnn_abi.h"
#endif
#if __has_include(<cublas_v2.h>)
#include <cublas_v2.h>

#include "backend/peer/cublas.h"
#endif

#define SAME(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #ours)

#ifdef CUDNN_VERSION
#define SAME_CUDNN(ours, theirs, value) SAME(ours, theirs);
CUDNN_NUMBERS(SAME_CUDNN)
#endif
#ifdef CUBLAS_VER_MAJOR
#define SAME_CUBLAS(ours, theirs, value) SAME(value, theirs);
CUBLAS_NUMBERS(SAME_CUBLAS)
#endif

SAME(CU_SUCCESS, CUDA_SUCCESS);
SAME(CU_OUT_OF_MEMORY, CUDA_ERROR_OUT_OF_MEMORY);
SAME(CU_STUB_LIBRARY, CUDA_ERROR_STUB_LIBRARY);
SAME(CU_NO_DEVICE, CUDA_ERROR_NO_DEVICE);
SAME(CU_INVALID_DEVICE, CUDA_ERROR_INVALID_DEVICE);
SAME(CU_INVALID_IMAGE, CUDA_ERROR_INVALID_IMAGE);
SAME(CU_NO_BINARY_FOR_GPU, CUDA_ERROR_NO_BINARY_FOR_GPU);
SAME(CU_UNSUPPORTED_PTX_VERSION, CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
SAME(CU_OPERATING_SYSTEM, CUDA_ERROR_OPERATING_SYSTEM);
SAME(CU_NOT_FOUND, CUDA_ERROR_NOT_FOUND);
SAME(CU_LAUNCH_OUT_OF_RESOURCES, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
SAME(CU_DRIVER_MISMATCH, CUDA_ERROR_SYSTEM_DRIVER_MISMATCH);

SAME(CU_DEV_MAX_THREADS_PER_BLOCK, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
SAME(CU_DEV_SMEM_PER_BLOCK, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
SAME(CU_DEV_REGS_PER_BLOCK, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
SAME(CU_DEV_CLOCK_KHZ, CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
SAME(CU_DEV_SM_COUNT, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
SAME(CU_DEV_MEMORY_CLOCK_KHZ, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
SAME(CU_DEV_MEMORY_BUS_BITS, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
SAME(CU_DEV_L2_BYTES, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
SAME(CU_DEV_THREADS_PER_SM, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
SAME(CU_DEV_CC_MAJOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
SAME(CU_DEV_CC_MINOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
SAME(CU_DEV_SMEM_PER_SM, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
SAME(CU_DEV_REGS_PER_SM, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
SAME(CU_DEV_SMEM_OPTIN, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
SAME(CU_DEV_BLOCKS_PER_SM, CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);
SAME(CU_DEV_SMEM_RESERVED, CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);
SAME(CU_DEV_CLUSTER_LAUNCH, CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH);

SAME(CU_FUNC_MAX_THREADS, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
SAME(CU_FUNC_STATIC_SMEM, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
SAME(CU_FUNC_LOCAL_BYTES, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
SAME(CU_FUNC_REGS, CU_FUNC_ATTRIBUTE_NUM_REGS);
SAME(CU_FUNC_MAX_DYNAMIC_SMEM, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
SAME(CU_FUNC_NONPORTABLE_CLUSTER, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED);

SAME(CU_STREAM_NONBLOCKING, CU_STREAM_NON_BLOCKING);
SAME(CU_CAPTURE_THREAD_LOCAL, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
SAME(CU_WAIT_GEQ, CU_STREAM_WAIT_VALUE_GEQ);
SAME(CU_ATTR_CLUSTER_DIM, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);

SAME(sizeof(cu_pointer), sizeof(CUdeviceptr));
SAME(sizeof(cu_device), sizeof(CUdevice));
SAME(sizeof(cu_stream), sizeof(CUstream));
SAME(sizeof(struct cu_launch_attribute), sizeof(CUlaunchAttribute));
SAME(offsetof(struct cu_launch_attribute, value), offsetof(CUlaunchAttribute, value));
SAME(sizeof(struct cu_launch_config), sizeof(CUlaunchConfig));
SAME(offsetof(struct cu_launch_config, block), offsetof(CUlaunchConfig, blockDimX));
SAME(offsetof(struct cu_launch_config, dynamic_smem), offsetof(CUlaunchConfig, sharedMemBytes));
SAME(offsetof(struct cu_launch_config, stream), offsetof(CUlaunchConfig, hStream));
SAME(offsetof(struct cu_launch_config, attrs), offsetof(CUlaunchConfig, attrs));
SAME(offsetof(struct cu_launch_config, nattrs), offsetof(CUlaunchConfig, numAttrs));

/* The union's member lies at the union's start. */
static void cluster_lies_where_the_driver_reads(void)
{
    CUlaunchAttribute theirs = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION};
    const struct cu_launch_attribute ours = {.id = CU_ATTR_CLUSTER_DIM, .value.cluster = {8, 2, 1}};
    __builtin_memcpy(&theirs, &ours, sizeof theirs);
    CU_ASSERT_EQUAL(theirs.value.clusterDim.x, 8);
    CU_ASSERT_EQUAL(theirs.value.clusterDim.y, 2);
    CU_ASSERT_EQUAL(theirs.value.clusterDim.z, 1);
}

static const struct tap_test tests[] = {
    {"the cluster of a launch lies where the driver reads it", cluster_lies_where_the_driver_reads},
};

TAP_MAIN("cuda_abi", tests)

#endif
