#!/usr/bin/env python3
"""try_kernels.py - runs every CUDA kernel on a real GPU and checks it against float64.

Needs python3 and PyTorch there, nothing of attnscope: kernels are compiled and launched by what
their header comments say (tools/descriptor.py), and judged by the rule of measure/verify.h.

usage: try_kernels.py build [--arch 90] [KERNEL...]   compile cubins into .gpu/ (needs nvcc, no GPU)
       try_kernels.py run [--cases N] [--big] [KERNEL...]   check, then a table; exit 1 on a failure
       try_kernels.py time [KERNEL...]                a few timings, for orientation
       try_kernels.py race [KERNEL...]                beside PyTorch's flash backend, interleaved
       try_kernels.py three [KERNEL...]               the same at the three shapes of the ladder table
       try_kernels.py few [KERNEL...]                 small launches to run under compute-sanitizer

SPDX-License-Identifier: GPL-3.0-or-later
"""
import argparse
import ctypes
import math
import os
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True  # no litter beside the sources
sys.path.insert(0, str(ROOT / "tools"))
import descriptor  # noqa: E402

OUT = ROOT / ".gpu"
LADDER = ("naive row_full row_atomic row_online row_tile fa1_2022 qtile_seq qtile_tpq qtile_patch fa2_keys fa2 splitkv "
          "splitkv_atomic fa_scalar wmma_serial wmma_shape wmma_stages wmma_split wmma_depth fused_scalar fused_wmma_qk "
          "fused_wmma_pv fused_warp_softmax "
          "fused_dyn_smem fused_vector_io fused_cp_async fused_warp_spec half2_tile "
          "fa2_mma_plain fa2_mma_swizzle fa2_mma_async fa2_mma_rows fa2_mma_lazy fa2_mma_wide fa2_mma fa2_mma_short "
          "fa3_wgmma fa3_warpspec fa3_pingpong fa3_overlap fa3_persistent fa3_streamk decode_splitkv decode_atomic decode_paged "
          "decode_cluster decode_tma splitkv_cluster splitkv_columns splitkv_wgmma bigd_cluster bigd_mma bigd_split "
          "bigd_rows bigd_unfused").split()
ANY_ORDER = ("row_atomic",)  # sums whose order is not fixed: two runs may differ in the last bits
HEAD_DIMS = (8, 40, 59, 64, 111, 128)  # multiples of 16, of 4 and of nothing

# Parameters and head sizes beyond the defaults: (values, dtypes, head sizes).
ALL, F16_F32, F32 = ("f16", "bf16", "f32"), ("f16", "f32"), ("f32",)
VARIANTS = {
    "naive": [({"THREADS": 32}, ("f16",), (64,))],
    "row_full": [({"THREADS": 512}, F16_F32, (64,)), ({}, F32, (512, 2048, 8192))],
    "row_atomic": [({"THREADS": 512}, F16_F32, (64,)), ({}, F32, (512, 2048, 8192))],
    "row_online": [({}, F32, (512, 2048, 8192)), ({}, ("f16", "bf16"), (1024,)),
                   ({"VEC": 1}, F16_F32, (64,)), ({"VEC": 2}, F16_F32, (64, 59)),
                   ({"REDUCE": 1}, F16_F32, (64,)), ({"ACCESS": 1}, F16_F32, (64, 59)),
                   ({"VEC": 1, "REDUCE": 1, "ACCESS": 1}, F32, (64, 2048)),
                   ({"BC": 48, "THREADS": 64}, F16_F32, (64,))],
    "row_tile": [({"QUERIES": 4}, ALL, (64, 60, 8192)), ({}, F32, (512, 2048)), ({"QUERIES": 32}, F16_F32, (64, 512)),
                 ({"ASYNC": 1}, ALL, (64, 60)), ({"QCACHE": 1}, F16_F32, (64, 2048)),
                 ({"QUERIES": 1, "THREADS": 64}, F16_F32, (64,))],
    "fa1_2022": [({"BR": 4, "BC": 32}, F16_F32, (64,)), ({"BR": 64, "BC": 128}, ("f16",), (64,)),
                 ({}, F16_F32, (256,))],
    "qtile_seq": [({"MAP": 1}, F16_F32, (64, 59)), ({"BR": 32, "BC": 24, "PAD": 0}, F16_F32, (64,)),
                  ({"BR": 128, "THREADS": 128, "PAD": 1}, F16_F32, (64,))],
    "qtile_tpq": [({"TPQ": 1, "BR": 32}, ("f16",), (64,)), ({"TPQ": 16, "BR": 8}, F16_F32, (64, 59)),
                  ({"TPQ": 8, "BR": 32, "BC": 40}, F16_F32, (64,)), ({}, ("f16",), (256,))],
    "fa2": [({"BR": 16, "BC": 32}, F16_F32, (64, 59)), ({"PAD": 0, "BC": 128}, ("f16",), (64,)),
            ({"BR": 32}, F16_F32, (256,))],
    "splitkv": [({"SPLITS": 1}, F16_F32, (64,)), ({"SPLITS": 37, "BR": 16, "BC": 16}, F16_F32, (64, 59)),
                ({"SPLITS": 3, "BC": 24}, F16_F32, (64,)), ({"BR": 32}, F16_F32, (256,))],
}
VARIANTS["splitkv_atomic"] = VARIANTS["splitkv"]
for step in ("qtile_patch", "fa2_keys"):
    VARIANTS[step] = [({"BR": 32, "BC": 32}, F16_F32, (64, 40)), ({"BR": 128}, F16_F32, (64,)),
                      ({"BR": 32}, F16_F32, (256,))]
