#!/usr/bin/env python3
"""loop.py - no memory, once, at every place where it is asked for.

Each command is run once to see its output and from where memory is asked for; then once for each of these
places (or --sites N of them, drawn by --seed) with that allocation refused. What must hold: the program ends by
itself and not by a signal; either the output is the same, byte by byte, and the status too, or the status is 3
and standard error says that memory ran out. In a worker: the command ends, with the very rows that it has otherwise (of
a timed run all but its figures) or a reason for them. In the full screen and the line reader: the end with all that was
shown before, or status 3 with words, and the terminal is given back, its modes too.

SPDX-License-Identifier: GPL-3.0-or-later
"""
import argparse
import concurrent.futures
import json
import os
import queue
import random
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import termios
import time

COMMANDS = [
    "show", "help run", "kernels --json", "devices --csv", "plan fa2 S=2k gpu=H100 --json", "plan all gpu=L4",
    "sweep fa2 S=512,1k metric=occupancy_pct", "explain occupancy_pct fa2", "roofline fa2,naive gpu=L4", "occupancy fa2 --md",
    "source naive diff", "lessons", "notes blocks", "trace softmax", "results", "open h200-short", "compare h200-short h200-short",
    "apropos bytes", "why fa2,naive gpu=L4", "lesson check blocks", "timeline fa2 gpu=L4", "report @tmp/r.html h200-short",
    "complete-line run\\ f",
]
MEASURED = ["check naive S=8 H=1 D=16 f32 backend=cpu", "run naive S=8 H=1 D=16 f32 n=3 time=0.05 backend=cpu --json"]
SHOWN = [b"Lessons"]  # of what is drawn later a busy machine may skip a frame
LINES = ["show S\r", "pl\t\t", "\x01\x0b", "plan fa2 S=2k gpu=H100\r", "\x1b[A\x1b[A\x12pla\x07", "\x03", "kernels naive --json\r", "quit\r"]
SAID = [b"H100", b'"name":"naive"']
KEYS = ["2", "3", "4", "5", "6", "7", "\r", "\x1b", "1", "?", "q", "x", "\x1b", ":plan fa2\r", "\x1b", "q"]
WORDS = re.compile(rb"out of memory|a message could not be formatted|memory")
LIMIT_S = 60


LANES = 8  # at once: a program on a terminal mostly waits for keys


class Place:
    """A home of its own, so that no run leaves the next one anything, nor one beside it."""

    def __init__(self, lib):
        self.root = tempfile.mkdtemp(prefix="attnscope-oom-")
        self.lib = lib
        self.sites = self.root + "/sites"

    def env(self, **more):
        home = self.root + "/home"
        shutil.rmtree(home, ignore_errors=True)
        os.mkdir(home)
        env = {k: v for k, v in os.environ.items() if not k.startswith(("XDG_", "OOM_"))}
        env.update(HOME=home, LD_PRELOAD=self.lib, **more)
        return env

    def read_sites(self):
        with open(self.sites) as f:
            found = [int(line) for line in f]
        os.unlink(self.sites)
        return found


def stable(data):
    """What differs from run to run: times of day, durations, measured figures."""
    data = re.sub(rb"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\dZ?)?", b"T", data)
    return re.sub(rb"attnscope-oom-\w+", b"P", data)


def without_figures(data):
    """A timed run is never the same twice, but for its words; which figures are known, and what disturbed it, hangs on
    the machine."""
    try:
        rows = json.loads(data)
    except ValueError:
        return data
    return [{k: v for k, v in row.items() if isinstance(v, (str, bool, dict)) and k not in ("noise", "stopped", "time")} for row in rows]


