"""after_calls.py - works for some calls, and then returns at once.

expect: not written when it returned

SPDX-License-Identifier: GPL-3.0-or-later
"""
import mine

calls = 0


def attend(q, k, v, scale, causal, out=None):
    global calls
    calls += 1
    if calls <= 4:
        mine.attend(q, k, v, scale, causal, out)
    return out
