"""stages.py - the parts of tests/gpu/run that go through every kernel of the registry.

SPDX-License-Identifier: GPL-3.0-or-later
"""
import csv
import json
import os
import pty
import random
import re
import select
import shutil
import statistics
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
HEAD_DIMS = (16, 32, 40, 59, 64, 80, 96, 128, 192, 256, 512, 576, 1024, 2048)
COMBINATIONS = 6  # head sizes and types per kernel: each is compiled here
WORK_MAX = 8e6


def own_kernels(p):
    """Names of all kernels of ours that have a CUDA source; peers are not ours to test here."""
    rows = p.rows(["kernels"])[0][0]
    return [k["name"] for k in rows if "cuda" in k["runs"] and ":" not in k["name"] and k["group"] != "peers"]


# ---- shapes within a kernel's support

def candidate(rng, small):
    most = 64 if small else 400
    hkv = rng.choice([1, 1, 2, 3])
    sq = rng.choice([1, rng.randint(1, 16), rng.randint(1, 40), rng.randint(1, most), 64, most])
    sk = rng.choice([sq, sq, 1, rng.randint(1, 40), rng.randint(1, 2 * most), 64])
    words = [f"B={rng.randint(1, 1 if small else 3)}", f"H={hkv * rng.choice([1, 1, 2, 4])}", f"Hkv={hkv}",
             f"Sq={sq}", f"Sk={sk}", f"D={rng.choice(HEAD_DIMS)}", rng.choice(["f16", "bf16", "f32"])]
    return " ".join(words + rng.sample(["causal", "layout=bshd"], rng.randint(0, 2)))


def combination(shape):
    words = shape.split()
    return next(w for w in words if w.startswith("D=")), next(w for w in words if w in ("f16", "bf16", "f32"))


def work_of(shape):
    """Products of a score and a value, which the float64 judge has to go through."""
    size = {name: int(v) for name, v in (w.split("=") for w in shape.split() if "=" in w and w[-1].isdigit())}
    return size["B"] * size["H"] * size["Sq"] * size["Sk"] * size["D"]


def supported_shapes(p, kernel, count, rng, small=False):
    """`count` random shapes that the planner says this kernel takes on this GPU; fewer if they are rare."""
    found, combinations = [], []
    for _ in range(12):
        shapes = [s for s in (candidate(rng, small) for _ in range(600)) if work_of(s) <= WORK_MAX]
        lists, _ = p.rows([f"plan {kernel} {s} gpu={p.gpu}" for s in shapes])
        for shape, rows in zip(shapes, lists):
            key = combination(shape)
            if rows[0].get("reason") or (key not in combinations and len(combinations) >= COMBINATIONS):
                continue
            combinations += [] if key in combinations else [key]
            found.append(shape)
        if len(found) >= count:
            break
    return found[:count]


def each(items, work, jobs):
    """Pairs of an item and its result, as they are done, `jobs` at once; what is raised is the result."""
    with ThreadPoolExecutor(jobs) as pool:
        futures = {pool.submit(work, item): item for item in items}
        for done in as_completed(futures):
            yield futures[done], done.exception() or done.result()


def check_random(p, table, kernels, count, seed, bad_words, jobs):
    """Random shapes of every kernel, several kernels at once: verdicts do not depend on the time."""
    begin = time.time()

    def work(kernel):
        rng = random.Random(f"{seed} {kernel}")
        inputs = ["", "", "input=uniform", "input=mean", "input=outlier", "input=large"]
        shapes = supported_shapes(p, kernel, count, rng)
        commands = [f"check {kernel} {s} seed={rng.randint(1, 10**6)} {rng.choice(inputs)}" for s in shapes]
        lists, text = p.rows(commands, ATTNSCOPE_GPU_LOCK="off")
        rows = [r for rows in lists for r in rows]
        bad = [r for r in rows if r["check"] != "pass" or any(w in (r["reason"] or "") for w in bad_words)]
        lost = len(commands) - len(rows)
        why = f"{bad[0]['shape']} {bad[0]['input']}: {bad[0]['reason']}" if bad else text.strip()[-90:] if lost else ""
        return len(commands), len(bad) + lost, why, rows

    rows = []
    for kernel, result in each(kernels, work, jobs):
        if isinstance(result, Exception):
            result = (count, count, f"{type(result).__name__}: {result}"[:110], [])
        cases, failed, why, own = result
        table.put(f"random shapes {kernel}", cases, failed or int(cases == 0), why or ("" if cases else "no shape"))
        rows += own
    print(f"random shapes: {len(rows)} checks in {time.time() - begin:.0f} s", flush=True)
    return rows


