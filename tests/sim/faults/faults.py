#!/usr/bin/env python3
"""faults.py - faults to plant in the ladder's CUDA kernels: see faults.tsv.

faults.py check             every patch applies, every line of the table is right; prints how many there are
faults.py list              id, kernel, kinds, shape, lines that a report must name (of the planted file), what
faults.py plant ID DIR      writes DIR/NAME.cu, one file that needs no other, with the fault in it; prints NAME,
                            kinds, shape and lines, split by tabs. NAME is the id with _ for -
faults.py plant all DIR     the same for all
faults.py judge ID FILE     FILE has what `sanitize NAME --json` printed: was the fault found, and on a right line?
                            0: yes; 1: no, and why

Needs python3 and nothing else. SPDX-License-Identifier: GPL-3.0-or-later"""
import json
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
KERNELS = HERE.parents[2] / "kernels" / "cuda"
DEFAULT_SHAPE = "S=200 H=2"
# What a checker may call a fault: how the names of hazards and faults in src/sim/hazard.h and sim.h begin. A block that
# spins on a barrier in memory does not end. wrong: the output or LSE is.
KINDS = {
    "race": ("race",),
    "wait": ("missing_wait",),
    "out_of_bounds": ("out_of_bounds",),
    "array": ("outside_array",),
    "never_written": ("never_written",),
    "misaligned": ("misaligned",),
    "divergent": ("divergent",),
    "deadlock": ("deadlock", "endless"),
    "operand": ("wgmma_operand",),
    "source": ("copy_source",),
    "register": ("wgmma_register",),
    "fence": ("wgmma_fence",),
    "group": ("wgmma",),
    "proxy": ("missing_proxy_fence",),
    "expected": ("expected_bytes",),
    "registers": ("setmaxnreg",),
    "mbarrier": ("mbarrier",),
    "cluster": ("cluster_exit", "barrier_misuse"),
    "left": ("copy_exit",),
    "wrong": (),
}
LINES = ("line", "at_line", "second_line", "second_at_line")


class Trouble(Exception):
    pass


class Fault:
    def __init__(self, line):
        cells = line.split("\t")
        if len(cells) != 6:
            raise Trouble(f"faults.tsv: {len(cells)} columns, not 6: {line}")
        self.id, self.kernel, kinds, shape, self.where, self.what = cells
        self.kinds = kinds.split()
        self.shape = DEFAULT_SHAPE if shape == "-" else shape
        if "=" in self.shape and not re.search(r"\bS[qk]?=", self.shape):
            self.shape = f"S=200 {self.shape}"
        if not re.search(r"\bH=", self.shape):
            self.shape += " H=2"
        if not re.search(r"\bD=", self.shape):
            self.shape += " D=64"
        self.name = self.id.replace("-", "_")
        self.patch = HERE / f"{self.id}.patch"

    def sources(self):
        """The kernel's folder with the patch in it: text by name."""
        texts = {p.name: p.read_text() for p in KERNELS.glob("*.cu*")}
        for name, hunks in read_patch(self.patch):
            if name not in texts:
                raise Trouble(f"{self.patch.name}: there is no {name}")
            for hunk in hunks:
                texts[name] = apply_hunk(texts[name], hunk, self.patch.name)
        return texts

    def planted(self):
        texts = self.sources()
        text = flatten(texts, f"{self.kernel}.cu", set())
        return rename(text, self.kernel, self.name)

    def lines(self, text):
        """Numbers of the planted file's lines that have one of the texts of `where`."""
        if self.where == "-":
            return []
        texts = self.where.split(" | ")
        for t in texts:
            if t not in text:
                raise Trouble(f"{self.id}: no line has: {t}")
        return [n for n, line in enumerate(text.splitlines(), 1) if any(t in line for t in texts)]


def read_table():
    lines = (HERE / "faults.tsv").read_text().splitlines()
    return [Fault(x) for x in lines if x and not x.startswith("#")]


def read_patch(path):
    """[(file, [(line number, old lines, new lines)])] of a unified diff."""
    files = []
    for line in path.read_text().splitlines():
        if line.startswith("--- "):
            continue
        if line.startswith("+++ "):
            files.append((line.rsplit("/", 1)[1], []))
        elif line.startswith("@@"):
            files[-1][1].append((int(re.match(r"@@ -(\d+)", line)[1]), [], []))
        elif line[:1] in (" ", "-", "+") or not line:
            _, old, new = files[-1][1][-1]
            if line[:1] != "+":
                old.append(line[1:])
            if line[:1] != "-":
                new.append(line[1:])
    return files


