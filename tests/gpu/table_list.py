"""table_list.py - the tables of tests/gpu/tables. Each is a function that asks for rows and fills a Table; its
place in TABLES gives it a name and says about how long it takes on an H200.

SPDX-License-Identifier: GPL-3.0-or-later
"""
import re

import stages
from table_rows import commands_of, figure, gathered, interval, markdown, share, times

PEERS = ["cublas", "cudnn", "torch:flash", "torch:cudnn", "torch:efficient", "torch:math"]


class Table:
    """What a table function fills in; text() prints as much of it as there is."""

    def __init__(self, name):
        self.name, self.title, self.heading, self.lines, self.rows, self.notes, self.seen = name, "", [], [], [], [], []

    def text(self):
        parts = [f"## {self.name}: {self.title}", ""]
        if self.lines:
            parts += [markdown(self.heading, self.lines), ""]
        reasons = gathered(self.rows)
        parts += ["Not measured:"] + reasons + [""] if reasons else []
        parts += [f"{n}." for n in self.notes] + [""] if self.notes else []
        return "\n".join(parts + ["Commands:", ""] + commands_of(self.seen) + ["", ""])


def begin(p, table, title, heading):
    table.title, table.heading = title, heading
    p.seen, p.messages = table.seen, table.notes  # noted as they come, for a table that is stopped


def own(p):
    if not hasattr(p, "own_names"):
        rows = p.ask("kernels", measured=False)
        p.own_names = [k["name"] for k in rows if "cuda" in k["runs"] and ":" not in k["name"] and k["group"] != "peers"]
    return p.own_names


def grid(p, table, kernels, shapes, cell=times, verb="run"):
    """Kernels down, shapes across: `shapes` maps a column's heading to the words of its shape. Kernels that take
    none of them have no line, only their reason."""
    table.heading = ["kernel"] + list(shapes)
    found = {}
    for title, words in shapes.items():
        rows = p.ask(f"{verb} {','.join(kernels)} {words} time={p.args.time}")
        table.rows += rows
        for r in rows:
            found[r["kernel"], title] = r
        ran = [k for k in kernels if any(found.get((k, t), {}).get("median_us") is not None for t in shapes)]
        table.lines = [[k] + [cell(found.get((k, t))) for t in shapes] for k in ran]
    return found


# ---- the sequential report

def short_of(p, table, dtype):
    lengths = (4, 16, 64, 128, 256, 512)
    begin(p, table, f"every kernel at B=1 H=1 D=64 {dtype}: median us (spread, error ratio)", [])
    grid(p, table, own(p) + PEERS, {f"S={s}": f"B=1 H=1 S={s} D=64 {dtype}" for s in lengths})


def short(p, table):
    """Every kernel and peer at S=4..512, B=H=1, D=64 f16."""
    short_of(p, table, "f16")


def short_f32(p, table):
    """The same in f32."""
    short_of(p, table, "f32")


def heads(p, table):
    """Batches and heads at S=128: what more blocks change."""
    pairs = ((1, 1), (1, 4), (4, 1), (4, 4), (8, 4), (16, 8), (32, 16))
    kernels = ["fa1_2022", "qtile_seq", "qtile_tpq", "splitkv", "fa2", "torch:flash", "torch:math"]
    begin(p, table, "batches and heads at S=128 D=64 f16: median us (spread, error ratio)", [])
    grid(p, table, kernels, {f"B={b} H={h}": f"B={b} H={h} S=128 D=64 f16" for b, h in pairs})


# ---- the report on large heads

LARGE = {"D=512": "B=1 H=4 S=64 D=512 f32", "D=2048": "B=1 H=4 S=64 D=2048 f32",
         "D=4096": "B=1 H=2 S=32 D=4096 f32", "D=8192": "B=1 H=1 S=16 D=8192 f32"}


def large(p, table):
    """Every kernel and peer at the shapes of the report on large heads, f32."""
    begin(p, table, "large heads, " + "; ".join(LARGE.values()) + ": median us (spread, error ratio)", [])
    grid(p, table, own(p) + PEERS, LARGE)