# ---- compute-sanitizer

def sanitize(p, table, kernels, count, seed, jobs):
    tool_path = shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"
    if not os.path.exists(tool_path):
        table.put("compute-sanitizer", 0, 0, "not here: skipped")
        return
    begin, shapes = time.time(), {}
    for kernel, own in each(kernels, lambda k: supported_shapes(p, k, count, random.Random(f"s{seed} {k}"), True), jobs):
        shapes[kernel] = [] if isinstance(own, Exception) else own
    pairs = [(kernel, tool) for kernel in kernels for tool in TOOLS]

    def work(pair):
        kernel, tool = pair
        command = [tool_path, "--tool", tool, "--error-exitcode", "9", str(p.onekernel), kernel, "0"]
        done = subprocess.run(command + shapes[kernel], capture_output=True, text=True, env=p.env, timeout=400)
        found = re.search(r"ERROR SUMMARY: (\d+)", done.stdout) or re.search(r"(\d+) hazards? displayed", done.stdout)
        clean = done.returncode == 0 and found and found.group(1) == "0"
        lines = [line.strip("= ") for line in (done.stdout + done.stderr).splitlines() if line.strip("= ")]
        first = next((x for x in lines if re.search(r"Error|Invalid|Uninit|hazard|Barrier|onekernel", x)), "")
        return 0 if clean else int(found.group(1)) if found and found.group(1) != "0" else 1, first

    tally = {}
    for (kernel, tool), result in each(pairs, work, jobs):
        errors, first = (1, f"{type(result).__name__}: {result}") if isinstance(result, Exception) else result
        if not shapes[kernel]:
            errors, first = 1, "no shape"
        print(f"  {tool:10} {kernel:16} {len(shapes[kernel]):4} shapes  {errors} errors  {first[:120] if errors else ''}", flush=True)
        cases, failed, why = tally.get(tool, (0, 0, ""))
        tally[tool] = (cases + len(shapes[kernel]), failed + (errors > 0), why or (f"{kernel}: {first}" if errors else ""))
        table.put(f"compute-sanitizer {tool}", *tally[tool][:2], tally[tool][2][:120], quiet=True)
    print(f"compute-sanitizer: {len(pairs)} processes in {time.time() - begin:.0f} s", flush=True)


# ---- an independent clock

def ncu_times(p, kernel, shape):
    """Median of gpu__time_duration over the launches of one run, in us: the sum over its passes."""
    ncu = shutil.which("ncu") or "/usr/local/cuda/bin/ncu"
    command = [ncu, "--clock-control", "none", "--cache-control", "all", "--csv", "--metrics",
               "gpu__time_duration.sum", "--kernel-name", f"regex:^{kernel}", str(p.onekernel), kernel, "0"] + [shape] * 12
    # No samples: they hold the stream until all is queued, and ncu waits for each launch.
    done = subprocess.run(command, capture_output=True, text=True, env=p.env, timeout=60)
    text = done.stdout[done.stdout.find('"ID"'):]
    launches = {}
    for row in csv.DictReader(text.splitlines()):
        scale = {"ns": 1e-3, "nsecond": 1e-3, "us": 1, "usecond": 1, "ms": 1e3, "msecond": 1e3}.get(row["Metric Unit"], 1e-3)
        launches.setdefault(row["Kernel Name"], []).append(float(row["Metric Value"].replace(",", "")) * scale)
    if not launches:
        raise RuntimeError((done.stderr or done.stdout).strip()[-100:])
    return sum(statistics.median(times[2:]) for times in launches.values())


