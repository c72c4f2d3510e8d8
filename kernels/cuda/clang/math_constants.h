/* math_constants.h - some of NVIDIA's constants of this name, for clang alone.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once
#define CUDART_INF_F  __int_as_float(0x7f800000)
#define CUDART_NAN_F  __int_as_float(0x7fffffff)
#define CUDART_ZERO_F 0.0f
#define CUDART_ONE_F  1.0f
#define CUDART_L2E_F  1.442695041f
#define CUDART_LN2_F  0.693147181f
#define CUDART_PI_F   3.141592654f