def entries_of(kernel, changes):
    """What compare takes for a kernel and changes of its parameters; no change is the kernel as it comes."""
    return [kernel + "".join(f"@{k}={v}" for k, v in change.items()) for change in changes.values()]


def variants(p, table, kernel, base, named, shapes, others=()):
    """One compare per shape: the kernel, whose defaults `base` repeats, against each change. Lines of time ratios with
    their interval: above 1, the change costs."""
    table.heading = ["variant"] + list(shapes)
    specs = {"base: " + " ".join(base): {}, **named}
    lines = {name: [name] for name in list(specs) + list(others)}
    for words in shapes.values():
        full = {name: {**dict(w.split("=") for w in base), **change} for name, change in specs.items()}
        entries = entries_of(kernel, specs)
        rows = p.ask(f"compare {','.join(entries + list(others))} {words} time={p.args.time}")
        table.rows += rows
        for name in lines:
            wanted = {f"{k}={v}" for k, v in full.get(name, {}).items()}
            row = next((r for r in rows if r["kernel"] == (kernel if name in specs else name)
                        and wanted <= set(r["params"].split())), None)
            bad = "" if not row or row["check"] in ("pass", None) else f" **{row['check']}**"
            lines[name].append(f"{times(row)}" if row and row["verdict"] == "base" else interval(row) + bad)
        table.lines += [line for line in lines.values() if line not in table.lines and len(line) == len(shapes) + 1]


def large_ablation(p, table):
    """row_online: each claimed contribution taken away, alone and together; a time ratio with its interval."""
    begin(p, table, "row_online without each of its parts, f32: time over the base's [95 % interval]; the base's line "
          "has median us (spread, error ratio)", [])
    variants(p, table, "row_online", ["VEC=4", "REDUCE=warp", "ACCESS=coalesced", "BC=64"],
             {"VEC=1": {"VEC": 1}, "VEC=2": {"VEC": 2}, "REDUCE=block": {"REDUCE": "block"},
              "ACCESS=strided": {"ACCESS": "strided"}, "VEC=1 REDUCE=block": {"VEC": 1, "REDUCE": "block"},
              "VEC=1 ACCESS=strided": {"VEC": 1, "ACCESS": "strided"},
              "all three": {"VEC": 1, "REDUCE": "block", "ACCESS": "strided"},
              "no tiles: BC=1024": {"BC": 1024}, "tiles of 16: BC=16": {"BC": 16}}, LARGE, ["row_full", "row_atomic"])


def large_tile(p, table):
    """row_tile: the attempts that the report gave up, each as a ratio to the default."""
    begin(p, table, "row_tile's parameters, f32: time over the base's [95 % interval]; the base's line has median us "
          "(spread, error ratio)", [])
    variants(p, table, "row_tile", ["QUERIES=16", "QCACHE=smem", "ASYNC=no", "CONVERT=no"],
             {"QUERIES=4": {"QUERIES": 4}, "QUERIES=8": {"QUERIES": 8}, "QUERIES=32": {"QUERIES": 32},
              "QCACHE=none": {"QCACHE": "none"}, "ASYNC=yes": {"ASYNC": "yes"}, "CONVERT=f16": {"CONVERT": "f16"}},
             LARGE, ["row_online"])


def large_batch(p, table):
    """16 to 1024 queries against 64 keys at D=2048 f32, as the report proposes."""
    begin(p, table, "16 to 1024 queries, Sk=64 B=H=1 D=2048 f32: median us (spread, error ratio)", [])
    shapes = {f"Sq={n}": f"B=1 H=1 Sq={n} Sk=64 D=2048 f32" for n in (16, 32, 64, 128, 256, 512, 1024)}
    grid(p, table, ["row_online", "row_tile", "row_full", "torch:math", "torch:efficient", "cublas"], shapes, verb="compare")


# ---- small tiles

