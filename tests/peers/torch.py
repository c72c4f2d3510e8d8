"""torch.py - as much of PyTorch as kernels/peers/helper.py uses, over plain memory and a virtual GPU clock.

f32 only. $STUB_TORCH scripts it, words between commas: refuse=flash, other=flash (it would run another
backend), fault, nograph, nogpu, us=50 (a call's time on the GPU).

SPDX-License-Identifier: GPL-3.0-or-later
"""
import contextlib
import enum
import math
import os
import sys
import time
import types
import warnings

__version__ = "9.9.stub"
SIZES = {"float16": 2, "bfloat16": 2, "float32": 4, "uint8": 1, "int32": 4}
FORMATS = {"float16": "H", "bfloat16": "H", "float32": "f", "uint8": "B", "int32": "i"}
float16, bfloat16, float32, uint8, int32 = SIZES


def word(key):
    for w in os.environ.get("STUB_TORCH", "").split(","):
        name, _, value = w.partition("=")
        if name == key:
            return value or "yes"
    return None


class Tensor:
    def __init__(self, memory, dtype, shape, strides=None, is_cuda=False):
        self.memory, self.dtype, self.shape, self.is_cuda = memory, dtype, tuple(shape), is_cuda
        self.strides = tuple(strides or [1])
        self.data = memory.cast("B").cast(FORMATS[dtype])

    def as_strided(self, shape, strides):
        return Tensor(self.memory, self.dtype, shape, strides, self.is_cuda)

    def view(self, dtype):
        return Tensor(self.memory, dtype, [len(self.memory.cast("B")) // SIZES[dtype]], None, self.is_cuda)

    def __getitem__(self, part):
        return Tensor(self.memory.cast("B")[part.start:part.stop], self.dtype, [part.stop - part.start], None, self.is_cuda)

    def __len__(self):
        return len(self.data)

    def to(self, place):
        return Tensor(memoryview(bytearray(self.memory)), self.dtype, self.shape, self.strides, place != "cpu")

    def clone(self):
        gpu.catch_up()
        return Tensor(memoryview(bytearray(self.memory)), self.dtype, self.shape, self.strides, self.is_cuda)

    def at(self, *index):
        return sum(i * s for i, s in zip(index, self.strides))

    def copy_(self, other):
        gpu.catch_up()  # the stream's order
        if len(self.shape) == 1:
            self.data[:] = other.data
            return
        for b in range(self.shape[0]):
            for h in range(self.shape[1]):
                for s in range(self.shape[2]):
                    for d in range(self.shape[3]):
                        self.data[self.at(b, h, s, d)] = other.data[other.at(b, h, s, d)]

    def zero_(self):
        gpu.busy(30e-6)

    def sum(self):
        gpu.busy(30e-6)


def frombuffer(memory, dtype, count, offset):
    return Tensor(memoryview(memory)[offset:offset + count * SIZES[dtype]], dtype, [count])


def empty(n, dtype, device):
    size = min(n, 1 << 20) * SIZES[dtype]  # the sweep's bytes are nobody's
    return Tensor(memoryview(bytearray(size)), dtype, [n], None, device != "cpu")


def zeros(n, dtype, device):
    gpu.busy(30e-6)
    return empty(n, dtype, device)


def new_tensor(shape, like):
    b, h, s, d = shape
    return Tensor(memoryview(bytearray(4 * b * h * s * d)), like.dtype, shape, [h * s * d, s * d, d, 1], like.is_cuda)


def equal(a, b):
    return bytes(a.memory) == bytes(b.memory)


def set_num_threads(n):
    assert n >= 1


def set_grad_enabled(on):
    assert not on


# ---- a GPU whose queue is a time ----

class Gpu:
    until = elsewhere = 0.0  # of the current stream, of another
    recording = False
    recorded, pending = [], []  # what a graph does; what replays have still to do: when somebody waits

    def catch_up(self):
        while self.pending:
            self.pending.pop(0)()

    def busy(self, seconds):
        if not self.recording:
            self.until = max(self.until, time.perf_counter()) + seconds


gpu = Gpu()


def wait_until(when):
    while (left := when - time.perf_counter()) > 0:
        time.sleep(left)


class Event:
    def __init__(self, enable_timing=False):
        self.time = None

    def record(self):
        gpu.busy(1e-6)
        self.time = max(gpu.until, time.perf_counter())

    def query(self):
        return time.perf_counter() >= self.time

    def synchronize(self):
        wait_until(self.time)

    def elapsed_time(self, end):
        return (end.time - self.time) * 1e3


class CUDAGraph:
    seconds = 0.0

    def replay(self):
        gpu.busy(self.seconds)
        gpu.pending[:] = self.work


@contextlib.contextmanager
def record_graph(graph):
    if word("nograph"):
        raise RuntimeError("operation not permitted when stream is capturing")
    gpu.recording, gpu.calls, gpu.recorded = True, 0, []
    try:
        yield
    finally:
        gpu.recording = False
    graph.seconds, graph.work = gpu.calls * call_s(), gpu.recorded


def call_s():
    return float(word("us") or 50) * 1e-6


cuda = types.ModuleType("torch.cuda")
cuda.is_available = lambda: not word("nogpu")
cuda.set_device = lambda i: None


def synchronize():
    gpu.catch_up()
    wait_until(max(gpu.until, gpu.elsewhere))


cuda.synchronize = synchronize
cuda._sleep = lambda cycles: gpu.busy(cycles / 2e9)
cuda.Event, cuda.CUDAGraph, cuda.graph = Event, CUDAGraph, record_graph


# ---- attention ----

class SDPBackend(enum.Enum):
    MATH, FLASH_ATTENTION, EFFICIENT_ATTENTION, CUDNN_ATTENTION = 0, 1, 2, 3


allowed = []


@contextlib.contextmanager
def sdpa_kernel(backends):
    allowed[:] = backends
    yield
    allowed.clear()


def refuse():
    name = word("refuse")
    if name and allowed and allowed[0].name.lower().startswith(name):
        warnings.warn("Memory efficient kernel not used because: (Triggered internally at x.cpp:1.)")
        warnings.warn("Memory Efficient attention has been runtime disabled. (Triggered internally at x.cpp:2.)")
        warnings.warn("Flash attention kernel not used because: (Triggered internally at x.cpp:3.)")
        warnings.warn("Flash attention requires a better day. (Triggered internally at x.cpp:4.)")
        raise RuntimeError("No available kernel. Aborting execution.")


def attention(q, k, v, attn_mask=None, is_causal=False, scale=None, enable_gqa=False):
    assert len(allowed) == 1, "one backend and no other"
    refuse()
    if word("fault"):
        raise RuntimeError("CUDA error: an illegal memory access was encountered")
    if gpu.recording:
        gpu.calls += 1
    gpu.busy(call_s())
    out, h_, sq, sk = new_tensor(q.shape, q), q.shape[1], q.shape[2], k.shape[2]
    assert enable_gqa == (h_ != k.shape[1]) and not (is_causal and sq != sk)
    group = h_ // k.shape[1]
    fill = lambda: attend(out, q, k, v, is_causal or attn_mask, scale, group)
    if gpu.recording:
        gpu.recorded.append(fill)
    else:
        fill()
    return out


def attend(out, q, k, v, causal, scale, group):
    b_, h_, sq, d_ = q.shape
    sk = k.shape[2]
    for b in range(b_):
        for h in range(h_):
            for i in range(sq):
                n = sk if not causal else max(0, min(sk, i + sk - sq + 1))
                scores = [scale * sum(q.data[q.at(b, h, i, d)] * k.data[k.at(b, h // group, j, d)] for d in range(d_))
                          for j in range(n)]
                top = max(scores, default=0)
                p = [math.exp(x - top) for x in scores]
                for d in range(d_):
                    out.data[out.at(b, h, i, d)] = sum(
                        x * v.data[v.at(b, h // group, j, d)] for j, x in enumerate(p)) / sum(p) if n else 0.0


def _fused_sdp_choice(*_, **__):
    return 0 if word("other") else allowed[0].value


def module(name, **members):
    made = sys.modules[name] = types.ModuleType(name)
    made.__dict__.update(members)
    return made


nn = module("torch.nn")
nn.functional = module("torch.nn.functional", scaled_dot_product_attention=attention)
nn.attention = module("torch.nn.attention", SDPBackend=SDPBackend, sdpa_kernel=sdpa_kernel)
nn.attention.bias = module("torch.nn.attention.bias", causal_lower_right=lambda sq, sk: ("lower right", sq, sk))
backends = types.SimpleNamespace(cudnn=types.SimpleNamespace(version=lambda: 91900))