HALF = ("f16", "bf16")
VARIANTS["fa_scalar"] = [({"THREADS": 64}, F16_F32, (64,)), ({"BR": 16, "BC": 24}, F16_F32, (64, 59))]
PADDED = [({"PAD": 8}, HALF, (64, 59)), ({"PAD": 0}, HALF, (64,)), ({"BR": 128, "BC": 64, "WARPS": 8}, HALF, (64,))]
VARIANTS["wmma_serial"] = VARIANTS["wmma_stages"] = PADDED
VARIANTS["wmma_shape"] = [({"PAD": 8}, HALF, (64, 96)), ({"SHAPE": 1, "WARPS": 2}, HALF, (64, 59)),
                          ({"SHAPE": 2, "WARPS": 4}, HALF, (64,)), ({"WARPS": 4}, HALF, (64,))]
for step in ("wmma_split", "wmma_depth"):
    VARIANTS[step] = [({"PAD": 8}, HALF, (64, 59)), ({"DSPLIT": 4}, HALF, (64, 40, 8)), ({"DSPLIT": 1}, HALF, (64,)),
                      ({"DSPLIT": 4, "BC": 64}, HALF, (64, 128))]
# Not ACC=f16: sums in 16 bits are outside the rule, which is what that parameter is there to show.
FUSED = [({"STAGES": 1}, HALF, (64, 128)), ({"MINBLOCKS": 1}, ("f16",), (64,)),
         ({"BR": 16, "BC": 48}, HALF, (64, 72))]
for step in ("scalar", "wmma_qk", "wmma_pv", "warp_softmax", "dyn_smem", "vector_io"):
    VARIANTS[f"fused_{step}"] = FUSED
VARIANTS["half2_tile"] = [({}, ("f16",), (16, 32)), ({"BC": 32, "PAD": 2}, ("f16",), (32, 64)),
                          ({"STAGES": 2}, ("f16",), (32,)), ({"STAGES": 2, "PREFETCH": 1}, ("f16",), (32, 64)),
                          ({"BLOCK": 1, "BARRIER": 1}, ("f16",), (32,)), ({"BLOCK": 6, "BR": 64}, ("f16",), (32, 72))]
for step in ("cp_async", "warp_spec"):
    VARIANTS[f"fused_{step}"] = FUSED[1:] + [({"STAGES": 3}, HALF, (64,)), ({"BR": 32, "BC": 32}, HALF, (64, 128))]
for step in ("plain", "swizzle", "async"):
    VARIANTS[f"fa2_mma_{step}"] = [({}, HALF, (32, 48, 80, 96, 192, 256)), ({"BR": 16, "BC": 16}, HALF, (64, 72)),
                                   ({"BR": 128, "BC": 32}, ("f16",), (64, 112))]
VARIANTS["fa2_mma_plain"] += [({"PAD": 8}, HALF, (64, 128))]
for step in ("fa2_mma_rows", "fa2_mma_lazy", "fa2_mma_wide", "fa2_mma"):
    VARIANTS[step] = [({}, HALF, (32, 48, 80, 96, 192, 256)), ({"BC": 128}, ("f16",), (64, 128)), ({"BC": 32}, ("f16",), (128,)),
                      ({"BR": 64}, ("f16",), (64, 128, 256)), ({"BR": 32, "BC": 16}, HALF, (64, 72))]

WIDE = ({"BR": 192, "STAGES": 3}, HALF, (64, 40))
VARIANTS["fa3_wgmma"] = [({}, HALF, (32, 80, 96, 192, 256)), ({"BR": 64, "BC": 64}, HALF, (64, 128, 256)),
                         ({"BC": 176}, ("f16",), (64, 128))]
for step in ("fa3_warpspec", "fa3_pingpong", "fa3_overlap", "fa3_persistent", "fa3_streamk"):
    VARIANTS[step] = [({}, HALF, (32, 80, 96, 192, 256)), ({"BC": 64}, HALF, (128, 256)),
                      ({"BC": 80, "STAGES": 3}, ("f16",), (128,))]
    VARIANTS[step] += [WIDE] if step != "fa3_pingpong" else []
VARIANTS["decode_splitkv"] = [({}, HALF, (32, 80, 192, 256)), ({"WARPS": 8, "BLOCKS": 132}, HALF, (128,)),
                              ({"STAGES": 6, "BLOCKS": 7}, HALF, (64, 128)), ({"WARPS": 1}, ("f16",), (64,))]
VARIANTS["decode_atomic"] = VARIANTS["decode_paged"] = VARIANTS["decode_splitkv"]
VARIANTS["decode_cluster"] = [({}, HALF, (32, 80, 192, 256)), ({"CLUSTER": 16}, HALF, (64, 128)), ({"CLUSTER": 3}, HALF, (72,)),
                              ({"WARPS": 8, "BLOCKS": 128}, HALF, (128,)), ({"WARPS": 4, "STAGES": 6, "CLUSTER": 8}, HALF, (64, 128)),
                              ({"WARPS": 1, "CLUSTER": 1}, ("f16",), (64,))]
VARIANTS["splitkv_cluster"] = [({}, HALF, (32, 80, 96)), ({"BR": 64, "WARPS": 8}, HALF, (64, 128)), ({"CLUSTER": 8}, HALF, (64, 40)),
                               ({"CLUSTER": 3, "BR": 32}, HALF, (128,)), ({"WARPS": 1}, ("f16",), (64,)),
                               ({"KEYS": 16, "CLUSTER": 2}, HALF, (64, 128)), ({"WARPS": 16, "BR": 128}, HALF, (64,))]