HALF2 = {"BC=24 PAD=1": {}, "BC=24 PAD=2": {"PAD": 2}, "BC=24 PAD=0": {"PAD": 0}, "BC=32 PAD=1": {"BC": 32},
         "BC=32 PAD=2": {"BC": 32, "PAD": 2}, "BARRIER=always": {"BARRIER": "always"}, "STAGES=2": {"STAGES": 2},
         "STAGES=2 PREFETCH=yes": {"STAGES": 2, "PREFETCH": "yes"}, "BLOCK=1": {"BLOCK": 1}, "ACC=f16": {"ACC": "f16"}}


def half2(p, table):
    """half2_tile over batches of 32 to 96: PAD, tiles, barrier, stages, and the roofline of the report's GPU."""
    base = {"BC": 24, "PAD": 1, "BARRIER": "conditional", "STAGES": 1, "PREFETCH": "no", "BLOCK": 2, "ACC": "f32"}
    begin(p, table, "half2_tile, H=24 S=64 D=32 f16: median us (spread in %); * marks a failed check", [])
    others, found = ["cublas", "torch:flash", "torch:math"], {}
    batches = range(32, 97, 8)
    for b in batches:
        full = {name: {**base, **change} for name, change in HALF2.items()}
        entries = entries_of("half2_tile", HALF2)
        rows = p.ask(f"compare {','.join(entries + others)} B={b} H=24 S=64 D=32 f16 time={p.args.time}")
        table.rows += rows
        for name in list(HALF2) + others:
            wanted = {f"{k}={v}" for k, v in full.get(name, {}).items()}
            row = next((r for r in rows if r["kernel"] == ("half2_tile" if name in HALF2 else name)
                        and wanted <= set(r["params"].split())), {})
            cv = "-" if row.get("cv_pct") is None else f"{row['cv_pct']:.1f}"
            found[name, b] = "-" if row.get("median_us") is None else \
                f"{figure(row['median_us'])} ({cv})" + ("" if row["check"] == "pass" else "*")
        table.heading = ["variant"] + [f"B={x}" for x in batches]
        table.lines = [[n] + [found.get((n, x), "-") for x in batches] for n in list(HALF2) + others]
    for gpu in ("Radeon-8060S", p.gpu):
        for r in p.ask(f"plan half2_tile B=64 H=24 S=64 D=32 f16 gpu={gpu}", measured=False):
            table.notes.append(f"roofline of {gpu}, B=64: requested {figure(r['requested_intensity'])} FLOP/byte, compulsory "
                               f"{figure(r['compulsory_intensity'])}, ridge {figure(r['ridge'])}, {r['bound']}-bound, "
                               f"roof {figure(r['roof_us'])} us")
    table.notes.append("`attnscope roofline half2_tile B=64 H=24 S=64 D=32 gpu=Radeon-8060S` draws it")


# ---- the ladder

def planned(p, kernels, words):
    """Rows of plan by kernel, each with the first sentence of what plan says in words."""
    rows, told = {}, p.text(f"plan {','.join(kernels)} {words} gpu={p.gpu}")
    for r in p.ask(f"plan {','.join(kernels)} {words} gpu={p.gpu}", measured=False):
        rows[r["kernel"]] = r
    kernel = None
    for line in told.splitlines():
        kernel = line.split()[0] if re.match(r"\S+ on \S+ \(", line) else kernel
        said = re.match(r"  why +(.*)", line)
        if said and kernel in rows:
            rows[kernel]["why"] = re.split(r"(?<=[.]) ", said[1])[0]
    return rows


PROFILED = 8  # kernels of one profile: should the worker be lost, no more than these are asked for again
UNITS = (("tensor cores", "tensor_pct"), ("DRAM", "dram_pct"), ("L2", "l2_pct"), ("L1 and shared memory", "l1tex_pct"))


