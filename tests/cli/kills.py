#!/usr/bin/env python3
"""kills.py - SIGKILL at random moments, of the worker and of the program, during runs and sweeps: every row that
was acknowledged is there afterwards, and a sweep whose workers were killed is whole when its line is given again.

usage: kills.py N [SEED]; $ATTNSCOPE and $ATTNSCOPE_WORKER name the programs. Prints TAP.

A row is acknowledged when the program has told somebody of it: here the lines of `run` commands that stand on
standard output.

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


def kill_worker(env, rng):
    """A sweep whose workers are killed, one to three times. Its rows, and its status."""
    p = subprocess.Popen([PROGRAM, "sweep", "naive", "S=32..512:x2", "H=1", "D=16", "f32", "n=3", "time=0.03", "backend=cpu",
                          "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, env=env)
    for _ in range(rng.randint(1, 2)):
        time.sleep(rng.uniform(0.01, 0.2))
        for pid in children(p.pid):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
    p.communicate(timeout=120)
    # What the killed worker owed is measured by the same line, given again; what was measured stays.
    p = subprocess.run(p.args, capture_output=True, env=env, timeout=120)
    return p.returncode, json.loads(p.stdout or "[]"), p.stderr.decode()


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
    failed = []
    for i in range(n - n // 2):
        rc, rows, err = kill_worker(env, rng)
        measured = [row for row in rows if row.get("median_us")]
        if rc != 0 or len(measured) != 5:
            failed.append("sweep %d: status %d, %d of 5 points: %s %s" % (i, rc, len(measured), err[-300:], rows[:1]))
    tell(2, bool(failed), "%d sweeps whose workers were killed are whole when given again" % (n - n // 2), failed)
    print("1..2")
    shutil.rmtree(home, ignore_errors=True)
    return bool(lost or failed)


sys.exit(main())
