"""background.py - has a thread do the work, and returns.

expect: not written when it returned|never written|wrong|works on

SPDX-License-Identifier: GPL-3.0-or-later
"""
import mine

import threading
import time

calls = 0


def later(*args):
    time.sleep(0.02)
    mine.attend(*args)


def attend(q, k, v, scale, causal, out=None):
    global calls
    calls += 1
    if calls <= 2:
        mine.attend(q, k, v, scale, causal, out)
    else:
        threading.Thread(target=later, args=(q, k, v, scale, causal, out), daemon=True).start()
    return out