VARIANTS["decode_tma"] = VARIANTS["decode_cluster"]
VARIANTS["splitkv_columns"] = [({}, HALF, (32, 96)), ({"WARPS": 1}, ("f16",), (64, 128)), ({"KEYS": 16}, HALF, (32, 64)),
                               ({"WARPS": 5, "KEYS": 32}, HALF, (64, 128)), ({"WARPS": 8, "KEYS": 64}, HALF, (32, 64, 128)),
                               ({"WARPS": 3, "KEYS": 64}, ("f16",), (64, 96))]
VARIANTS["splitkv_wgmma"] = [({}, HALF, (32, 80, 96)), ({"BC": 64, "GROUPS": 1}, HALF, (64, 128)), ({"BC": 64, "GROUPS": 4}, HALF, (64, 40)),
                             ({"BC": 80}, ("f16",), (64,)), ({"BC": 128, "GROUPS": 1}, HALF, (72, 128))]
VARIANTS["fa2_mma_short"] = [({}, HALF, (32, 48)), ({"BC": 256, "BR": 32}, HALF, (64, 128)), ({"BC": 128}, HALF, (32, 80)),
                             ({"BR": 16, "BC": 16}, ("f16",), (64,)), ({"BR": 128, "BC": 208}, ("f16",), (32,))]
VARIANTS["bigd_cluster"] = [({}, F32, (512, 2048, 8192)), ({"BR": 32, "THREADS": 256}, F32, (64, 512)), ({"BR": 8, "BC": 32}, F32, (64, 1024)),
                            ({"CLUSTER": 3, "BR": 8}, F32, (100,)), ({"BR": 4, "BC": 128, "CLUSTER": 2}, F32, (60, 128))]
VARIANTS["bigd_mma"] = [({}, F32, (512, 1024, 2048, 4096, 8192)), ({"THREADS": 128, "CLUSTER": 16}, F32, (2048, 8192)), ({"BR": 8, "CLUSTER": 3}, F32, (100, 60)),
                        ({"BC": 128, "CLUSTER": 5, "THREADS": 256}, F32, (64, 128)), ({"BR": 12, "CLUSTER": 2, "THREADS": 256}, F32, (64, 200)), ({"BR": 64, "BC": 16, "CLUSTER": 1}, F32, (64, 256))]
VARIANTS["bigd_split"] = [({}, HALF, (256, 320, 512, 640, 1000, 1024)), ({"BC": 32, "SLOTS": 8}, HALF, (64, 512, 1000)),
                            ({"BC": 48, "SLOTS": 5}, HALF, (128, 512, 1024))]
VARIANTS["bigd_rows"] = [({}, HALF, (256, 320, 512)), ({"BC": 32, "SLOTS": 8}, HALF, (64, 512))]
VARIANTS["bigd_unfused"] = [({}, HALF, (256, 320, 512, 1000, 1024, 2048)), ({"CLUSTER": 2}, HALF, (64, 512)), ({"CLUSTER": 4}, HALF, (200, 1024)),
                            ({"BLOCKS": 6}, HALF, (64, 512))]  # many tiles a block
for step in ("fa3_persistent", "fa3_streamk"):  # many query tiles a block
    VARIANTS[step] += [({"BLOCKS": 7}, HALF, (64, 128))]
VARIANTS["fa3_streamk"] += [({"QREG": q, "BORDER": border, "BR": 128, **more}, HALF, (32, 64, 80, 128, 192)) for q, border in ((0, 0), (1, 0), (0, 1), (1, 1))
                            for more in ({}, {"BLOCKS": 7})] + [({"BORDER": 0}, HALF, (64,)), ({"QREG": 1, "BC": 112}, HALF, (64,)),
                                                                ({"STAGES": 3}, ("f16",), (128,))]


def kernel(name):
    return descriptor.parse(ROOT / "kernels" / "cuda" / f"{name}.cu")


def cubin_path(k, values, dtype, D):
    usual = k.defaults(dtype, D)
    changed = "".join(f".{p.name}{values[p.name]}" for p in k.params if values[p.name] != usual[p.name])
    return OUT / f"{k.name}.{dtype}.d{descriptor.compiled_d(D)}{changed}.cubin"


def random_configurations(k, count=10):
    """Parameters anywhere in their ranges, as a user may set them."""
    rng = random.Random(k.name)
    out = []
    while len(out) < count:
        values = {}
        for p in k.params:
            steps = [n for n in (*range(9), 12, 24, 37, *range(16, 257, 16), 384, 512, 1024)
                     if p.lo <= n <= p.hi]
            values[p.name] = rng.choice(steps)
        dtype, D = rng.choice(k.dtypes), rng.choice((16, 33, 48, 64, 80, 96, 128, 192, 256))
        shape = {"Sq": 1, "Sk": 2000, "B": 1, "H": 1, "Hkv": 1, "D": D}
        if not descriptor.takes(k, values, dtype, shape):
            shape["Sk"] = 16  # for short sequences
        if not descriptor.takes(k, values, dtype, shape):
            continue
        env = descriptor.environment(k, values, dtype, shape)
        if max(descriptor.layout(p, env)[1] for p in k.passes) <= 200 * 1024:
            out.append((values, dtype, D))
    return out


def configurations(k, quick=False):
    """(values, dtype, D) of everything that is tried."""
    out = [(k.defaults(dtype, D), dtype, D) for dtype in k.dtypes for D in HEAD_DIMS]
    for values, dtypes, dims in VARIANTS[k.name]:
        out += [({**k.defaults(dtype, D), **values}, dtype, D) for dtype in dtypes for D in dims]
    if not quick:
        out += random_configurations(k)
    shape = {"Sq": 1, "Sk": 1, "B": 1, "H": 1, "Hkv": 1}
    return [c for c in out if descriptor.takes(k, c[0], c[1], {**shape, "D": c[2]})]


