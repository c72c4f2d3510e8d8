"""table_rows.py - the rows behind tests/gpu/tables: one process of the program that answers command after
command, and Markdown and CSV from rows.

SPDX-License-Identifier: GPL-3.0-or-later
"""
import csv
import importlib.machinery
import importlib.util
import json
import re
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
loader = importlib.machinery.SourceFileLoader("gpu_run", str(HERE / "run"))
gpu_run = importlib.util.module_from_spec(importlib.util.spec_from_loader("gpu_run", loader))
loader.exec_module(gpu_run)

MARK = "##end-of-answer"
SMALL = {"B": 2, "H": 2, "Hkv": 1, "S": 48, "Sq": 32, "Sk": 48, "D": 64}


def smaller(command):
    """The command at a shape that the CPU of a small machine answers in no time."""
    def shrink(m):
        return f"{m[1]}={min(int(m[2]), SMALL[m[1]])}"
    return re.sub(r"\b(B|H|Hkv|S|Sq|Sk|D)=(\d+)\b", shrink, command)


class Programs(gpu_run.Program):
    """The programs, and one process of them: its worker, its CUDA context and its Python child are started
    once for all commands. `seen` gets every command with measured rows, `messages` what went wrong."""

    def __init__(self, folder, home, args):
        super().__init__(folder, home)
        self.env.pop("ATTNSCOPE_STRICT", None)  # a difference is a reason in a row here, not an end
        self.args, self.process, self.seen, self.messages, self.named, self.starts = args, None, [], [], None, 0
        rows = self.ask("check naive S=16 H=1", measured=False)
        self.named = (rows[0]["device"] if rows else None) or "unknown device"
        words = self.named.replace("-", " ").split()
        names = [d["name"] for d in self.ask("devices", measured=False)]
        self.gpu = next((n for n in names if all(w in words for w in n.replace("-", " ").split())), "H200")

    def device(self):
        return self.named

    def start(self):
        self.process = subprocess.Popen([self.path], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True, env=self.env)
        self.say(f"set backend={self.args.backend}")
        if self.args.record:  # a file for each process: one that ended left its rows behind
            self.starts += 1
            name = self.args.record if self.starts == 1 else self.args.record.with_suffix(f".{self.starts}.rec")
            self.say(f'record "{name}" samples=12')

    def say(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def close(self):
        """Ends the process; its workers end with it."""
        if not self.process:
            return
        self.process.terminate()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process = None

    def answer(self, command):
        """What a command prints, its messages among it; a program that ended is started again next time."""
        if not self.process:
            self.start()
        try:
            self.say(command)
            self.say(f"!echo '{MARK}'")
            lines = []
            for line in self.process.stdout:
                if line.strip() == MARK:
                    return "".join(lines)
                lines.append(line)
        except BrokenPipeError:
            lines = ["attnscope: the program is gone\n"]
        self.close()
        return "".join(lines)

    def ask(self, command, measured=True):
        """The rows of a command; where there are none, its message is noted."""
        if self.args.small:
            command = smaller(command)
        command = " ".join(f"{command} {self.args.words if measured else ''}".split())
        text = self.answer(command + " --json")
        if measured:
            self.seen.append(command)
        at = text.find("[\n")
        try:
            return json.JSONDecoder().raw_decode(text[at:])[0]
        except json.JSONDecodeError:
            self.messages.append(f"no answer to `{command[:60]}`: {' '.join(text.split())[-200:]}")
            return []

    def text(self, command):
        return self.answer(smaller(command) if self.args.small else command)


def write_csv(path, rows):
    """All fields of all rows; lists and objects as JSON."""
    names = list(dict.fromkeys(n for r in rows for n in r if n != "launch_list"))
    with open(path, "w", encoding="utf-8", newline="") as f:
        out = csv.writer(f)
        out.writerow(names)
        for r in rows:
            out.writerow([json.dumps(r[n]) if isinstance(r.get(n), (list, dict)) else r.get(n) for n in names])


# ---- figures as text

def figure(value, digits=3):
    """Three digits that count, as the program itself shows them; '-' for what is not known."""
    if value is None:
        return "-"
    if value == 0:
        return "0"
    text = f"{value:.{digits}g}"
    return f"{value:.0f}" if "e" in text and abs(value) >= 1 else text


def share(value):
    return "-" if value is None else f"{value:.0f} %"


def times(row):
    """A cell with all three of median (us), spread and error: `12.3 (0.8 %, 0.5x)`."""
    if not row or row.get("median_us") is None:
        return "-"
    mark = "" if row.get("check") == "pass" else f" **{row.get('check') or 'unchecked'}**"
    cv = "-" if row.get("cv_pct") is None else f"{row['cv_pct']:.1f} %"
    return f"{figure(row['median_us'], 4)} ({cv}, {figure(row.get('error_ratio'), 2)}x){mark}"


def interval(row):
    """A ratio of times with its 95 % interval."""
    if not row or row.get("ratio") is None:
        return "-"
    if row.get("ratio_lo") is None:
        return f"{row['ratio']:.3f}"
    return f"{row['ratio']:.3f} [{row['ratio_lo']:.3f}, {row['ratio_hi']:.3f}]"


def markdown(heading, lines):
    width = [max(len(str(row[i])) for row in [heading] + lines) for i in range(len(heading))]

    def line(cells):
        return "| " + " | ".join(f"{c!s:{w}}" for c, w in zip(cells, width)) + " |"
    return "\n".join([line(heading), "|" + "|".join("-" * (w + 2) for w in width) + "|"] + [line(r) for r in lines])


def gathered(rows, most=8):
    """The reasons of rows that were not measured, each once, with the kernels and shapes it holds for."""
    found = {}
    for r in rows:
        if r.get("reason") and r.get("median_us") is None:
            reason = r["reason"]
            if reason.startswith(r["kernel"] + " "):
                reason = reason[len(r["kernel"]) + 1:]
            found.setdefault(reason, {}).setdefault(r["kernel"], None)
    lines = [f"- {', '.join(kernels)}: {reason[:160]}" for reason, kernels in found.items()]
    return lines[:most] + ([f"- and {len(lines) - most} more reasons, in the CSV file"] if len(lines) > most else [])


def commands_of(seen, most=8):
    """The commands, those that differ in nothing but their shape with it alone."""
    shown, last = [], None
    for command in seen:
        head, tail = " ".join(command.split()[:2]), " ".join(command.split()[2:])
        shown.append(f"    ... the same with {tail}" if head == last else f"    attnscope {command}")
        last = head
    return shown[:most] + ([f"    ... and {len(shown) - most} more like these"] if len(shown) > most else [])
