/* dtype.h - the three element types and their exact conversions.
 *
 * f16 is IEEE binary16, bf16 the upper half of binary32; both round to nearest, ties to even.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_SPEC_DTYPE_H
#define ATTNSCOPE_SPEC_DTYPE_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

enum dtype { DTYPE_F16, DTYPE_BF16, DTYPE_F32, DTYPE_COUNT };

const char *dtype_name(enum dtype t); /* "f16" */
size_t dtype_size(enum dtype t);      /* bytes */
double dtype_epsilon(enum dtype t);   /* distance from 1 to the next value: 2^-10, 2^-7, 2^-23 */
/* Accepts f16 fp16 float16 half, bf16 bfloat16, f32 fp32 float32 float. */
enum status dtype_parse(const char *text, enum dtype *out, struct err *err);

uint16_t f16_from_float(float x);
float f16_to_float(uint16_t h);
uint16_t bf16_from_float(float x);
float bf16_to_float(uint16_t h);
/* Rounds a double to the type directly (no double rounding through float). */
uint16_t f16_from_double(double x);
uint16_t bf16_from_double(double x);

/* Converts `n` contiguous elements. */
void dtype_to_float(enum dtype t, const void *src, float *dst, size_t n);
void dtype_from_float(enum dtype t, const float *src, void *dst, size_t n);
/* Element `i` of an array. */
double dtype_get(enum dtype t, const void *src, size_t i);
void dtype_set(enum dtype t, void *dst, size_t i, double value);

#endif
