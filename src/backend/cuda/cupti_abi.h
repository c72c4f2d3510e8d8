/* cupti_abi.h - the part of CUPTI's range profiler (CUDA 12.6 and newer) that we call.
 *
 * Every call takes one struct that begins with its own size, up to the last member that the caller
 * knows, so newer libraries read older callers. tests/unit/test_cupti_abi.c holds every value, size
 * and offset against NVIDIA's headers where there are any. The names are ours.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BACKEND_CUPTI_ABI_H
#define ATTNSCOPE_BACKEND_CUPTI_ABI_H

#include "backend/cuda/cuda_abi.h"

typedef int cupti_result; /* 0 is success */
typedef struct cupti_host *cupti_host;
typedef struct cupti_range *cupti_range;

/* Results that we tell apart. */
enum {
    CUPTI_OK = 0,
    CUPTI_INVALID_METRIC = 17,
    CUPTI_HARDWARE_BUSY = 26,
    CUPTI_NOT_SUPPORTED = 27,
    CUPTI_VIRTUAL_DEVICE = 33,
    CUPTI_NO_PRIVILEGE = 35,
    CUPTI_OLD_API_IN_USE = 36,
    CUPTI_SUBSCRIBED = 39,
    CUPTI_VIRTUAL_NO_PRIVILEGE = 40,
    CUPTI_CONFIDENTIAL = 41,
    CUPTI_MINING_CARD = 42,
    CUPTI_MIG = 43,
    CUPTI_SLI = 44,
    CUPTI_WSL = 45,
    CUPTI_UNKNOWN_CHIP = 46,
};

enum { CUPTI_TYPE_RANGE = 0 }; /* of profiler */
enum { CUPTI_RANGE_AUTO = 1 }; /* a range around every launch */
enum { CUPTI_REPLAY_KERNEL = 2, CUPTI_REPLAY_USER = 3 };

/* Size of a struct up to and with its last member, without the padding behind it. */
#define CUPTI_SIZE(type, last) (offsetof(type, last) + sizeof(((type *)0)->last))

struct cupti_initialize {
    size_t size;
    void *priv;
};
struct cupti_chip {
    size_t size;
    void *priv;
    size_t device;
    const char *name; /* out: "GH100" */
};
struct cupti_availability {
    size_t size;
    void *priv;
    cu_context context;
    size_t image_size; /* in, out */
    uint8_t *image;    /* NULL: only the size is asked for */
};
struct cupti_host_initialize {
    size_t size;
    void *priv;
    int type;
    const char *chip;
    const uint8_t *availability; /* may be NULL for chips that the library knows */
    cupti_host host;             /* out */
};
struct cupti_host_only {
    size_t size;
    void *priv;
    cupti_host host;
};
struct cupti_metric {
    size_t size;
    void *priv;
    cupti_host host;
    const char *metric;
    const char *description, *unit, *dimension; /* out */
    int type;                                   /* out */
};
struct cupti_add_metrics {
    size_t size;
    void *priv;
    cupti_host host;
    const char **metrics;
    size_t count;
};
struct cupti_config_size {
    size_t size;
    void *priv;
    cupti_host host;
    size_t bytes; /* out */
};
struct cupti_config {
    size_t size;
    void *priv;
    cupti_host host;
    size_t bytes;
    uint8_t *image;
};
struct cupti_passes {
    size_t size;
    void *priv;
    size_t bytes;
    uint8_t *image;
    size_t passes; /* out */
};
struct cupti_evaluate {
    size_t size;
    void *priv;
    cupti_host host;
    const uint8_t *data;
    size_t data_size;
    size_t range;
    const char **metrics;
    size_t count;
    double *values; /* out */
};
struct cupti_enable {
    size_t size;
    void *priv;
    cu_context context;
    cupti_range range; /* out */
};
struct cupti_range_only { /* disable, start */
    size_t size;
    void *priv;
    cupti_range range;
};
struct cupti_data_size {
    size_t size;
    void *priv;
    cupti_range range;
    const char **metrics;
    size_t count;
    size_t max_ranges;
    uint32_t max_nodes;
    size_t bytes; /* out */
};
struct cupti_data {
    size_t size;
    void *priv;
    cupti_range range;
    size_t bytes;
    uint8_t *image;
};
struct cupti_set_config {
    size_t size;
    void *priv;
    cupti_range range;
    size_t config_size;
    const uint8_t *config;
    size_t data_size;
    uint8_t *data;
    int ranges; /* CUPTI_RANGE_AUTO */
    int replay;
    size_t max_ranges;
    uint16_t levels, least_level;
    size_t pass;
    uint16_t target_level;
};
struct cupti_stop {
    size_t size;
    void *priv;
    cupti_range range;
    size_t pass, target_level; /* out */
    uint8_t all_submitted;     /* out */
};
struct cupti_decode {
    size_t size;
    void *priv;
    cupti_range range;
    size_t dropped; /* out */
};
struct cupti_data_info {
    size_t size;
    void *priv;
    const uint8_t *data;
    size_t data_size;
    size_t ranges; /* out */
};

#endif