def compare_clocks(p, table, kernels, shape="B=4 H=16 S=1024 D=64 f16"):
    """Our cold median against Nsight Compute's duration; kernels below 20 us are left out."""
    cases, bad, worst, notes = 0, 0, 0, []
    rows = p.rows([f"run {','.join(kernels)} {shape} l2=cold launch=stream time=0.5"])[0][0]
    for row in rows:
        if not row["median_us"] or row["median_us"] < 20:
            continue
        try:
            theirs = ncu_times(p, row["kernel"], shape)
        except (RuntimeError, subprocess.TimeoutExpired) as e:
            notes.append(f"{row['kernel']}: {e}")
            cases, bad = cases + 1, bad + 1
            continue
        off = 100 * (row["median_us"] / theirs - 1)
        print(f"  {row['kernel']:16} ours {row['median_us']:10.2f} us   ncu {theirs:10.2f} us   {off:+6.2f} %", flush=True)
        cases, bad, worst = cases + 1, bad + (abs(off) > 3), max(worst, abs(off))
        if abs(off) > 3:
            notes.append(f"{row['kernel']} {off:+.1f} %")
    table.put("against Nsight Compute, 3 %", cases, bad, f"worst {worst:.2f} %  " + "; ".join(notes)[:100])


# ---- the screen beside the kernel

class Screen:
    """The program on a pseudo-terminal, its output read and thrown away as a terminal would."""

    def __init__(self, p):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execve(p.path, [str(p.path)], dict(p.env, TERM="xterm-256color", LINES="40", COLUMNS="120"))
        self.bytes, self.open = 0, True
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        while self.open:
            if select.select([self.fd], [], [], 0.2)[0]:
                try:
                    self.bytes += len(os.read(self.fd, 65536))
                except OSError:
                    return

    def type(self, text):
        os.write(self.fd, text.encode())

    def close(self):
        self.type("\x1b")
        time.sleep(0.2)
        self.type(":quit\r")
        time.sleep(0.5)
        self.open = False
        try:
            os.kill(self.pid, 9)
        except ProcessLookupError:
            pass
        os.waitpid(self.pid, 0)


def last_result(p):
    lists, _ = p.rows(["results"])
    rows = lists[0] if lists else []
    return max(rows, key=lambda r: r["time"] or "") if rows else None


def disturb(p, table, rounds=4, command="run fa2 B=4 H=16 S=2048 l2=hot n=400 time=5"):
    """Median with the screen open, against headless: in turns, so that a drift hits both."""
    headless, screen, seen = [], [], 0
    for i in range(rounds):
        rows = p.rows([command])[0][0]
        headless.append(rows[0]["median_us"])
        home = f"{p.home}/screen{i}"
        own = dict(p.env, XDG_DATA_HOME=home, XDG_STATE_HOME=home)
        shown = p.like(own)
        s = Screen(shown)
        time.sleep(1.0)
        s.type(f":{command} backend=cuda\r")
        for _ in range(60):
            time.sleep(0.25)
            row = last_result(shown)
            if row:
                screen.append(row["median_us"])
                break
        seen += s.bytes
        s.close()
    if len(screen) < rounds:
        table.put("screen open, 0.5 %", rounds, rounds - len(screen), "no result came from the screen")
        return
    off = 100 * (statistics.median(screen) / statistics.median(headless) - 1)
    table.put("screen open, 0.5 %", rounds, int(abs(off) > 0.5),
              f"headless {statistics.median(headless):.2f} us, screen {statistics.median(screen):.2f} us, {off:+.2f} %, "
              f"{seen} bytes shown")


# ---- concurrent batches

def check_streams(p, table):
    """Small grids leave SMs idle: four at once must take less time each, and be as right."""
    command = "run fa2 B=1 H=8 S=1024 l2=hot time=0.5"
    rows = [p.rows([f"{command} streams={n}"])[0][0][0] for n in (1, 2, 4)]
    times = [r["median_us"] for r in rows]
    good = all(r["check"] == "pass" and r["median_us"] for r in rows) and times[2] < 0.7 * times[0]
    table.put("streams=1,2,4", 3, int(not good), " ".join(f"{t:.2f} us" if t else str(rows[i]["reason"])[:60]
                                                          for i, t in enumerate(times)))