def why(row, plan, counted):
    """One line from what was computed and counted: the busiest unit and the conflicts, then the plan's sentence."""
    if row.get("median_us") is None:
        return (row.get("reason") or "")[:110]
    said = []
    known = [(counted[f], n) for n, f in UNITS if counted.get(f) is not None]
    if known:
        most, name = max(known)
        said.append(f"{name} {most:.0f} % busy" if most >= 60 else f"no unit busy: {name} {most:.0f} %")
    if (counted.get("smem_conflict_pct") or 0) >= 10:
        said.append(f"{counted['smem_conflict_pct']:.0f} % of shared-memory wavefronts are conflicts")
    if plan.get("spill_bytes"):
        said.append(f"{plan['spill_bytes']} B spilled")
    if plan.get("why"):
        said.append(plan["why"].rstrip("."))
    elif plan.get("bound"):
        said.append(f"{plan['bound']}-bound, roof {figure(plan['roof_us'])} us")
    return "; ".join(said)[:170]


def count(p, table, rows, words):
    """Hardware counters of the kernels that are quick enough: a profile replays a run some 50 times."""
    if p.args.no_profile:
        return {}
    quick = [r["kernel"] for r in rows if r["median_us"] and 50e-6 * r["median_us"] < p.args.profile_seconds]
    if not quick:
        return {}
    found = []
    for at in range(0, len(quick), PROFILED):
        found += p.ask(f"profile {','.join(quick[at:at + PROFILED])} {words}")
    refused = {r["reason"] for r in found if r.get("duration_us") is None and r.get("reason")}
    table.notes += [f"no counters: {reason}" for reason in sorted(refused)[:2]]
    slow = [r["kernel"] for r in rows if r["median_us"] and r["kernel"] not in quick]
    if slow:
        table.notes.append(f"not profiled, 50 replays take over {p.args.profile_seconds:g} s: {', '.join(slow)}")
    return {r["kernel"]: r for r in found if r.get("duration_us") is not None}


def ladder_line(row, plan, counted, on_cudnn):
    smem = plan.get("smem_bytes")
    return [row["kernel"], figure(row["median_us"], 4), figure(row["cv_pct"], 2), figure(row["tflops"]),
            share(100 / row["ratio"] if on_cudnn and row.get("ratio") else None),
            "-" if smem is None else f"{smem / 1024:.1f}", row["regs"] or plan.get("regs") or "-",
            "-" if plan.get("spill_bytes") is None else plan["spill_bytes"], share(plan.get("occupancy_pct")),
            share(counted.get("achieved_occupancy_pct")), figure(row["error_ratio"], 2),
            ("" if row["check"] in ("pass", None) else f"**{row['check']}** ") + why(row, plan, counted)]


def ladder_of(p, table, words, seconds):
    begin(p, table, f"every kernel and peer at {words}, one interleaved compare",
          ["kernel", "median us", "CV %", "TFLOP/s", "of cuDNN", "SMEM KiB", "regs", "spill B", "occ. planned", "achieved",
           "error x", "why"])
    kernels = own(p) + PEERS
    seconds = p.args.ladder_time or seconds
    rows = p.ask(f"compare {','.join(kernels)} base=cudnn {words} time={seconds}")
    on_cudnn = any(r["kernel"] == "cudnn" and r["verdict"] == "base" for r in rows)
    if rows and not on_cudnn:
        table.notes.append("cuDNN gave no time here: no share of it")
    plans = planned(p, kernels, words)
    table.rows = rows

    def lines(counters):
        for r in rows:  # the CSV file has all three beside each other
            r.update({f"plan_{n}": plans.get(r["kernel"], {}).get(n) for n in
                      ("smem_bytes", "regs", "spill_bytes", "occupancy_pct", "blocks_per_sm", "waves", "bound", "roof_us", "why")})
            r.update({n: v for n, v in counters.get(r["kernel"], {}).items() if n.endswith("_pct") and n not in r
                      or n in ("duration_us", "dram_bytes", "l2_bytes", "smem_conflicts")})
        return [ladder_line(r, plans.get(r["kernel"], {}), counters.get(r["kernel"], {}), on_cudnn) for r in rows]
    table.lines = lines({})  # what there is, should the counters not come
    table.lines = lines(count(p, table, rows, words))


