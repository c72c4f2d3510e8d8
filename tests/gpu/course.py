"""course.py - every lesson, to its end, on the machine that is here; and what the field reports claim.

Each lesson is taken by `lesson check --right`: twice, the second time with right answers, in a home
of its own, and one after another, because lessons time things.

SPDX-License-Identifier: GPL-3.0-or-later
"""
import datetime
import json
import re
import shutil
import subprocess
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOO_LONG = 60  # seconds: what a learner waits for in a lesson, twice
GIVEN_UP = 300


def home_of_its_own(p, name):
    home = Path(p.home) / "lessons" / name
    home.mkdir(parents=True)
    env = dict(p.env, HOME=str(home))
    for folder in ("CACHE", "DATA", "STATE", "CONFIG"):
        env[f"XDG_{folder}_HOME"] = str(home / folder.lower())
    return home, env


def add_own_kernel(p, home, env):
    """The kernel that the lesson `own` has its learner write: its C code, its two commands. Why not, or ""."""
    if not shutil.which("cc"):
        return "no C compiler here"
    lesson = next(ROOT.glob("lessons/*-own.md")).read_text()
    code = re.findall(r"^```c\n(.*?)^```$", lesson, re.M | re.S)
    commands = re.findall(r"^(?:cc |attnscope kernel add).*$", lesson, re.M)
    (home / "mine.c").write_text("".join(code))
    script = "\n".join(c.replace("attnscope kernel", f"'{p.path}' kernel", 1) for c in commands)
    done = subprocess.run(["sh", "-e", "-c", script], cwd=home, env=env, capture_output=True, text=True, timeout=120)
    return "" if done.returncode == 0 else done.stderr.strip()[-200:]


def walk(p, name):
    """Findings of `lesson check`, seconds, and what was said beside; findings are empty where it gave none."""
    home, env = home_of_its_own(p, name)
    begin = time.time()
    said = add_own_kernel(p, home, env) if name == "own" else ""
    text = f"set backend={p.backend}\nlesson check {name} --right --json\n"
    try:
        done = subprocess.run([p.path], input=text, capture_output=True, text=True, env=env, cwd=home, timeout=GIVEN_UP)
    except subprocess.TimeoutExpired:
        return [], time.time() - begin, f"given up after {GIVEN_UP} s"
    at = done.stdout.find("[")
    rows = json.JSONDecoder().raw_decode(done.stdout[at:])[0] if at >= 0 else []
    return rows, time.time() - begin, said or ("" if rows else done.stderr.strip()[-200:])


def of(rows, check):
    return [r for r in rows if r["check"] == check]


class Lesson:
    """How it went: its gates, its steps, and what is wrong with it here."""

    def __init__(self, entry, rows, seconds, said):
        self.number, self.name, self.title, self.seconds = entry["number"], entry["name"], entry["title"], seconds
        self.steps, self.gates = of(rows, "runs"), of(rows, "gate")
        self.left_out = [s for s in self.steps if s["result"] == "left out"]
        self.faults = [f"step {s['step']} is not finished: {s['detail']}" for s in self.steps
                       if not s["finished"] and s not in self.left_out]
        self.faults += [f"step {g['step']}: {g['detail']}" for g in self.gates if not g["holds"]]
        if len(self.steps) != entry["steps"]:
            self.faults.append(f"{len(self.steps)} of {entry['steps']} steps were reached. {said}")
        if seconds > TOO_LONG:
            self.faults.append(f"it took over {TOO_LONG} s")
        self.remarks = [f"step {r['step']}, {r['check']}: {r['detail']}" for r in rows
                        if r["result"] == "problem" and not (r["check"] == "gate" and not r["holds"])]

    def clock(self):
        return f"{int(self.seconds) // 60}:{self.seconds % 60:04.1f}"

    def verdict(self):
        return "FAILED" if self.faults else "passed"

    def line(self):
        hold = sum(g["holds"] for g in self.gates)
        return (f"{self.number:3} {self.name:15}{self.verdict():8}{self.clock():>6}  steps {len(self.steps) - len(self.left_out)}"
                f"/{len(self.steps)}  gates {hold}/{len(self.gates)}  {'; '.join(self.faults)[:150]}")


