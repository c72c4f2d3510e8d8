#!/usr/bin/env python3
"""kills.py - SIGKILL at random moments, of the worker and of the program, during runs and sweeps: every row that
was acknowledged is there afterwards; a sweep whose workers were killed, the one that runs, the one that judges or both, is
whole all the same and calls no kernel wrong; one that was killed itself goes on where it was when its line is given again.

usage: kills.py N [SEED]; $ATTNSCOPE and $ATTNSCOPE_WORKER name the programs. Prints TAP.

A row is acknowledged when the program has told somebody of it: here the lines of `run` commands that stand on
standard output; of a sweep, the points before the one that its progress line, which only a terminal gets, is at.

SPDX-License-Identifier: GPL-3.0-or-later
"""
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

PROGRAM = os.environ["ATTNSCOPE"]


def children(pid):
    try:
        with open("/proc/%d/task/%d/children" % (pid, pid)) as f:
            return [int(x) for x in f.read().split()]
    except OSError:
        return []


def role(pid):
    """launch or judge, as the worker was started; "": it has gone, or is no worker yet."""
    try:
        with open("/proc/%d/cmdline" % pid, "rb") as f:
            return (f.read().split(b"\0") + [b""])[1].decode()
    except OSError:
        return ""


def victims(pid, whom):
    """Of the program's processes those that are meant: launch, judge, cage (what the launch worker started), all."""
    if whom == "cage":
        return [cage for worker in children(pid) for cage in children(worker)]
    return [child for child in children(pid) if whom in ("all", role(child))]


def env_of(home):
    env = {k: v for k, v in os.environ.items() if not k.startswith("XDG_")}
    env.update(HOME=home, ATTNSCOPE_COMPILE="off")
    return env


def stored(env, kernel="naive"):
    p = subprocess.run([PROGRAM, "results", "limit=1000", "--json"], env=env, capture_output=True, text=True, timeout=60)
    return p.returncode, json.loads(p.stdout or "[]")


