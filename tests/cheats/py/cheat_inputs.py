"""inputs.py - writes to its inputs, but not in its first calls.

expect: overwrote its inputs

SPDX-License-Identifier: GPL-3.0-or-later
"""
import mine

calls = 0


def attend(q, k, v, scale, causal, out=None):
    global calls
    calls += 1
    mine.attend(q, k, v, scale, causal, out)
    if calls > 4:
        k.data[3] = 1
    return out