# ---- build --------------------------------------------------------------------------------------

def build(names, arch, quick=False):
    OUT.mkdir(exist_ok=True)
    nvcc = os.environ.get("NVCC", "nvcc")
    jobs = {}
    for name in names:
        k = kernel(name)
        headers = max(p.stat().st_mtime for p in (ROOT / "kernels/cuda").glob("*.cuh"))
        newest = max(headers, Path(k.path).stat().st_mtime)
        for values, dtype, D in configurations(k, quick):
            path = cubin_path(k, values, dtype, D)
            if not path.exists() or path.stat().st_mtime < newest:
                own = k.arch or arch  # what this one is for alone
                jobs[path] = [nvcc, "-std=c++17", f"-gencode=arch=compute_{own},code=sm_{own}", "-cubin", "-lineinfo",
                              "-o", str(path), *descriptor.definitions(k, values, dtype, D), k.path]

    def compile_one(command):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            print(" ".join(command), done.stderr, sep="\n")
        return done.returncode == 0

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        ok = list(pool.map(compile_one, jobs.values()))
    print(f"{sum(ok)} of {len(ok)} cubins compiled, {len(list(OUT.glob('*.cubin')))} in {OUT}")
    return all(ok)


# ---- launch, through the driver API in PyTorch's context ---------------------------------------

class AttnArgs(ctypes.Structure):
    _fields_ = [(n, ctypes.c_void_p) for n in ("q", "k", "v", "o", "lse")] + [
        ("ws", ctypes.c_void_p * 8)] + [
        (f"{n}_stride", ctypes.c_int64 * 3) for n in "qkvo"] + [("seed", ctypes.c_uint64)] + [
        (n, ctypes.c_int32) for n in ("B", "H", "Hkv", "Sq", "Sk", "D", "causal")] + [
        ("scale", ctypes.c_float)] + [
        ("table", ctypes.c_void_p), ("page", ctypes.c_int32), ("pages", ctypes.c_int32)]  # PagedArgs; none here: tests/gpu/paged


assert ctypes.sizeof(AttnArgs) == 256 and AttnArgs.table.offset == 240 and AttnArgs.q_stride.offset == 104
assert AttnArgs.scale.offset == 236

GUARD = 1024  # elements before and after each output
_modules = {}


def cuda(result):
    if result != 0:
        text = ctypes.c_char_p()
        driver.cuGetErrorString(result, ctypes.byref(text))
        raise RuntimeError(f"CUDA error {result}: {text.value.decode()}")


def function(path, entry):
    if path not in _modules:
        module = ctypes.c_void_p()
        cuda(driver.cuModuleLoadData(ctypes.byref(module), path.read_bytes()))
        _modules[path] = module
    f = ctypes.c_void_p()
    cuda(driver.cuModuleGetFunction(ctypes.byref(f), _modules[path], entry.encode()))
    return f


def tensor_map(one, env, dtype, tensor):
    """What @tma says as the 128 bytes that the copy engine reads: the launcher's cuTensorMapEncodeTiled."""
    raw = ctypes.create_string_buffer(192)
    at = -ctypes.addressof(raw) % 64
    here = (ctypes.c_char * 128).from_buffer(raw, at)
    columns = one.swizzle // 2 if one.swizzle else descriptor.whole(one.columns, env)
    box = (ctypes.c_uint * 4)(columns, descriptor.whole(one.rows, env), 1, 1)
    sides = (ctypes.c_uint64 * 4)(*reversed(tensor.shape))
    strides = (ctypes.c_uint64 * 3)(*(2 * tensor.stride(i) for i in (2, 1, 0)))
    cuda(driver.cuTensorMapEncodeTiled(here, {"f16": 6, "bf16": 9}[dtype], 4, ctypes.c_void_p(tensor.data_ptr()), sides,
                                       strides, box, (ctypes.c_uint * 4)(1, 1, 1, 1), 0,
                                       {0: 0, 32: 1, 64: 2, 128: 3}[one.swizzle], 2, 0))
    return here


class LaunchConfig(ctypes.Structure):
    """CUlaunchConfig"""
    _fields_ = [("grid", ctypes.c_uint * 3), ("block", ctypes.c_uint * 3), ("dynamic", ctypes.c_uint),
                ("stream", ctypes.c_void_p), ("attrs", ctypes.c_void_p), ("nattrs", ctypes.c_uint)]


def launch_clusters(f, grid, threads, dynamic, stream, params, cluster):
    attribute = (ctypes.c_uint * 18)(4, 0, cluster, 1, 1)  # an id, and 64 bytes from the eighth on
    config = LaunchConfig(grid=tuple(grid), block=(threads, 1, 1), dynamic=dynamic, stream=stream.value,
                          attrs=ctypes.addressof(attribute), nattrs=1)
    cuda(driver.cuLaunchKernelEx(ctypes.byref(config), f, params, None))