def call(place, line, env):
    """Status, output, error text. 'timeout' instead of a status where it does not end."""
    words = line.replace("@tmp", place.root).replace("\\ ", "\0").split()
    words = [w.replace("\0", " ") for w in words]
    p = subprocess.Popen([os.environ["ATTNSCOPE"]] + words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, env=env)
    try:
        out, err = p.communicate(timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        p.kill()
        out, err = p.communicate()
        return "timeout", out, err
    return p.returncode, out, err


def picked(sites, most, rng):
    return sites if most is None or len(sites) <= most else sorted(rng.sample(sites, most))


class Lanes:
    """Tries of single sites side by side, each in a place of its own."""

    def __init__(self, lib, count):
        self.places = queue.Queue()
        self.all = [Place(lib) for _ in range(count)]
        for place in self.all:
            self.places.put(place)
        self.pool = concurrent.futures.ThreadPoolExecutor(count)

    def each(self, sites, one):
        """one(place, site) says what is wrong, or nothing. All that was said, in the order of the sites."""
        def take(n):
            place = self.places.get()
            try:
                return one(place, n)
            finally:
                self.places.put(place)
        return [text for text in self.pool.map(take, sites) if text]

    def end(self):
        self.pool.shutdown()
        for place in self.all:
            shutil.rmtree(place.root, ignore_errors=True)


def loop_command(lanes, place, line, most, rng):
    rc, want, _ = call(place, line, place.env(OOM_PROGRAM="attnscope", OOM_SITES=place.sites))
    sites = place.read_sites()

    def one(place, n):
        got, out, err = call(place, line, place.env(OOM_PROGRAM="attnscope", OOM_AT=str(n)))
        same = got == rc and stable(out) == stable(want)
        told = got == 3 and WORDS.search(err)
        if not (same or told):
            return "allocation %d: status %s, %d of %d bytes: %s" % (n, got, len(out), len(want), err[-200:])
    return sites, lanes.each(picked(sites, most, rng), one)


def loop_measured(lanes, place, line, program, most, rng):
    same = stable if line.startswith("check") else without_figures
    rc, want, _ = call(place, line, place.env(OOM_PROGRAM=program, OOM_SITES=place.sites))
    sites = sorted(set(place.read_sites()))
    bad = [] if rc == 0 else ["without a fault: status %s" % rc]

    def one(place, n):
        got, out, err = call(place, line, place.env(OOM_PROGRAM=program, OOM_AT=str(n)))
        whole = got == 0 and same(out) == same(want) and re.search(rb"^naive .* pass |\"check\": ?\"pass\"", out, re.M)
        told = got in (1, 3) and (WORDS.search(err) or b"naive: " in out or b"attnscope: " in err)
        if not (whole or told):
            return "%s, allocation %d: status %s: %s %s, and not %s" % (program, n, got, out[-300:], err[-200:], want[-300:])
    return sites, bad + lanes.each(picked(sites, most, rng), one)


class Screen:
    """The program on a pseudo-terminal, with keys."""

    def __init__(self, env, words=(), keys=KEYS):
        self.raw, self.keys = b"", keys
        self.fd, ours = os.openpty()
        self.modes = termios.tcgetattr(self.fd)
        # The first that the leader of a session opens is its terminal.
        opened = [(os.POSIX_SPAWN_OPEN, 0, os.ttyname(ours), os.O_RDWR, 0), (os.POSIX_SPAWN_DUP2, 0, 1), (os.POSIX_SPAWN_DUP2, 0, 2)]
        self.pid = os.posix_spawn(os.environ["ATTNSCOPE"], ["attnscope", *words], env, file_actions=opened, setsid=True)
        os.close(ours)

    def is_restored(self):
        """The screen, pasting in brackets, the modes."""
        entered, pastes = self.raw.rfind(b"\x1b[?1049h"), self.raw.rfind(b"\x1b[?2004h")
        return (self.raw.rfind(b"\x1b[?1049l") >= entered and self.raw.rfind(b"\x1b[?2004l") >= pastes
                and self.modes_after == self.modes)

    def read(self, quiet, most):
        end = time.monotonic() + most
        while time.monotonic() < end:
            if not select.select([self.fd], [], [], quiet)[0]:
                return True
            try:
                data = os.read(self.fd, 65536)
            except OSError:
                return False
            if not data:
                return False
            self.raw += data
        return True

    def run(self):
        alive = self.read(0.25, 10)
        for keys in self.keys:
            if not alive:
                break
            try:
                os.write(self.fd, keys.encode())
            except OSError:
                break
            alive = self.read(0.03, 2)
        end = time.monotonic() + 10
        while alive and time.monotonic() < end:
            alive = self.read(0.2, 1)
            if os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                break
        if not os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            time.sleep(0.3)
        if not os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            os.kill(self.pid, signal.SIGKILL)
        self.read(0.05, 1)
        _, status = os.waitpid(self.pid, 0)
        self.modes_after = termios.tcgetattr(self.fd)
        os.close(self.fd)
        return os.waitstatus_to_exitcode(status)


def loop_screen(lanes, place, words, keys, shown, most, rng):
    # Results of the CPU come when they come: the order of allocations differs, which only moves the sample.
    first = Screen(place.env(OOM_PROGRAM="attnscope", OOM_SITES=place.sites), words, keys)
    rc = first.run()
    sites = place.read_sites()
    bad = [] if rc == 0 and first.is_restored() else ["without a fault: status %s" % rc]
    bad += ["without a fault: %r is not shown" % x for x in shown if x not in first.raw]

    def one(place, n):
        s = Screen(place.env(OOM_PROGRAM="attnscope", OOM_AT=str(n)), words, keys)
        got = s.run()
        whole = got == 0 and all(x in s.raw for x in shown)
        told = got == 3 and WORDS.search(s.raw)
        if not (whole or told) or not s.is_restored():
            return ("screen, allocation %d: status %s, terminal %s: %r" %
                    (n, got, "restored" if s.is_restored() else "NOT restored", s.raw[-200:]))
    return sites, bad + lanes.each(picked(sites, most, rng), one)


def main():
    a = argparse.ArgumentParser(description=__doc__)
    a.add_argument("--sites", type=int, help="so many of each command's, instead of all")
    a.add_argument("--seed", type=int, default=1)
    a.add_argument("--only", help="commands that contain this text")
    a.add_argument("--lanes", type=int, default=LANES, help="so many programs at once")
    a = a.parse_args()
    lib = os.path.join(os.environ["ATTNSCOPE_BUILDDIR"], "tests/oom/oom.so")
    if b"__libc_malloc" not in open(os.environ["ATTNSCOPE"], "rb").read():
        print("1..0 # SKIP this build has another allocator")
        return 0
    os.environ["ATTNSCOPE_COMPILE"] = "off"
    place, rng, number, failed, tried = Place(lib), random.Random(a.seed), 0, 0, 0
    lanes = Lanes(lib, a.lanes)
    loops = [(line, lambda l=line: loop_command(lanes, place, l, a.sites, rng)) for line in COMMANDS]
    loops += [("%s in %s" % (line, program), lambda l=line, p=program: loop_measured(lanes, place, l, p, a.sites, rng))
              for line in MEASURED for program in ("attnscope", "attnscope-worker")]
    loops += [("the full screen", lambda: loop_screen(lanes, place, [], KEYS, SHOWN, a.sites, rng)),
              ("the line reader", lambda: loop_screen(lanes, place, ["--plain"], LINES, SAID, a.sites, rng))]
    for name, loop in loops:
        if a.only and a.only not in name:
            continue
        number += 1
        sites, bad = loop()
        failed += bool(bad)
        tries = len(sites) if a.sites is None else min(len(sites), a.sites)
        tried += tries
        print("%s %d - %s: %d of %d places, memory runs out in words, %d not" %
              ("not ok" if bad else "ok", number, name, tries, len(sites), len(bad)))
        for text in bad[:10]:
            print("# " + text.replace("\n", " | "))
        sys.stdout.flush()
    print("# %d places tried" % tried)
    print("1..%d" % number)
    lanes.end()
    shutil.rmtree(place.root, ignore_errors=True)
    return failed > 0


sys.exit(main())
