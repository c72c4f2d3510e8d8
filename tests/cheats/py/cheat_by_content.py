"""by_content.py - answers as it did when it saw these contents, which it knows by their sum.

expect: wrong

SPDX-License-Identifier: GPL-3.0-or-later
"""
import mine

known = {}


def attend(q, k, v, scale, causal, out=None):
    key = round(sum(q.data), 3), round(sum(k.data), 3), round(sum(v.data), 3), q.shape
    if key not in known:
        mine.attend(q, k, v, scale, causal, out)
        known[key] = out.data.tolist()
    out.data[:] = memoryview(__import__("array").array("f", known[key]))
    return out
