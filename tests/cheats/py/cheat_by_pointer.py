"""by_pointer.py - answers as it did for these very objects.

expect: wrong

SPDX-License-Identifier: GPL-3.0-or-later
"""
import mine

known = {}


def attend(q, k, v, scale, causal, out=None):
    key = id(q), id(k), id(v)
    if key not in known:
        mine.attend(q, k, v, scale, causal, out)
        known[key] = out.data.tolist()
    out.data[:] = memoryview(__import__("array").array("f", known[key]))
    return out