class Call:
    """One kernel with one shape: poisoned outputs and workspaces, launches."""

    def __init__(self, k, values, dtype, shape, tensors, layout, want_lse=True):
        self.k, self.shape = k, shape
        env = descriptor.environment(k, values, dtype, shape)
        q, self.kt, self.vt = tensors
        self.q = q
        B, H, Sq, D = (shape[n] for n in ("B", "H", "Sq", "D"))
        self.o_flat = torch.empty(B * H * Sq * D + 2 * GUARD, dtype=q.dtype, device="cuda")
        body = self.o_flat[GUARD:-GUARD]
        self.o = (body.view(B, H, Sq, D) if layout == "bhsd"
                  else body.view(B, Sq, H, D).transpose(1, 2))
        self.lse_flat = torch.empty(B * H * Sq + 2 * GUARD, dtype=torch.float32, device="cuda")
        self.lse = self.lse_flat[GUARD:-GUARD].view(B, H, Sq)
        self.ws = [torch.zeros(descriptor.whole(e, env), dtype=torch.uint8, device="cuda")
                   for _, e, _ in k.workspaces]
        a = self.args = AttnArgs()
        a.q, a.k, a.v, a.o = (t.data_ptr() for t in (q, self.kt, self.vt, self.o))
        a.lse = self.lse.data_ptr() if want_lse else None
        for n, w in enumerate(self.ws):
            a.ws[n] = w.data_ptr()
        for name, t in (("q", q), ("k", self.kt), ("v", self.vt), ("o", self.o)):
            getattr(a, f"{name}_stride")[:] = t.stride()[:3]
        for name in ("B", "H", "Hkv", "Sq", "Sk", "D", "causal"):
            setattr(a, name, shape[name])
        a.scale = shape["scale"]
        self.launches = []
        path = cubin_path(k, values, dtype, D)
        for p in k.passes:
            f = function(path, p.entry)
            dynamic = descriptor.layout(p, env)[1]
            grid = [descriptor.whole(e, env) for e in p.grid]
            if dynamic > 48 * 1024:
                cuda(driver.cuFuncSetAttribute(f, 8, dynamic))  # MAX_DYNAMIC_SHARED_SIZE_BYTES
            cluster = descriptor.whole(p.cluster, env)
            if cluster > 8:
                cuda(driver.cuFuncSetAttribute(f, 14, 1))  # NON_PORTABLE_CLUSTER_SIZE_ALLOWED
            tensors = {"Q": q, "K": self.kt, "V": self.vt, "O": self.o}
            maps = [tensor_map(t, env, dtype, tensors[t.tensor]) for t in p.tma]
            params = [ctypes.addressof(x) for x in (self.args, *maps)]
            self.launches.append((f, grid, descriptor.whole(p.threads, env), dynamic,
                                  (ctypes.c_void_p * len(params))(*params), cluster, maps))

    def poison(self):
        for t in (self.o_flat, self.lse_flat):
            t.view(torch.uint8).fill_(0xFF)  # NaN in every type
        for w, (_, _, cleared) in zip(self.ws, self.k.workspaces):
            if cleared != "once":
                w.fill_(0xFF)

    def run(self):
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        for w, (_, _, cleared) in zip(self.ws, self.k.workspaces):
            if cleared == "zero":
                w.zero_()
        for f, grid, threads, dynamic, params, cluster, _ in self.launches:
            if cluster > 1:
                launch_clusters(f, grid, threads, dynamic, stream, params, cluster)
            else:
                cuda(driver.cuLaunchKernel(f, *grid, threads, 1, 1, dynamic, stream, params, None))

    def left_clear(self):
        return not any(bool(w.any()) for w, (_, _, cleared) in zip(self.ws, self.k.workspaces) if cleared == "once")

    def guards_intact(self):
        ends = [t.view(torch.uint8) for f in (self.o_flat, self.lse_flat)
                for t in (f[:GUARD], f[-GUARD:])]
        return all(bool((t == 0xFF).all()) for t in ends)


# ---- judge --------------------------------------------------------------------------------------

def make_tensors(shape, dtype, layout, generator):
    torch_type = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32}[dtype]

    def one(heads, rows, factor):
        dims = ((shape["B"], heads, rows, shape["D"]) if layout == "bhsd"
                else (shape["B"], rows, heads, shape["D"]))
        t = torch.randn(dims, generator=generator, device="cuda", dtype=torch.float32)
        t = (t * factor).to(torch_type)
        return t if layout == "bhsd" else t.transpose(1, 2)

    return (one(shape["H"], shape["Sq"], shape.get("factor", 1.0)), one(shape["Hkv"], shape["Sk"], 1.0),
            one(shape["Hkv"], shape["Sk"], 1.0))


def attention(q, k, v, shape, compute, round_to=None, rows=None):
    """O and LSE; every step rounded to `round_to` when given. rows: the query rows in q."""
    def rounded(x):
        return x.to(round_to).to(compute) if round_to else x
    group = shape["H"] // shape["Hkv"]
    k, v = (t.to(compute).repeat_interleave(group, dim=1) for t in (k, v))
    s = rounded(q.to(compute) @ k.transpose(2, 3) * shape["scale"])
    i = torch.arange(shape["Sq"], device="cuda") if rows is None else rows
    if shape["causal"]:
        j = torch.arange(shape["Sk"], device="cuda")
        s = s.masked_fill(j[None, :] > i[:, None] + shape["Sk"] - shape["Sq"], -math.inf)
    lse = torch.logsumexp(s, dim=3)
    p = torch.exp(s - torch.where(lse.isinf(), 0.0, lse)[..., None])  # 0 in rows without keys
    return rounded(rounded(p) @ v), lse


