/* cudnn_abi.h - the numbers of cuDNN's backend interface that we use.
 *
 * Written from the documented interface of cuDNN 9, so that nothing of NVIDIA's is needed to build;
 * names are ours. tests/unit/test_cuda_abi.c compares them with cudnn_graph.h where there is one.
 *
 * X(ours, theirs, value)
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BACKEND_CUDNN_ABI_H
#define ATTNSCOPE_BACKEND_CUDNN_ABI_H

// clang-format off
#define CUDNN_NUMBERS(X)                                                                  \
    X(DATA_F32,                CUDNN_DATA_FLOAT,                              0)          \
    X(DATA_F16,                CUDNN_DATA_HALF,                               2)          \
    X(DATA_I32,                CUDNN_DATA_INT32,                              4)          \
    X(DATA_BF16,               CUDNN_DATA_BFLOAT16,                           9)          \
    X(DATA_BOOL,               CUDNN_DATA_BOOLEAN,                           11)          \
    X(KIND_POINTWISE,          CUDNN_BACKEND_POINTWISE_DESCRIPTOR,            0)          \
    X(KIND_CONFIG,             CUDNN_BACKEND_ENGINECFG_DESCRIPTOR,            3)          \
    X(KIND_HEURISTIC,          CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR,           4)          \
    X(KIND_PLAN,               CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR,       5)          \
    X(KIND_OPERATION_POINTWISE, CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR, 13)         \
    X(KIND_GRAPH,              CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR,      15)          \
    X(KIND_PACK,               CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR,        16)          \
    X(KIND_TENSOR,             CUDNN_BACKEND_TENSOR_DESCRIPTOR,              17)          \
    X(KIND_MATMUL,             CUDNN_BACKEND_MATMUL_DESCRIPTOR,              18)          \
    X(KIND_OPERATION_MATMUL,   CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR,    19)          \
    X(KIND_REDUCTION,          CUDNN_BACKEND_REDUCTION_DESCRIPTOR,           21)          \
    X(KIND_OPERATION_REDUCTION, CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR, 22)         \
    X(TYPE_HANDLE,             CUDNN_TYPE_HANDLE,                             0)          \
    X(TYPE_DATA_TYPE,          CUDNN_TYPE_DATA_TYPE,                          1)          \
    X(TYPE_BOOLEAN,            CUDNN_TYPE_BOOLEAN,                            2)          \
    X(TYPE_INT64,              CUDNN_TYPE_INT64,                              3)          \
    X(TYPE_POINTER,            CUDNN_TYPE_VOID_PTR,                           6)          \
    X(TYPE_HEURISTIC_MODE,     CUDNN_TYPE_HEUR_MODE,                          8)          \
    X(TYPE_POINTWISE_MODE,     CUDNN_TYPE_POINTWISE_MODE,                    14)          \
    X(TYPE_DESCRIPTOR,         CUDNN_TYPE_BACKEND_DESCRIPTOR,                15)          \
    X(TYPE_REDUCTION_MODE,     CUDNN_TYPE_REDUCTION_OPERATOR_TYPE,           18)          \
    X(POINTWISE_MODE,          CUDNN_ATTR_POINTWISE_MODE,                     0)          \
    X(POINTWISE_COMPUTE,       CUDNN_ATTR_POINTWISE_MATH_PREC,                1)          \
    X(POINTWISE_AXIS,          CUDNN_ATTR_POINTWISE_AXIS,                     9)          \
    X(HEURISTIC_MODE,          CUDNN_ATTR_ENGINEHEUR_MODE,                  200)          \
    X(HEURISTIC_GRAPH,         CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH,       201)          \
    X(HEURISTIC_RESULTS,       CUDNN_ATTR_ENGINEHEUR_RESULTS,               202)          \
    X(PLAN_HANDLE,             CUDNN_ATTR_EXECUTION_PLAN_HANDLE,            400)          \
    X(PLAN_CONFIG,             CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG,     401)          \
    X(PLAN_WORKSPACE,          CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE,    402)          \
    X(OPERATION_POINTWISE_HOW, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, 750)         \
    X(OPERATION_POINTWISE_X,   CUDNN_ATTR_OPERATION_POINTWISE_XDESC,        751)          \
    X(OPERATION_POINTWISE_B,   CUDNN_ATTR_OPERATION_POINTWISE_BDESC,        752)          \
    X(OPERATION_POINTWISE_Y,   CUDNN_ATTR_OPERATION_POINTWISE_YDESC,        753)          \
    X(OPERATION_POINTWISE_T,   CUDNN_ATTR_OPERATION_POINTWISE_TDESC,        758)          \
    X(GRAPH_HANDLE,            CUDNN_ATTR_OPERATIONGRAPH_HANDLE,            800)          \
    X(GRAPH_OPERATIONS,        CUDNN_ATTR_OPERATIONGRAPH_OPS,               801)          \
    X(TENSOR_ALIGNMENT,        CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT,            900)          \
    X(TENSOR_TYPE,             CUDNN_ATTR_TENSOR_DATA_TYPE,                 901)          \
    X(TENSOR_DIMENSIONS,       CUDNN_ATTR_TENSOR_DIMENSIONS,                902)          \
    X(TENSOR_STRIDES,          CUDNN_ATTR_TENSOR_STRIDES,                   903)          \
    X(TENSOR_UID,              CUDNN_ATTR_TENSOR_UNIQUE_ID,                 906)          \
    X(TENSOR_VIRTUAL,          CUDNN_ATTR_TENSOR_IS_VIRTUAL,                907)          \
    X(TENSOR_BY_VALUE,         CUDNN_ATTR_TENSOR_IS_BY_VALUE,               908)          \
    X(PACK_UIDS,               CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS,         1000)          \
    X(PACK_POINTERS,           CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS,      1001)          \
    X(PACK_WORKSPACE,          CUDNN_ATTR_VARIANT_PACK_WORKSPACE,          1003)          \
    X(MATMUL_COMPUTE,          CUDNN_ATTR_MATMUL_COMP_TYPE,                1500)          \
    X(OPERATION_MATMUL_A,      CUDNN_ATTR_OPERATION_MATMUL_ADESC,          1520)          \
    X(OPERATION_MATMUL_B,      CUDNN_ATTR_OPERATION_MATMUL_BDESC,          1521)          \
    X(OPERATION_MATMUL_C,      CUDNN_ATTR_OPERATION_MATMUL_CDESC,          1522)          \
    X(OPERATION_MATMUL_HOW,    CUDNN_ATTR_OPERATION_MATMUL_DESC,           1523)          \
    X(REDUCTION_MODE,          CUDNN_ATTR_REDUCTION_OPERATOR,              1600)          \
    X(REDUCTION_COMPUTE,       CUDNN_ATTR_REDUCTION_COMP_TYPE,             1601)          \
    X(OPERATION_REDUCTION_X,   CUDNN_ATTR_OPERATION_REDUCTION_XDESC,       1610)          \
    X(OPERATION_REDUCTION_Y,   CUDNN_ATTR_OPERATION_REDUCTION_YDESC,       1611)          \
    X(OPERATION_REDUCTION_HOW, CUDNN_ATTR_OPERATION_REDUCTION_DESC,        1612)          \
    X(POINTWISE_ADD,           CUDNN_POINTWISE_ADD,                           0)          \
    X(POINTWISE_MUL,           CUDNN_POINTWISE_MUL,                           1)          \
    X(POINTWISE_DIV,           CUDNN_POINTWISE_DIV,                           6)          \
    X(POINTWISE_SUB,           CUDNN_POINTWISE_SUB,                           9)          \
    X(POINTWISE_EXP,           CUDNN_POINTWISE_EXP,                          13)          \
    X(POINTWISE_LOG,           CUDNN_POINTWISE_LOG,                          15)          \
    X(POINTWISE_GE,            CUDNN_POINTWISE_CMP_GE,                      303)          \
    X(POINTWISE_INDEX,         CUDNN_POINTWISE_GEN_INDEX,                   501)          \
    X(POINTWISE_SELECT,        CUDNN_POINTWISE_BINARY_SELECT,               601)          \
    X(REDUCTION_ADD,           CUDNN_REDUCE_TENSOR_ADD,                       0)          \
    X(REDUCTION_MAX,           CUDNN_REDUCE_TENSOR_MAX,                       3)          \
    X(HEURISTIC_A,             CUDNN_HEUR_MODE_A,                             3)          \
    X(HEURISTIC_FALLBACK,      CUDNN_HEUR_MODE_FALLBACK,                      2)
// clang-format on

enum {
#define CUDNN_NUMBER(ours, theirs, value) ours = value,
    CUDNN_NUMBERS(CUDNN_NUMBER)
#undef CUDNN_NUMBER
};

#endif