def apply_hunk(text, hunk, name):
    """Where its old lines are; of several places the one nearest to its number."""
    number, old, new = hunk
    lines = text.split("\n")
    places = [i for i in range(len(lines) - len(old) + 1) if lines[i:i + len(old)] == old]
    if not places:
        raise Trouble(f"{name}: its lines are nowhere:\n" + "\n".join(old))
    at = min(places, key=lambda i: abs(i + 1 - number))
    if sum(abs(i - at) == abs(at + 1 - number) for i in places) > 1:
        raise Trouble(f"{name}: its lines are in several places")
    return "\n".join(lines[:at] + new + lines[at + len(old):])


def flatten(texts, name, seen):
    """The file with the kernels' own headers in it, each once."""
    out = []
    for line in texts[name].split("\n"):
        include = re.match(r'#include "([^"]+)"', line)
        if include and include[1] in texts:
            if include[1] not in seen:
                seen.add(include[1])
                out.append(flatten(texts, include[1], seen))
        elif line != "#pragma once":
            out.append(line)
    return "\n".join(out)


def rename(text, kernel, name):
    """The kernel and the entry points of its passes."""
    passes = re.findall(r"^ \* @pass +(\w+)", text, re.M)
    words = "|".join([kernel] + [f"{kernel}_{p}" for p in passes])
    return re.sub(rf"\b({words})\b(?!\.cu)", lambda m: name + m[0][len(kernel):], text)


def check():
    faults = read_table()
    ids = [f.id for f in faults]
    patches = sorted(p.stem for p in HERE.glob("*.patch"))
    if sorted(ids) != patches:
        raise Trouble(f"faults.tsv and the patches differ: {sorted(set(ids) ^ set(patches))}")
    for f in faults:
        if not f.kinds or not set(f.kinds) <= set(KINDS):
            raise Trouble(f"{f.id}: unknown kind in {f.kinds}")
        if (f.where == "-") != (f.kinds == ["wrong"]):
            raise Trouble(f"{f.id}: every kind but wrong has lines that it names")
        clean = flatten({p.name: p.read_text() for p in KERNELS.glob("*.cu*")}, f"{f.kernel}.cu", set())
        text = f.planted()
        if text == rename(clean, f.kernel, f.name):
            raise Trouble(f"{f.id}: the kernel is as before: the patch is of a file that it does not include")
        if f.where != "-" and not f.lines(text):
            raise Trouble(f"{f.id}: no line has: {f.where}")
    print(f"{len(faults)} faults in {len({f.kernel for f in faults})} kernels apply")


def show(f, text, first):
    print(first, " ".join(f.kinds), f.shape, ",".join(map(str, f.lines(text))) or "-", sep="\t", end="")


def by_clang(row):
    """clang names the lines within inlined functions, not those that call them: any line will do."""
    return (row.get("ptx") or "").startswith("clang")


def judge(f, rows):
    """None, or why the rows do not say what is wrong."""
    if "wrong" in f.kinds and any(row.get("check") == "fail" for row in rows):
        return None
    names = tuple(n for kind in f.kinds for n in KINDS[kind])
    found = [row for row in rows if (row.get("kind") or "").startswith(names)] if names else []
    lines = f.lines(f.planted())
    if any(row.get(key) in lines or by_clang(row) for row in found for key in LINES):
        return None
    said = sorted({f"{row.get('kind')} at {[row.get(k) for k in LINES if row.get(k)]}" for row in rows})
    return f"{f.id}: {' or '.join(f.kinds)} at {lines or 'any line'}, found: {'; '.join(said) or 'nothing'}"


def main(argv):
    if argv[1:] == ["check"]:
        check()
    elif argv[1:] == ["list"]:
        for f in read_table():
            show(f, f.planted(), f"{f.id}\t{f.kernel}")
            print("\t" + f.what)
    elif len(argv) == 4 and argv[1] == "plant":
        chosen = [f for f in read_table() if argv[2] in (f.id, "all")]
        if not chosen:
            raise Trouble(f"there is no fault {argv[2]}: see faults.py list")
        for f in chosen:
            text = f.planted()
            (pathlib.Path(argv[3]) / f"{f.name}.cu").write_text(text)
            show(f, text, f.name)
            print()
    elif len(argv) == 4 and argv[1] == "judge":
        why = [judge(f, json.loads(pathlib.Path(argv[3]).read_text())) for f in read_table() if f.id == argv[2]]
        if not why:
            raise Trouble(f"there is no fault {argv[2]}")
        if why[0]:
            raise Trouble(why[0])
    else:
        print(__doc__)
        return 2
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv))
    except Trouble as e:
        print(f"faults.py: {e}", file=sys.stderr)
        sys.exit(1)