def other_orders(q, k, v, shape, count):
    """Plain f32 again: columns and keys in other orders, powers of 2, the division at the end."""
    group = shape["H"] // shape["Hkv"]
    k, v = (t.repeat_interleave(group, dim=1) for t in (k, v))
    for n in range(count):
        order = torch.Generator("cuda").manual_seed(n)
        columns = torch.randperm(shape["D"], generator=order, device="cuda")
        keys = torch.randperm(shape["Sk"], generator=order, device="cuda")
        s = q[..., columns] @ k[..., columns].transpose(2, 3)[..., keys]
        s = s * (shape["scale"] * math.log2(math.e))
        if shape["causal"]:
            i = torch.arange(shape["Sq"], device="cuda")[:, None]
            s = s.masked_fill(keys[None, :] > i + shape["Sk"] - shape["Sq"], -math.inf)
        top = s.amax(dim=3, keepdim=True)
        p = torch.exp2(s - torch.where(top.isinf(), 0.0, top))
        yield (p @ v[:, :, keys]) / p.sum(dim=3, keepdim=True).clamp(min=1e-30)


def rms(x):
    return float(x.double().square().mean().sqrt())


def judge(out, lse, ref, ref_lse, plain, dtype):
    """(sentence or None, rms ratio that the rule limits)."""
    err = (out.double() - ref).abs()
    if not bool(torch.isfinite(out.double()).all()):
        return "NaN or Inf, or an element never written", math.inf
    # The error of one order of the sums may be small by luck: the worst of several counts.
    plain_rms = max(rms(x.double() - ref) for x in plain)
    plain_max = max(float((x.double() - ref).abs().max()) for x in plain)
    n = ref.numel()
    rows = n // ref.shape[3]
    if dtype == "f32":
        # With a few rows the error is that of a few scores: an order of sums can be lucky in all.
        rms_limit = (2.5 if rows >= 64 else 5) * plain_rms + 2.0**-22 * rms(ref)
        max_limit = (3 if rows >= 64 else 6) * plain_max + 2.0**-21 * float(ref.abs().max())
        ratio = rms(err) / max(plain_rms, 2.0**-26 * rms(ref), 1e-30)
    else:
        roundoff = {"f16": 2.0**-11, "bf16": 2.0**-8}[dtype]
        rounding = rms(ref.to(out.dtype).double() - ref)
        rms_limit = 1.6 * rounding + (roundoff * rms(ref) if n < 4096 else 0)
        max_limit = 2 * plain_max + roundoff * float(ref.abs().max())
        ratio = rms(err) / max(rounding, 1e-30)
    if rms(err) > rms_limit:
        return f"rms {rms(err):.3e} over its limit {rms_limit:.3e}", ratio
    if float(err.max()) > max_limit:
        return f"max {float(err.max()):.3e} over its limit {max_limit:.3e}", ratio
    if lse is not None:
        same_inf = torch.equal(lse.isinf(), ref_lse.isinf())
        off = (lse.double() - ref_lse).nan_to_num(0, 0, 0).abs().max()
        if not same_inf or bool(lse.isnan().any()) or float(off) > 3e-5 * (1 + float(
                ref_lse.nan_to_num(0, 0, 0).abs().max())):
            return f"LSE off by {float(off):.3e}", ratio
    return None, ratio


def check(k, values, dtype, shape, layout, seed):
    generator = torch.Generator("cuda").manual_seed(seed)
    tensors = make_tensors(shape, dtype, layout, generator)
    call = Call(k, values, dtype, shape, tensors, layout, want_lse=seed % 4 != 3)
    call.poison()
    call.run()
    torch.cuda.synchronize()
    ref, ref_lse = attention(*tensors, shape, torch.float64)
    plain = [attention(*tensors, shape, torch.float32,
                       None if dtype == "f32" else tensors[0].dtype)[0]]
    if dtype == "f32":  # a few rows may be lucky in one order
        plain += other_orders(*tensors, shape, 8 if ref.shape[0] * ref.shape[1] * ref.shape[2] < 64
                              else 2)
    lse = call.lse if call.args.lse else None
    sentence, ratio = judge(call.o, lse, ref, ref_lse, plain, dtype)
    if not call.guards_intact():
        sentence = "wrote outside the output"
    if not call.left_clear():
        sentence = "left a workspace that is cleared once not clear"
    first = call.o.clone()
    call.poison()
    call.run()
    if not sentence and k.name not in ANY_ORDER and not torch.equal(first, call.o):
        sentence = "two runs differ"
    return sentence, ratio


FIXED = [  # Sq, Sk, causal
    (1, 1, 0), (1, 1, 1), (1, 2000, 0), (1, 777, 1), (113, 203, 0), (113, 203, 1), (203, 113, 1),
    (64, 64, 1), (65, 63, 1), (63, 65, 0), (128, 1, 1), (3, 515, 1), (1024, 5, 1), (256, 512, 1)]


def cases(rng, count, D):
    for n in range(count):
        if n < len(FIXED):
            Sq, Sk, causal = FIXED[n]
        else:
            Sq, Sk = (rng.choice((1, 7, 16, 33, 64, 100, 127, 129, 200, 255, 331)) for _ in "qk")
            causal = rng.random() < 0.6
        Hkv, group = rng.choice((1, 2, 3)), rng.choice((1, 1, 2, 4))
        if D > 512:
            Sq, Sk = min(Sq, 33), min(Sk, 255)
        yield {"B": rng.choice((1, 2, 3)), "H": Hkv * group, "Hkv": Hkv, "Sq": Sq, "Sk": Sk, "D": D,
               "causal": int(causal), "scale": D**-0.5, "factor": rng.choice((1.0, 1.0, 4.0, 0.01))}


def shape_text(shape, layout):
    return " ".join(f"{n}={shape[n]}" for n in ("B", "H", "Hkv", "Sq", "Sk", "D", "causal",
                                                 "factor")) + f" layout={layout}"


