"""seventh.py - is wrong in every seventh call.

expect: wrong

SPDX-License-Identifier: GPL-3.0-or-later
"""
import mine

calls = 0


def attend(q, k, v, scale, causal, out=None):
    global calls
    calls += 1
    if calls % 7:
        mine.attend(q, k, v, scale, causal, out)
    else:
        for i in range(len(out.data)):
            out.data[i] = 0.0
    return out