def ladder_1(p, table):
    """Every kernel and peer at B=1 H=8 S=512 D=64 f16, with plan and counters."""
    ladder_of(p, table, "B=1 H=8 S=512 D=64 f16", 0.25)


def ladder_2(p, table):
    """Every kernel and peer at B=4 H=16 S=4096 D=128 f16, with plan and counters."""
    ladder_of(p, table, "B=4 H=16 S=4096 D=128 f16", 1)


def ladder_3(p, table):
    """Every kernel and peer at B=64 H=24 S=64 D=32 f16, with plan and counters."""
    ladder_of(p, table, "B=64 H=24 S=64 D=32 f16", 0.25)


# ---- the reports' findings

ONE, FUSED, TILE = "B=1 H=1 S=%d D=64 f16", "B=1 H=8 S=512 D=64 f16", "B=64 H=24 S=64 D=32 f16"
# finding, slower, faster (kernel@PARAM=value and shape each), the report's figure in words, from and to of what agrees.
# The figure is the first's time over the second's.
FINDINGS = [
    ("FA-1 grows with S: 512 over 64", "fa1_2022 " + ONE % 512, "fa1_2022 " + ONE % 64, "7.7x (its kernel: qtile_seq)", 6, 10),
    ("qtile_seq grows with S: 512 over 64", "qtile_seq " + ONE % 512, "qtile_seq " + ONE % 64, "7.7x", 6, 10),
    ("PyTorch hardly does: 512 over 64", "torch:flash " + ONE % 512, "torch:flash " + ONE % 64, "1.28x", 0.9, 1.6),
    ("qtile_seq loses to PyTorch at S=512", "qtile_seq " + ONE % 512, "torch:flash " + ONE % 512, "66x", 2, 1e9),
    ("and wins at S=4 (D=64 here)", "torch:flash " + ONE % 4, "qtile_seq " + ONE % 4, "7.93x (D=4)", 1.05, 1e9),
    ("all threads at work, S=512: qtile_tpq", "qtile_seq " + ONE % 512, "qtile_tpq " + ONE % 512, "2 to 3x", 2, 3),
    ("keys divided, S=128: splitkv", "qtile_seq " + ONE % 128, "splitkv " + ONE % 128, "5 to 10x", 5, 10),
    ("keys divided, S=512: splitkv", "qtile_seq " + ONE % 512, "splitkv " + ONE % 512, "5 to 10x", 5, 10),
    ("the division alone, S=512: fa2, splitkv", "fa2 " + ONE % 512, "splitkv " + ONE % 512, "-", 1.05, 1e9),
    ("32 heads over one, S=128: qtile_seq", "qtile_seq B=8 H=4 S=128 D=64 f16", "qtile_seq " + ONE % 128, "1.38x", 0.9, 2),
    ("online softmax, D=512", "row_full " + LARGE["D=512"], "row_online " + LARGE["D=512"], "1.91x", 1.05, 1e9),
    ("online softmax, D=2048", "row_full " + LARGE["D=2048"], "row_online " + LARGE["D=2048"], "2.02x", 1.05, 1e9),
    ("online softmax, D=4096", "row_full " + LARGE["D=4096"], "row_online " + LARGE["D=4096"], "1.48x", 1.05, 1e9),
    ("online softmax, D=8192", "row_full " + LARGE["D=8192"], "row_online " + LARGE["D=8192"], "1.03x", 0.98, 1.1),
    ("sums without atomics, D=2048", "row_atomic " + LARGE["D=2048"], "row_full " + LARGE["D=2048"], "1.05 to 1.12x", 1.04, 1.14),
    ("16 queries a block, D=2048", "row_online " + LARGE["D=2048"], "row_tile " + LARGE["D=2048"], "2 to 4x", 2, 4),
    ("WMMA over scalar", "fa_scalar " + FUSED, "wmma_serial " + FUSED, "1.44x", 1.05, 1e9),
    ("PAD=8 for WMMA (over PAD=16)", "wmma_serial@PAD=16 " + FUSED, "wmma_serial@PAD=8 " + FUSED, "fails", 0, 0),
    ("P V by WMMA", "fused_wmma_qk " + FUSED, "fused_wmma_pv " + FUSED, "4.45x (986 to 221 us)", 3, 6),
    ("a warp for a row of the softmax", "fused_wmma_pv " + FUSED, "fused_warp_softmax " + FUSED, "1.70x", 1.5, 1.9),
    ("64 x 64 tiles, dynamic SMEM", "fused_warp_softmax " + FUSED, "fused_dyn_smem " + FUSED, "1.5 to 2x", 1.5, 2),
    ("vector loads", "fused_dyn_smem " + FUSED, "fused_vector_io " + FUSED, "1.2 to 1.3x", 1.2, 1.3),
    ("a warp that loads", "fused_vector_io " + FUSED, "fused_warp_spec " + FUSED, "1.2 to 1.4x", 1.2, 1.4),
    ("PyTorch over phase 1.3", "fused_warp_softmax " + FUSED, "torch:flash " + FUSED, "5.57x", 4, 7),
    ("fused tiles over matrix products", "cublas " + TILE, "half2_tile " + TILE, "1.09x", 1.05, 1e9),
    ("tiles of 24 over 32 keys", "half2_tile@BC=32@PAD=2 " + TILE, "half2_tile@BC=24@PAD=2 " + TILE, "faster", 1.02, 1e9),
    ("PAD=1 over PAD=2", "half2_tile@PAD=2 " + TILE, "half2_tile@PAD=1 " + TILE, "1.02 to 1.03x", 1.01, 1.04),
    ("a barrier less", "half2_tile@BARRIER=always " + TILE, "half2_tile@BARRIER=conditional " + TILE, "1.005 to 1.01x", 1.003, 1.02),
]


