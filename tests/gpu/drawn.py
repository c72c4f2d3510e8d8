"""drawn.py - shapes drawn by chance for kernels with their default parameters, at head sizes whose code ships: for scripts whose
programs are packed with shipped texts (counters.pack_texts) and compile nothing where the GPU is.

SPDX-License-Identifier: GPL-3.0-or-later
"""
import functools
import importlib.machinery
import importlib.util
import random
import shutil
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE))
import stages  # noqa: E402

DTYPES = ("f16", "bf16", "f32")
INPUTS = ("", "", "input=uniform", "input=mean", "input=outlier", "input=large")


def script(name):
    """A script beside this one, as a module."""
    loader = importlib.machinery.SourceFileLoader(f"gpu_{name}", str(HERE / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


@functools.cache
def shipped():
    """(kernel, dtype) -> (descriptor, its shipped head sizes, keys of their texts); default parameters, in the ladder's order."""
    _, ptx = script("counters").tools()
    found = {}
    for key, (k, _, _) in ptx.wanted_texts().items():
        usual = key[3] == k.params_text(k.defaults(key[1], int(key[2])))
        if k.name != "cublas" and usual and (k.arch or key[4] == "sm_80"):
            _, dims, keys = found.setdefault((k.name, key[1]), (k, [], []))
            dims.append(int(key[2]))
            keys.append(key)
    return found


@functools.cache
def hashes():
    """kernel -> hash of its code as it is here"""
    _, ptx = script("counters").tools()
    return {key[0]: digest for key, (_, _, _, digest) in ptx.ptxas.wanted_rows().items()}


def pack_all(folder, build, only=()):
    """Programs of BUILD, and the shipped text of every kernel, or of these, for each type and head size; how many."""
    keys = [key for (name, _), (_, _, keys) in shipped().items() for key in keys if not only or name in only]
    script("counters").pack_texts(folder, build, keys)
    return len(keys)


def plant(folder, names):
    """Kernels with a planted fault (tests/sim/faults), compiled, as those of the packed user: id -> (name, its shape)."""
    faults = script("faults")
    own, cases = {f.id: f for f in faults.planted().read_table()}, {}
    home = folder / faults.OWN
    home.mkdir(parents=True, exist_ok=True)
    for name in names:
        f = own[name]
        (home / f"{f.name}.cu").write_text(f.planted())
        faults.compile_case((f.name, f.id, f.kernel, " ".join(f.kinds), f.shape), folder)
        cases[name] = (f.name, f.shape)
    return cases


def program(folder, home):
    """The packed programs, with what plant() left in a home of their own."""
    if (folder / "home").exists():
        shutil.copytree(folder / "home", home, dirs_exist_ok=True)
    p = script("run").Program(folder.resolve(), home)
    for name in ("CACHE", "DATA", "STATE", "CONFIG"):
        p.env.pop(f"XDG_{name}_HOME")
    return p


def descriptor_of(folder, name):
    """Of a kernel that plant() wrote."""
    script("counters").tools()  # where descriptor.py is
    import descriptor
    return descriptor.parse(folder / script("faults").OWN / f"{name}.cu")


def words_of(shape):
    words = shape.split()
    s = {name: int(v) for name, v in (w.split("=") for w in words if "=" in w) if v.isdigit()}
    return {**s, "causal": int("causal" in words), "sm": 90}


def draw(rng, kernels, dtype, dims, small=False, free=False):
    """A shape that these kernels take with their default parameters, and that the judge can go through. free: of any head size up to
    the largest that ships, which is compiled where it runs."""
    import descriptor
    while True:
        words = stages.candidate(rng, small).split()
        D = rng.randint(1, max(dims)) if free else rng.choice(dims) - rng.choice((0, 0, 0, 1, 4, 8, 15))
        shape = " ".join([w for w in words if not w.startswith("D=") and w not in DTYPES] + [f"D={D}", dtype])
        words = words_of(shape)
        if stages.work_of(shape) <= stages.WORK_MAX and all(descriptor.takes(k, k.defaults(dtype, D), dtype, words) for k in kernels):
            return shape


def alike():
    """[(names, dtype, descriptors, head sizes)]: kernels that took the same of 500 shapes, so that they can share those that are drawn."""
    rng, found = random.Random(1), {}
    probes = [[w for w in stages.candidate(rng, False).split() if not w.startswith("D=") and w not in DTYPES] for _ in range(500)]
    script("counters").tools()  # where descriptor.py is
    import descriptor
    for (name, dtype), (k, dims, _) in shipped().items():
        took = tuple(descriptor.takes(k, k.defaults(dtype, D), dtype, words_of(" ".join([*words, f"D={D}"])))
                     for n, words in enumerate(probes) for D in (dims[n % len(dims)] - n % 3 * 4 - n % 2,))
        names, ks = found.setdefault((dtype, tuple(dims), took), ([], []))
        names.append(name)
        ks.append(k)
    return [(names, dtype, ks, list(dims)) for (dtype, dims, _), (names, ks) in found.items()]


def draw_all(path, cases, seed, groups, small=False, free=False):
    """A file for read(): the seed, then a line for each shape of each group (as of alike()), with a seed and a kind of inputs."""
    with path.open("w", encoding="utf-8") as f:
        print(seed, file=f)
        for names, dtype, ks, dims in groups:
            rng = random.Random(f"{seed} {names[0]} {dtype}")
            for _ in range(cases):
                print(",".join(names), dtype, f"{draw(rng, ks, dtype, dims, small, free)} seed={rng.randint(1, 10**6)} {rng.choice(INPUTS)}".strip(),
                      sep="\t", file=f)


def head_of(old, now, names):
    """Where and when a table's rows come from, when those of these kernels alone are of `now`."""
    mark = f"of {' '.join(dict.fromkeys(names))} "
    return "; ".join([*(part for part in old.split("; ") if not part.startswith(mark)), mark + now.replace("; ", ", ")])


def read(path, only):
    """(seed, {(names, dtype): shapes}) of groups with one of these kernels, or of all"""
    lines, found = path.read_text(encoding="utf-8").splitlines(), {}
    for line in lines[1:]:
        name, dtype, shape = line.split("\t")
        if not only or set(name.split(",")) & set(only):
            found.setdefault((name, dtype), []).append(shape)
    return lines[0], found