def kill_program(env, rng):
    """Lines of runs, each with a shape of its own; the program is killed in the middle. The shapes acknowledged."""
    sizes = rng.sample(range(8, 400), 12)
    lines = "".join("run naive S=%d H=1 D=16 f32 n=3 time=0.02 backend=cpu\n" % s for s in sizes)
    p = subprocess.Popen([PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=env)
    p.stdin.write(lines.encode())
    p.stdin.close()
    os.set_blocking(p.stdout.fileno(), False)
    out, end = b"", time.monotonic() + rng.uniform(0.02, 0.6)
    while time.monotonic() < end:
        out += p.stdout.read() or b""
        time.sleep(0.002)
    p.kill()
    p.wait()
    os.set_blocking(p.stdout.fileno(), True)
    out += p.stdout.read() or b""
    # A heading and the row below it are one writing: what has both was told.
    return [int(x) for x in re.findall(rb"S=(\d+) D=16 f32 \|[^\n]*\n[^\n]*\nnaive [^\n]* pass [^\n]*\n", out)]


SWEEP = ["sweep", "naive", "S=32..512:x2", "H=1", "D=16", "f32", "n=3", "time=0.03", "backend=cpu", "--json"]
POINTS = 5


def kill_worker(env, rng, whom):
    """A sweep whose workers are killed, once or twice: no more than a point is tried again. Its rows, its status, what
    it said, and how many workers were hit."""
    line = [{"backend=cpu": "backend=sim"}.get(w, w) if whom == "cage" else w for w in SWEEP]
    p = subprocess.Popen([PROGRAM] + line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, env=env)
    hits = 0
    for _ in range(rng.randint(1, 2)):
        time.sleep(rng.uniform(0.01, 0.2))
        for pid in victims(p.pid, whom):
            try:
                os.kill(pid, signal.SIGKILL)
                hits += 1
            except ProcessLookupError:
                pass
    out, err = p.communicate(timeout=120)
    return p.returncode, json.loads(out or "[]"), err.decode(), hits


def kill_sweep(env, rng):
    """A sweep on a terminal that is killed itself. How many of its points it had told to be done."""
    ours, theirs = os.openpty()
    p = subprocess.Popen([PROGRAM] + SWEEP + ["--fresh"], stdout=subprocess.DEVNULL, stderr=theirs, stdin=subprocess.DEVNULL,
                         env=dict(env, TERM="xterm"))
    os.close(theirs)
    os.set_blocking(ours, False)
    out, end = b"", time.monotonic() + rng.uniform(0.02, 0.45)
    while time.monotonic() < end and p.poll() is None:
        out += read_some(ours)
        time.sleep(0.002)
    done = p.poll() is not None
    p.kill()
    p.wait()
    out += read_some(ours)
    os.close(ours)
    at = [int(x) for x in re.findall(rb"point (\d+) of 5", out)]
    return POINTS if done else max(at, default=1) - 1


def read_some(fd):
    try:
        return os.read(fd, 1 << 16)
    except OSError:
        return b""


def again(env):
    """The line once more: its status, its rows, and how many it says were there."""
    p = subprocess.run([PROGRAM] + SWEEP, capture_output=True, env=env, timeout=120)
    there = re.search(rb"going on: (\d+) of 5", p.stderr)
    return p.returncode, json.loads(p.stdout or "[]"), int(there.group(1)) if there else 0, p.stderr.decode()


def verdicts(rows):
    return [(row["S"], row["check"], row["reason"]) for row in rows if row["check"] != "pass"]


def tell(number, bad, name, notes):
    print("%s %d - %s" % ("not ok" if bad else "ok", number, name))
    for text in notes[:10]:
        print("# " + text.replace("\n", " | ")[:600])
    sys.stdout.flush()


def main():
    n, rng = int(sys.argv[1]), random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    home = tempfile.mkdtemp(prefix="attnscope-kills-")
    env, lost, acknowledged = env_of(home), [], 0
    for i in range(n // 2):
        told = kill_program(env, rng)
        acknowledged += len(told)
        rc, rows = stored(env)
        have = {row["Sq"] for row in rows} if rc == 0 else set()
        lost += ["kill %d: S=%d was told and is not stored (results: %d)" % (i, s, rc) for s in told if s not in have]
        if i % 20 == 19:
            shutil.rmtree(home)
            os.mkdir(home)
    tell(1, bool(lost), "%d kills of the program: %d rows acknowledged, %d lost" % (n // 2, acknowledged, len(lost)), lost)
    failed, hits = [], 0
    for i in range(n - n // 2):
        whom = ("all", "launch", "judge")[i % 3]
        rc, rows, err, hit = kill_worker(env, rng, whom)
        hits += hit
        measured = [row for row in rows if row.get("median_us") and row["check"] == "pass"]
        if rc != 0 or len(measured) != POINTS:
            failed.append("sweep %d (%s): status %d, %d of 5 points: %s %s" % (i, whom, rc, len(measured), err[-300:], verdicts(rows)))
    tell(2, bool(failed), "%d sweeps, %d of whose workers were killed, are whole" % (n - n // 2, hits), failed)
    gone, known, taken = [], 0, 0
    for i in range(n // 2):
        own = tempfile.mkdtemp(dir=home)
        told = kill_sweep(env_of(own), rng)
        kept = len(stored(env_of(own))[1])
        rc, rows, there, err = again(env_of(own))
        known += told
        taken += kept
        measured = [row for row in rows if row.get("median_us")]
        # One that had all its points and is killed at its end is whole: the line given again measures anew.
        if rc != 0 or len(measured) != POINTS or kept < told or there not in ((0, kept) if kept in (0, POINTS) else (kept,)):
            gone.append("sweep %d: %d points told, %d kept, %d gone on with, then status %d, %d of 5: %s"
                        % (i, told, kept, there, rc, len(measured), err[-300:]))
        shutil.rmtree(own)
    tell(3, bool(gone), "%d sweeps killed after %d points were told: %d were kept, and they end when given again"
         % (n // 2, known, taken), gone)
    blamed, hits = [], 0
    for i in range(max(n // 10, 3)):
        rc, rows, err, hit = kill_worker(env, rng, "cage")
        hits += hit
        # Who killed it is not known: the point says that it died, or another cage had begun.
        if any(row["check"] == "fail" or row["check"] is None and not row["reason"] for row in rows):
            blamed.append("sweep %d: status %d: %s %s" % (i, rc, err[-300:], verdicts(rows)))
    tell(4, bool(blamed), "of %d simulated sweeps, %d of whose cages were killed, no kernel is called wrong" % (max(n // 10, 3), hits), blamed)
    print("1..4")
    shutil.rmtree(home, ignore_errors=True)
    return bool(lost or failed or gone or blamed)


sys.exit(main())