def of_spec(rows, spec):
    kernel, *params = spec.split("@")
    return next((r for r in rows if r["kernel"] == kernel and set(params) <= set(r["params"].split())), None)


def finding(p, table, slower, faster):
    """The ratio of two times and its interval: interleaved where both have one shape."""
    (a, shape), (b, other) = slower.split(" ", 1), faster.split(" ", 1)
    if shape == other:
        rows = p.ask(f"compare {b},{a} {shape} time={max(p.args.time, 0.1)}")
        table.rows += rows
        x, y = of_spec(rows, a), of_spec(rows, b)
        based = y and x and y["verdict"] == "base"
        return (x["ratio"], interval(x)) if based and x["ratio"] is not None else (None, reason_of(x, y))
    rows = [p.ask(f"run {spec} {words} time={max(p.args.time, 0.1)}") for spec, words in ((a, shape), (b, other))]
    table.rows += rows[0] + rows[1]
    x, y = of_spec(rows[0], a), of_spec(rows[1], b)
    known = x and y and x["median_us"] and y["median_us"]
    return (x["median_us"] / y["median_us"], f"{x['median_us'] / y['median_us']:.3f}") if known else (None, reason_of(x, y))


def reason_of(*rows):
    return next((r["reason"][:60] for r in rows if r and r.get("reason")), "-")


def findings(p, table):
    """What the reports found, measured here: the ratio with its interval beside the report's figure."""
    begin(p, table, "the reports' findings on this device: a time over a time [95 % interval]",
          ["finding", "time of", "over", "here", "report", "agrees"])
    for name, slower, faster, report, low, high in FINDINGS:
        ratio, shown = finding(p, table, slower, faster)
        agrees = "-" if ratio is None or report == "-" else "yes" if low <= ratio <= high else "no"
        table.lines.append([name, slower.split(" ")[0], faster.split(" ")[0], shown, report, agrees])


TABLES = {
    "short": (short, 70), "short-f32": (short_f32, 40), "heads": (heads, 15), "large": (large, 45),
    "large-ablation": (large_ablation, 60), "large-tile": (large_tile, 50), "large-batch": (large_batch, 15),
    "half2": (half2, 60), "ladder-1": (ladder_1, 60), "ladder-2": (ladder_2, 130), "ladder-3": (ladder_3, 50),
    "findings": (findings, 40),
}