def cell(text):
    return str(text).replace("|", "\\|").replace("\n", " ")


def lesson_section(lesson):
    out = [f"### {lesson.number} {lesson.title} (`{lesson.name}`): {lesson.verdict()}, {lesson.clock()}"]
    out += [""] * bool(lesson.faults + lesson.remarks + lesson.left_out)
    out += [f"- {kind}: {cell(text)}" for kind, texts in (("fault", lesson.faults), ("remark", lesson.remarks)) for text in texts]
    out += [f"- left out: step {s['step']}, {s['title']}: {cell(s['detail'])}" for s in lesson.left_out]
    out += ["", "| step | `expect` | here | holds | noise it stands | device of the last row |", "|--:|---|---|---|--:|---|"]
    device = {s["step"]: s["device"] or "" for s in lesson.steps}
    for g in lesson.gates:
        noise = "not measured" if g["margin"] is None else f"{100 * g['margin']:.0f} %"
        out.append(f"| {g['step']} | `{cell(g['gate'])}` | {cell(g['values'])} | {'yes' if g['holds'] else 'NO'} | {noise} "
                   f"| {cell(device.get(g['step'], ''))} |")
    return out


def lessons_text(p, lessons, count):
    """Markdown of what there is so far."""
    failed = sum(bool(s.faults) for s in lessons)
    out = [f"## Lessons on {p.gpu}, {datetime.date.today()}\n",
           f"{len(lessons)} of {count} lessons taken to their end with right answers; {failed} failed.\n",
           "| # | lesson | result | m:s | steps | gates |", "|--:|---|---|--:|--:|--:|"]
    out += [f"| {s.number} | {s.name} | {s.verdict()} | {s.clock()} | {len(s.steps) - len(s.left_out)}/{len(s.steps)} "
            f"| {sum(g['holds'] for g in s.gates)}/{len(s.gates)} |" for s in lessons]
    return "\n".join(out + [line for s in lessons for line in [""] + lesson_section(s)]) + "\n"


def take_lessons(p, table, report):
    """report(title, text): keeps the Markdown; called after every lesson, so that an interrupted run has a part."""
    lessons = []
    entries = p.rows(["lessons"])[0][0]
    for entry in entries:
        lesson = Lesson(entry, *walk(p, entry["name"]))
        lessons.append(lesson)
        print(lesson.line(), flush=True)
        for text in lesson.faults + lesson.remarks:
            print(f"      {text}", flush=True)
        report("lessons", lessons_text(p, lessons, len(entries)))
        gates = [g for s in lessons for g in s.gates]
        table.put("lessons", len(lessons), sum(bool(s.faults) for s in lessons),
                  f"{sum(g['holds'] for g in gates)} of {len(gates)} gates hold; "
                  f"{sum(len(s.left_out) for s in lessons)} steps left out", quiet=True)


# ---- claims of the field reports

def claims_text(p, rows):
    out = [f"## What the field reports claim, on {p.gpu}\n",
           "| id | claim | expected | here | values |", "|---|---|---|---|---|"]
    for r in rows:
        here = r["verdict"] + ("" if r["agrees"] is not False else ": NOT AS EXPECTED")
        out.append(f"| {r['id']} | {cell(r['claim'])} | {cell(r['expected'])} | {here} | {cell(r['values'] or r['reason'] or '')} |")
    return "\n".join(out) + "\n"


def audit(p, table, report):
    """Claims of the field reports: with a GPU each one that can be tested must come to a verdict, or be too near to
    tell. Which hold on this device is for people to read."""
    rows = p.rows(["audit all"])[0][0]
    bare = [r for r in rows if r["verdict"] == "open" and "too little" not in r["reason"]
            and "torch" not in r["command"] and "cublas" not in r["command"]]
    for r in bare:
        print(f"  {r['id']}: {r['reason']}")
    for r in rows:
        if r["agrees"] is False:
            print(f"  {r['id']} is {r['verdict']} here, expected {r['expected']}: {r['claim'][:70]} ({r['values']})")
    report("audit", claims_text(p, rows))
    count = {v: sum(r["verdict"] == v for r in rows) for v in ("confirmed", "refuted", "open")}
    table.put("audit: claims of the reports", len(rows), len(bare), str(count))