def run(names, count):
    failures, lines = 0, []
    for name in names:
        k, worst = kernel(name), {}  # dtype -> cases, failed, worst ratio
        for number, (values, dtype, D) in enumerate(configurations(k)):
            if not cubin_path(k, values, dtype, D).exists():
                continue  # built with --quick
            rng = random.Random(f"{name} {values} {dtype} {D}")
            for n, shape in enumerate(cases(rng, count, D)):
                layout = rng.choice(("bhsd", "bshd"))
                few = {**shape, "Sq": min(shape["Sq"], 16)}  # for a few queries
                if not descriptor.takes(k, values, dtype, shape) and descriptor.takes(k, values, dtype, few):
                    shape = few
                while shape["Sk"] > 1 and not descriptor.takes(k, values, dtype, shape):
                    shape["Sk"] = shape["Sk"] * 3 // 4  # for short sequences
                sentence, ratio = check(k, values, dtype, shape, layout, number * 1000 + n)
                total, failed, top = worst.get(dtype, (0, 0, 0.0))
                # Ratios of a few elements say nothing.
                if shape["B"] * shape["H"] * shape["Sq"] * D >= 4096 and shape["Sk"] > 1:
                    top = max(top, ratio)
                worst[dtype] = (total + 1, failed + bool(sentence), top)
                if sentence:
                    failures += 1
                    if failures <= 40:
                        print(f"FAIL {name} {dtype} {k.params_text(values)} "
                              f"{shape_text(shape, layout)}: {sentence}", flush=True)
        for dtype, (total, failed, top) in worst.items():
            lines.append(f"{name:<15}{dtype:<6}{total:>6}{failed:>7}{top:>12.3f}")
    print(f"{'kernel':<15}{'dtype':<6}{'cases':>6}{'failed':>7}{'worst rms':>12}"
          "   (over rounding, f32: over plain)")
    print("\n".join(lines))
    return failures == 0


# ---- beside PyTorch -----------------------------------------------------------------------------

