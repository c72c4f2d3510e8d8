"""mine.py - callables for tests/cli/peers.sh: a right one, and every way to go wrong.

SPDX-License-Identifier: GPL-3.0-or-later
"""
import math
import os
import signal


def index(t, b, h, s, d):
    return b * t.strides[0] + h * t.strides[1] + s * t.strides[2] + d


def attend(q, k, v, scale, causal, out):
    B, H, Sq, D = q.shape
    Sk, group = k.shape[2], H // k.shape[1]
    for b in range(B):
        for h in range(H):
            for i in range(Sq):
                n = Sk if not causal else max(0, min(Sk, i + Sk - Sq + 1))
                s = [scale * sum(q.data[index(q, b, h, i, d)] * k.data[index(k, b, h // group, j, d)] for d in range(D))
                     for j in range(n)]
                p = [math.exp(x - max(s)) for x in s]
                for d in range(D):
                    o = sum(x * v.data[index(v, b, h // group, j, d)] for j, x in enumerate(p))
                    out.data[index(out, b, h, i, d)] = o / sum(p) if n else 0.0


def right(q, k, v, scale, causal, out=None):
    attend(q, k, v, scale, causal, out)
    return out


def arrays(q, k, v, scale, causal, out=None):
    """Right only if what numpy.asarray() would see is the tensors themselves."""
    for t in (q, k, v, out):
        seen, width = t.__array_interface__, t.data.itemsize
        if seen["shape"] != t.shape or seen["strides"] != tuple(width * s for s in t.strides):
            raise ValueError("another shape")
        if seen["typestr"] != {"f32": "<f4", "f16": "<f2", "bf16": "<u2"}[t.dtype]:
            raise ValueError("another type")
    flat = memoryview(out.__array_interface__["data"]).cast("f")
    attend(q, k, v, scale, causal, out)
    if flat[index(out, 0, 0, 0, 0)] != out.data[index(out, 0, 0, 0, 0)]:
        raise ValueError("a copy")


def wrong(q, k, v, scale, causal, out=None):
    attend(q, k, v, scale, not causal, out)


def lazy(q, k, v, scale, causal, out=None):
    return out


def overrun(q, k, v, scale, causal, out=None):
    attend(q, k, v, scale, causal, out)
    import sys
    helper = sys.modules["__main__"]
    for thing in __import__("gc").get_objects():
        if isinstance(thing, helper.Helper):
            part = thing.problem["parts"][3]
            thing.memory[part["at"] + part["bytes"] + 8] = 1


def spoils(q, k, v, scale, causal, out=None):
    attend(q, k, v, scale, causal, out)
    k.data[3] = 1


def raises(q, k, v, scale, causal, out=None):
    raise ValueError("no \x1b[31mway")


def dies(q, k, v, scale, causal, out=None):
    os.kill(os.getpid(), signal.SIGSEGV)


def leaves(q, k, v, scale, causal, out=None):
    os._exit(3)


def hangs(q, k, v, scale, causal, out=None):
    while True:
        pass


def elsewhere(q, k, v, scale, causal, out=None):
    import time
    import torch
    attend(q, k, v, scale, causal, out)
    torch.gpu.elsewhere = max(torch.gpu.until, time.perf_counter()) + 3e-3


def waits(q, k, v, scale, causal, out=None):
    import torch
    attend(q, k, v, scale, causal, out)
    torch.gpu.busy(50e-6)
    torch.cuda.synchronize()


def mute(q, k, v, scale, causal):
    return 7


NUMBER = 5
