/* numbers.c - see debugged.h: bytes of a block that is held still as numbers.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "backend/sim/debugged.h"
#include "spec/dtype.h"

static double half_of(const char *kind, uint16_t bits)
{
    return kind[0] == 'b' ? (double)bf16_to_float(bits) : (double)f16_to_float(bits);
}

static double signed_of(uint32_t bytes, uint64_t bits)
{
    const int n = 64 - 8 * (int)bytes;
    return (double)((int64_t)(bits << n) >> n);
}

double debug_real(const char *kind, uint32_t bytes, const void *data)
{
    uint64_t bits = 0;
    float f;
    double x;
    memcpy(&bits, data, bytes < 8 ? bytes : 8);
    if (!strcmp(kind, "f32")) {
        memcpy(&f, data, 4);
        return (double)f;
    }
    if (!strcmp(kind, "f64")) {
        memcpy(&x, data, 8);
        return x;
    }
    if (!strcmp(kind, "f16") || !strcmp(kind, "bf16"))
        return half_of(kind, (uint16_t)bits);
    if (kind[0] == 's')
        return signed_of(kind[1] == '1' ? 2 : bytes, bits);
    return (double)bits;
}

static json_t *real_json(double x)
{
    return isnan(x)   ? json_string("nan")
           : isinf(x) ? json_string(x > 0 ? "inf" : "-inf")
                      : json_real(x);
}

json_t *debug_number(const char *kind, uint32_t bytes, const void *data)
{
    uint64_t bits = 0;
    char hex[24];
    memcpy(&bits, data, bytes < 8 ? bytes : 8);
    if (!strcmp(kind, "f16x2") || !strcmp(kind, "bf16x2"))
        return json_pack("[o, o]", real_json(half_of(kind, (uint16_t)bits)),
                         real_json(half_of(kind, (uint16_t)(bits >> 16))));
    if (kind[0] == 'f' || !strcmp(kind, "bf16"))
        return real_json(debug_real(kind, bytes, data));
    if (kind[0] == 's')
        return json_integer((json_int_t)debug_real(kind, bytes, data));
    if (kind[0] == 'u' || !strcmp(kind, "pred"))
        if (bits <= INT64_MAX)
            return json_integer((json_int_t)bits);
    snprintf(hex, sizeof hex, "0x%0*llx", (int)(2 * bytes), (unsigned long long)bits);
    return json_string(hex);
}