PREFILL = [{"B": max(1, 16384 // S), "H": 16, "Hkv": 16, "Sq": S, "Sk": S, "D": D, "causal": causal}
           for D in (64, 128) for causal in (0, 1) for S in (1024, 2048, 4096, 8192, 16384)]


def timed(work, repeat):
    ends = [torch.cuda.Event(enable_timing=True) for _ in range(repeat + 1)]
    ends[0].record()
    for e in ends[1:]:
        work()
        e.record()
    return ends


THREE = [{"B": 1, "H": 8, "Hkv": 8, "Sq": 512, "Sk": 512, "D": 64, "causal": 0},
         {"B": 4, "H": 16, "Hkv": 16, "Sq": 4096, "Sk": 4096, "D": 128, "causal": 0},
         {"B": 64, "H": 24, "Hkv": 24, "Sq": 64, "Sk": 64, "D": 32, "causal": 0}]


def race(names, rounds=5, shapes=None):
    """Medians of interleaved runs, and the ratio to PyTorch's flash backend (above 1: faster)."""
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.nn.functional import scaled_dot_product_attention as sdpa
    worst = {}
    for shape in shapes or PREFILL + [{**PREFILL[2], "D": 256}, {**PREFILL[7], "D": 32}]:
        shape = {**shape, "scale": shape["D"]**-0.5}
        tensors = make_tensors(shape, "f16", "bhsd", torch.Generator("cuda").manual_seed(7))

        def torch_flash():
            with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
                sdpa(*tensors, is_causal=bool(shape["causal"]))
        racers = {"torch:flash": torch_flash}
        for name in names:
            k = kernel(name)
            usual = k.defaults("f16", shape["D"])
            variants = [usual] + [{**usual, **v} for v, dtypes, dims in VARIANTS[name]
                                         if "f16" in dtypes and shape["D"] in dims and v]
            for values in variants:
                if cubin_path(k, values, "f16", shape["D"]).exists():
                    changed = " ".join(f"{p.name}={values[p.name]}" for p in k.params
                                       if values[p.name] != usual[p.name])
                    racers[f"{name} {changed}"] = Call(k, values, "f16", shape, tensors, "bhsd").run
        samples = {n: [] for n in racers}
        for n, work in racers.items():
            work()
        for _ in range(rounds):
            for n, work in racers.items():
                samples[n].append(timed(work, 4))
        torch.cuda.synchronize()
        flops = 4 * shape["B"] * shape["H"] * shape["Sq"] * shape["Sk"] * shape["D"]
        flops *= 0.5 if shape["causal"] else 1
        median = {n: sorted(a.elapsed_time(b) for e in ends for a, b in zip(e, e[1:]))[rounds * 2]
                  for n, ends in samples.items()}
        base = median["torch:flash"]
        print(f"S={shape['Sq']} D={shape['D']} causal={shape['causal']} B={shape['B']} H={shape['H']}: torch:flash "
              f"{base * 1e3:.1f} us {flops / base / 1e9:.0f} TFLOP/s", flush=True)
        for n, t in median.items():
            if n != "torch:flash":
                worst.setdefault(n, []).append(base / t)
                print(f"    {n:<28}{t * 1e3:>10.1f} us {flops / t / 1e9:>6.0f} TFLOP/s {base / t:>7.3f}")
    for n, ratios in worst.items():
        print(f"{n:<32} over {len(ratios):>2} shapes: worst {min(ratios):.3f} "
              f"geometric mean {math.exp(sum(map(math.log, ratios)) / len(ratios)):.3f}")
    return True


# ---- offsets past 2^31 elements, grids past 65535 -----------------------------------------------

def big(names):
    ok = True
    shapes = [("many rows of Q", {"H": 40, "Hkv": 40, "Sq": 1 << 20, "Sk": 7}),
              ("many rows of K", {"H": 40, "Hkv": 40, "Sq": 2, "Sk": 1 << 20})]
    for name in names:
        k = kernel(name)
        for what, part in shapes:
            shape = {"B": 1, "D": 64, "causal": 0, "scale": 0.125, **part}
            if "splitkv" in name and shape["Sq"] > 2:
                continue  # 86 GB of partial outputs
            if name in ("row_full", "row_atomic") and shape["Sk"] > 50000:
                continue  # a score row does not fit
            generator = torch.Generator("cuda").manual_seed(1)
            tensors = make_tensors(shape, "f16", "bhsd", generator)
            call = Call(k, k.defaults("f16", shape["D"]), "f16", shape, tensors, "bhsd")
            call.poison()
            call.run()
            torch.cuda.synchronize()
            rows = torch.tensor([0, 1, shape["Sq"] // 2, shape["Sq"] - 1], device="cuda")
            worst = 0.0
            for h in (0, 33, shape["H"] - 1):
                part = {**shape, "H": 1, "Hkv": 1}
                q, kt, vt = (t[:, h:h + 1] for t in tensors)
                ref, _ = attention(q[:, :, rows], kt, vt, part, torch.float64, rows=rows)
                got = call.o[:, h:h + 1][:, :, rows].double()
                worst = max(worst, rms(got - ref) / rms(ref.half().double() - ref))
            finite = bool(torch.isfinite(call.o).all())
            good = finite and worst < 2.2 and call.guards_intact()
            ok = ok and good
            print(f"{'ok  ' if good else 'FAIL'} {name} {what}: rms / rounding {worst:.3f}", flush=True)
            del call, tensors
            torch.cuda.empty_cache()
    return ok


# ---- time, and a few launches for the sanitizer -------------------------------------------------

def time_one(k, values, dtype, B, H, S, D):
    shape = {"B": B, "H": H, "Hkv": H, "Sq": S, "Sk": S, "D": D, "causal": 0, "scale": D**-0.5}
    tensors = make_tensors(shape, dtype, "bhsd", torch.Generator("cuda").manual_seed(1))
    call = Call(k, values, dtype, shape, tensors, "bhsd")
    times = []
    for n in range(12):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in "be")
        torch.cuda._sleep(1 << 20)  # busy while the rest is queued: no waiting for Python in between
        begin.record()
        call.run()
        end.record()
        torch.cuda.synchronize()
        if n >= 3:
            times.append(begin.elapsed_time(end) * 1000)
    us = sorted(times)[4]
    print(f"{k.name:<15}{dtype:<5}B={B} H={H} S={S} D={D:<5}{us:>10.1f} us"
          f"{4e-6 * B * H * S * S * D / us:>8.2f} TFLOP/s  {k.params_text(values)}", flush=True)


def time_all(names):
    """Launch included; clocks as they come."""
    for name in names:
        k = kernel(name)
        for values, dtype, D in configurations(k):
            if D == 64 and dtype != "bf16":
                time_one(k, values, dtype, 1, 8, 1024, 64)
        for dtype in ("f16", "f32"):
            time_one(k, k.defaults(dtype, 64), dtype, 4, 16, 2048, 64)
            time_one(k, k.defaults(dtype, 128), dtype, 4, 16, 2048, 128)
        if name.startswith("row"):
            for H, S, D in ((4, 64, 512), (4, 64, 2048), (1, 16, 8192)):
                time_one(k, k.defaults("f32", D), "f32", 1, H, S, D)
    return True


def few(names):
    ok = True
    for name in names:
        k = kernel(name)
        for number, (values, dtype, D) in enumerate(configurations(k)):
            if not cubin_path(k, values, dtype, D).exists():
                continue  # built with --quick
            if D not in (59, 64) or dtype != "f16" and values == k.defaults(dtype, D):
                continue
            shape = {"B": 1, "H": 2, "Hkv": 1, "Sq": 13 if name.startswith("decode") else 70, "Sk": 133, "D": D, "causal": number % 2,
                     "scale": D**-0.5}
            sentence, _ = check(k, values, dtype, shape, "bshd", number)
            ok = ok and not sentence
            if sentence:
                print(f"FAIL {name} {dtype} {k.params_text(values)}: {sentence}")
    print("few: all pass" if ok else "few: failures")
    return ok


def main():
    p = argparse.ArgumentParser()
    p.add_argument("mode", choices=("build", "run", "time", "race", "three", "few"))
    p.add_argument("names", nargs="*", metavar="KERNEL")
    p.add_argument("--arch", default="90")
    p.add_argument("--cases", type=int, default=44)
    p.add_argument("--big", action="store_true")
    p.add_argument("--quick", action="store_true", help="build: no random parameters")
    o = p.parse_args()
    names = o.names or LADDER
    if o.mode == "build":
        return 0 if build(names, o.arch, o.quick) else 1
    global torch, driver
    import torch
    driver = ctypes.CDLL("libcuda.so.1")
    driver.cuGetErrorString.argtypes = [ctypes.c_int, ctypes.POINTER(ctypes.c_char_p)]
    torch.zeros(1, device="cuda")  # makes PyTorch's context current
    torch.backends.cuda.matmul.allow_tf32 = False
    if o.mode == "time":
        return 0 if time_all(names) else 1
    if o.mode == "race":
        return 0 if race(names) else 1
    if o.mode == "three":
        return 0 if race(names, 9, THREE) else 1
    if o.mode == "few":
        return 0 if few(names) else 1
    ok = run(names, o.cases)
    if o.big:
        ok = big(names) and ok
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
