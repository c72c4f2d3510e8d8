// parts.cuh - answers over some of the keys, which have maxima of their own, become one.
//
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "mma.cuh"

// A sum in the making: four columns of the output of a row, m in powers of 2.
struct Sum {
    float m = NEG_INF, l = 0.f;
    Four o = {};

    __device__ void add(float part_m, float part_l, const Four &part_o)
    {
        const float top = fmaxf(m, part_m), base = top == NEG_INF ? 0.f : top;
        const float mine = exp2_fast(m - base), its = exp2_fast(part_m - base);
        m = top;
        l = l * mine + part_l * its;
        for (int e = 0; e < 4; e++)
            o.x[e] = o.x[e] * mine + part_o.x[e] * its;
    }
};
