"""honest.py - no cheat: it must pass, and have a time.

expect: pass

SPDX-License-Identifier: GPL-3.0-or-later
"""
import mine


def attend(q, k, v, scale, causal, out=None):
    mine.attend(q, k, v, scale, causal, out)
    return out
