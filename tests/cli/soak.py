#!/usr/bin/env python3
"""soak.py - the program for hours under work, with a fault each second: nothing that was acknowledged is lost, nothing
leaks, the terminal is given back.

usage: soak.py SECONDS DIR [SEED]; $ATTNSCOPE, $ATTNSCOPE_WORKER, $ATTNSCOPE_FAKECUDA and $ATTNSCOPE_SRCDIR as the tests
have them. DIR gets homes, faults.log and samples.tsv (each 10 s, of every process of ours). Prints TAP; SIGTERM ends it
early, with the same verdict.

Five sessions, each a program that lives to the end, with a home of its own:

    plain     the line reader on a terminal: the CPU and, in turn, the simulator. Its workers are killed or stopped
    fake      commands on a pipe, on the fake driver, which breaks as its script has it (tests/fakecuda/faults.c)
    far       commands on a pipe whose kernels run behind a line (line.py) that breaks; the far end's processes are killed
    screen    the full screen: keys, commands, sizes; its workers are killed
    calm      as plain, on a pipe, and nobody hurts it: what its workers need after hours

A row is acknowledged when the program has printed it, with a time and a check that passed; each has a seed of its own,
by which the session's results must have it at the end. Faults are drawn from SEED and go round the first four.

What flat means: from a third of the time on (as long as the session fills what it keeps: rows, history, lines on the
screen) a root's anonymous memory grows by less than 1 MiB in all (median of pairwise slopes, times the time), and its
descriptors, threads and descendants at the end are what they were.

SPDX-License-Identifier: GPL-3.0-or-later
"""
import csv
import fcntl
import json
import os
import random
import re
import signal
import statistics
import struct
import subprocess
import sys
import termios
import threading
import time

PROGRAM, SOURCES = os.environ["ATTNSCOPE"], os.environ["ATTNSCOPE_SRCDIR"]
FAKE = os.path.join(os.environ["ATTNSCOPE_FAKECUDA"], "fakecuda.so")
SAMPLE_S, PAUSE_S, STUCK_S = 10, 0.3, 180
GROWTH_KIB = 1024
TURNS = [0, 2, 3, 0, 2, 3, 1, 0, 2, 3, 0, 2, 3, 0, 2, 3]
SHAPE = "S=%d H=1 D=16 f32 seed=%d"

# What the fake driver does at a call, in whichever process it comes next; see tests/fakecuda/fakecuda.h.
FAULTS = ["700", "719", "999", "2", "segv", "abort", "kill", "hang", "exit0", "exit3", "orphan", "flood", "escape", "noise",
          "checksum", "version", "huge", "half_exit", "hangup", "close", "nofile", "disk", "nomem"]
SPOILS = ["one", "nan", "zero", "shift", "scale", "half", "none"]


# ---- processes, as the system tells of them ----

def read(path):
    try:
        with open(path, "rb") as f:
            return f.read().decode(errors="replace")
    except OSError:
        return ""


def children(pid):
    return [int(x) for task in listed("/proc/%d/task" % pid)
            for x in read("/proc/%d/task/%s/children" % (pid, task)).split()]


def listed(path):
    try:
        return os.listdir(path)
    except OSError:
        return []


def descendants(pid):
    found = []
    for child in children(pid):
        found += [child] + descendants(child)
    return found


def status(pid):
    """Its state, anonymous memory in KiB, descriptors, threads; None when it has gone."""
    words = dict(re.findall(r"^(\w+):\s+(\S+)", read("/proc/%d/status" % pid), re.M))
    if "State" not in words:
        return None
    return {"state": words["State"], "anon": int(words.get("RssAnon", 0)), "rss": int(words.get("VmRSS", 0)),
            "fds": len(listed("/proc/%d/fd" % pid)), "threads": int(words.get("Threads", 0))}


def name(pid):
    words = read("/proc/%d/cmdline" % pid).split("\0")
    if "line.py" in words[0] + (words + [""])[1]:
        return "line"
    return " ".join([os.path.basename(words[0])] + words[1:2])


def hit(pid, sig):
    try:
        os.kill(pid, sig)
        return True
    except ProcessLookupError:
        return False


# ---- a session ----

class Session:
    """A program and who types into it. `lines` gives one command after the other."""
    on_terminal, args, size = False, [], (50, 200)

    def __init__(self, folder, rng):
        self.name, self.rng = type(self).__name__.lower(), rng
        self.home = os.path.join(folder, self.name)
        self.run = os.path.join(self.home, "run")
        os.makedirs(os.path.join(self.home, ".config/attnscope"))
        os.makedirs(self.run, 0o700)
        self.told, self.commands, self.refused, self.stuck, self.seed, self.longest = set(), 0, 0, [], 0, 0.0
        self.ending, self.out, self.tail = False, b"", b""
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("XDG_", "FAKECUDA"))}
        self.env.update(HOME=self.home, TMPDIR=self.run, XDG_RUNTIME_DIR=self.run, TERM="xterm-256color")
        self.why = open(os.path.join(self.home, "refused.log"), "w")
        self.prepare()
        self.start()

    def prepare(self):
        pass

    def start(self):
        command = [PROGRAM] + self.args
        errors = open(os.path.join(self.home, "stderr"), "wb")
        if self.on_terminal:
            self.ours, theirs = os.openpty()
            fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", *self.size, 0, 0))
            self.before = termios.tcgetattr(theirs)
            self.terminal = theirs  # kept, so that what it was left as can be read
            self.process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=self.env, cwd=self.run,
                                            start_new_session=True,
                                            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
            self.into, self.outof = self.ours, self.ours
        else:
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, env=self.env,
                                            cwd=self.run, bufsize=0)
            self.into, self.outof = self.process.stdin.fileno(), self.process.stdout.fileno()
        self.news = threading.Condition()
        self.answers = 0
        threading.Thread(target=self.listen, daemon=True).start()
        self.typist = threading.Thread(target=self.type, daemon=True)
        self.typist.start()

    def listen(self):
        while True:
            try:
                data = os.read(self.outof, 1 << 16)
            except OSError:
                data = b""
            with self.news:
                if not data:
                    self.answers = -1
                    self.news.notify_all()
                    return
                self.heard(data)
                self.news.notify_all()

    def heard(self, data):
        """Rows are a line each, behind them a bracket alone."""
        self.out += data
        *lines, self.out = self.out.split(b"\n")
        for line in lines:
            line = line.strip()
            at = line.find(b'{"kernel"')
            if at >= 0:
                row = json.loads(line[at:].rstrip(b","))
                if row["check"] == "pass" and (row["median_us"] or row["backend"] == "sim"):
                    self.told.add(row["seed"])
                else:
                    self.refused += 1
                    self.why.write("%d %s: %s\n" % (row["seed"], row["check"], row["reason"]))
                    self.why.flush()
            elif line == b"]":
                self.answers += 1

    def put(self, text):
        data = text.encode()
        while data:
            data = data[os.write(self.into, data):]

    def line(self):
        self.seed += 1
        return "run naive " + SHAPE % (self.rng.choice((16, 32, 48, 64)), self.seed) + " n=3 time=0.02 backend=cpu --json"

    def type(self):
        try:
            while not self.ending:
                with self.news:
                    asked = self.answers
                self.put(self.line() + "\n")
                self.commands += 1
                if not self.answered(asked):
                    return
                time.sleep(PAUSE_S)
        except OSError:
            pass

    def answered(self, asked):
        began = time.monotonic()
        with self.news:
            while self.answers == asked and time.monotonic() < began + STUCK_S:
                self.news.wait(1)
            took = time.monotonic() - began
            self.longest = max(self.longest, took)
            if took > 5:
                with open(os.path.join(self.home, "slow.log"), "ab") as f:
                    f.write(b"\n%.1f s for command %d, from %.1f; what came last:\n" % (took, self.commands, began) + self.out[-3000:])
            if self.answers == asked:
                self.stuck.append("command %d had no answer in %d s" % (self.commands, STUCK_S))
            return self.answers >= 0

    # What can be done to it; each returns what it did, in words, or "".
    def hurt(self):
        return ""

    def kill_one(self, sig, whom):
        """One of the processes below the program that `whom` accepts."""
        found = [pid for pid in descendants(self.process.pid) if whom(name(pid))]
        pid = self.rng.choice(found) if found else 0
        what = pid and name(pid)
        return "%s %s" % (sig.name, what) if pid and hit(pid, sig) else ""

    def end(self):
        """Quits as its user would. Its exit status; None: it had to be killed."""
        self.ending = True
        self.typist.join(STUCK_S + 10)
        try:
            self.put("quit\n")
            if not self.on_terminal:
                self.process.stdin.close()
        except OSError:
            pass
        try:
            return self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return None

    def stored(self):
        p = subprocess.run([PROGRAM, "results", "limit=100000", "--csv"], env=self.env, capture_output=True, text=True, timeout=600)
        head, *rows = p.stdout.splitlines()
        at = head.split(",").index("seed")
        return {int(cells[at]) for cells in csv.reader(rows) if cells[at]}


class Calm(Session):
    def line(self):
        text = super().line()
        return text.replace("backend=cpu", "backend=sim") if self.seed % 4 == 0 else text


class Plain(Calm):
    on_terminal, args = True, ["--plain"]

    def hurt(self):
        sig = signal.SIGSTOP if self.rng.random() < 0.05 else signal.SIGKILL
        return self.kill_one(sig, lambda name: "attnscope" in name)


class Fake(Session):
    """The driver counts its calls in a file, for all processes; who sets the count chooses what the next call does."""
    STEP = 100000

    def prepare(self):
        self.tally = os.path.join(self.home, "tally")
        script = ["us=50", "tally=" + self.tally]
        for call, words in (("cuStreamSynchronize", FAULTS), ("compute", SPOILS)):
            script += ["%s:%d=%s" % (call, (i + 1) * self.STEP, word) for i, word in enumerate(words)]
        self.env.update(ATTNSCOPE_LIBCUDA=FAKE, ATTNSCOPE_LIBNVRTC=FAKE, FAKECUDA=",".join(script))

    def line(self):
        return super().line().replace("backend=cpu", "backend=cuda")

    def hurt(self):
        call, words = self.rng.choice((("cuStreamSynchronize", FAULTS), ("cuStreamSynchronize", FAULTS), ("compute", SPOILS)))
        at = self.rng.randrange(len(words))
        before = (at + 1) * self.STEP - 1 - self.rng.randrange(8)
        with open(self.tally, "r+b") as f:  # records of a name of 60 bytes and a number
            data = f.read()
            for offset in range(0, len(data) - 63, 64):
                if data[offset:offset + 60].rstrip(b"\0").decode() == call:
                    f.seek(offset + 60)
                    f.write(struct.pack("<i", before))
                    return "driver: %s %s" % (call, words[at])
        return ""


class Far(Session):
    def prepare(self):
        self.plan, ssh = os.path.join(self.home, "plan"), os.path.join(self.home, "ssh")
        os.makedirs(os.path.join(self.home, "there/run"), 0o700)
        with open(ssh, "w") as f:  # in the place of ssh: the last words are the command
            f.write('#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done\nshift 2\n'
                    'HOME=%s/there XDG_RUNTIME_DIR=%s/there/run exec "%s" --serve\n' % (self.home, self.home, PROGRAM))
        os.chmod(ssh, 0o755)
        with open(os.path.join(self.home, ".config/attnscope/config"), "w") as f:
            f.write("host box box\n")
        self.env.update(ATTNSCOPE_SSH=SOURCES + "/tests/cli/line.py", LINE_SSH=ssh, LINE_PLAN=self.plan, LINE_LOG="/dev/null")

    def line(self):
        return super().line().replace("--json", "host=box --json")

    def hurt(self):
        kind = self.rng.randrange(5)
        if kind == 0:
            plan = "%s %s %d\n" % (self.rng.choice(("cut", "part", "bend")), self.rng.choice(("near", "far")), self.rng.randint(0, 6))
            with open(self.plan + ".new", "w") as f:
                f.write(plan)
            os.rename(self.plan + ".new", self.plan)
            return "the next line: " + plan.strip()
        whom = (None, "line", "--serve", "attnscope-worker", "attnscope")[kind]
        return self.kill_one(signal.SIGKILL, lambda name: whom in name)


class Screen(Session):
    """Keys of all screens, commands in its prompt. What it told stands on a screen; its results count here."""
    on_terminal = True
    KEYS = ["1", "2", "3", "4", "5", "6", "\t", "j", "k", "r", " ", "?", "\x1b", "x", "\x0c"]

    def heard(self, data):
        self.out = (self.out + data)[-1 << 16:]
        self.answers += 1

    def type(self):
        """Each key or command must change something on the screen, or the next ones."""
        try:
            time.sleep(2)
            while not self.ending:
                with self.news:
                    asked = self.answers
                for key in self.rng.choices(self.KEYS, k=4):
                    self.put(key)
                    time.sleep(0.1)
                self.seed += 1
                self.put("\x1b")
                time.sleep(0.2)
                self.put(":run naive " + SHAPE % (32, self.seed) + " n=3 time=0.02 backend=cpu\r")
                self.commands += 1
                if not self.answered(asked):
                    return
                time.sleep(1)
        except OSError:
            pass

    def hurt(self):
        if self.rng.random() < 0.2:
            size = self.rng.choice(((24, 80), (50, 200), (30, 100)))
            fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))
            return "%dx%d" % (size[1], size[0])
        return self.kill_one(signal.SIGKILL, lambda name: "attnscope" in name)

    def end(self):
        """Typed once: while something is being done keys wait for its end."""
        self.ending = True
        self.typist.join(STUCK_S + 10)
        try:
            self.put("\x1b")
            time.sleep(0.5)
            self.put(":quit\r")
        except OSError:
            pass
        try:
            return self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return None


# ---- the watch ----

class Watch:
    def __init__(self, folder, sessions):
        self.sessions, self.began = sessions, time.monotonic()
        self.samples = {s.name: [] for s in sessions}
        self.workers = {}
        self.file = open(os.path.join(folder, "samples.tsv"), "w")
        self.write("seconds", "session", "pid", "process", "state", "anon_kib", "rss_kib", "fds", "threads", "descendants",
                   "commands", "told", "refused")

    def write(self, *cells):
        self.file.write("\t".join(map(str, cells)) + "\n")
        self.file.flush()

    def sample(self):
        now = round(time.monotonic() - self.began, 1)
        for s in self.sessions:
            below = descendants(s.process.pid)
            for pid in [s.process.pid] + below:
                what, st = name(pid), status(pid)
                if not st:
                    continue
                self.write(now, s.name, pid, what, st["state"], st["anon"], st["rss"], st["fds"], st["threads"], len(below),
                           s.commands, len(s.told), s.refused)
                st.update(t=now, below=len(below), zombies=sum((status(p) or {}).get("state") == "Z" for p in below))
                if pid == s.process.pid:
                    self.samples[s.name].append(st)
                elif s.name == "calm":
                    self.workers.setdefault((what, pid), []).append(st)


def slope(samples, key):
    """Theil and Sen's: the median of the slopes of all pairs, thinned to a few hundred samples. Per second."""
    few = samples[::max(len(samples) // 300, 1)]
    pairs = [(b[key] - a[key]) / (b["t"] - a["t"]) for i, a in enumerate(few) for b in few[i + 1:] if b["t"] > a["t"]]
    return statistics.median(pairs) if pairs else 0.0


def grown(samples):
    late = samples[len(samples) // 3:]
    return slope(late, "anon") * (late[-1]["t"] - late[0]["t"]) if len(late) > 2 else 0.0


def moved(samples, key):
    """The median of the last tenth beside that of the first tenth after a third."""
    late = samples[len(samples) // 3:]
    tenth = max(len(late) // 10, 1)
    return statistics.median(s[key] for s in late[:tenth]), statistics.median(s[key] for s in late[-tenth:])


# ---- the verdict ----

class Tap:
    number, bad = 0, 0

    def ok(self, fine, text, notes=()):
        self.number += 1
        self.bad += not fine
        print("%s %d - %s" % ("ok" if fine else "not ok", self.number, text))
        for note in list(notes)[:8]:
            print("# %s" % str(note).replace("\n", " | ")[:400])
        sys.stdout.flush()


def left_over(folder):
    """Processes whose home is one of ours, and that are no zombies of somebody else."""
    return [(int(pid), name(int(pid))) for pid in listed("/proc") if pid.isdigit() and int(pid) != os.getpid()
            and re.search(r"(^|\0)HOME=%s/" % re.escape(folder), read("/proc/%s/environ" % pid))]


def judge_root(tap, s, samples):
    growth = grown(samples)
    tap.ok(growth < GROWTH_KIB, "%s: %d samples; anonymous memory %d to %d KiB, grows by %.0f KiB after the first third"
           % (s.name, len(samples), samples[0]["anon"], samples[-1]["anon"], growth))
    for key, slack in (("fds", 2), ("threads", 1), ("below", 3)):
        first, last = moved(samples, key)
        tap.ok(last <= first + slack, "%s: %s %g, at the end %g" % (s.name, key, first, last))
    lasting = max((a["zombies"] + b["zombies"] + c["zombies"] if a["zombies"] and b["zombies"] and c["zombies"] else 0)
                  for a, b, c in zip(samples, samples[1:], samples[2:])) if len(samples) > 2 else 0
    tap.ok(lasting < 6, "%s: no zombies gather" % s.name)


def judge_end(tap, s, code):
    tap.ok(code in (0, 1, 3), "%s: lives to its end and quits: status %s, %d commands" % (s.name, code, s.commands))
    tap.ok(not s.stuck, "%s: every command is answered, the slowest in %.0f s" % (s.name, s.longest), s.stuck)
    have = s.stored()
    lost = sorted(s.told - have)
    enough = len(have) > s.commands / 4 if isinstance(s, Screen) else len(s.told) > s.commands / 4
    tap.ok(not lost and enough, "%s: %d rows acknowledged, %d kept, %d lost; %d rows without a figure or pass"
           % (s.name, len(s.told), len(have), len(lost), s.refused), lost)
    if s.on_terminal:
        after = termios.tcgetattr(s.terminal)
        tap.ok(after[:4] == s.before[:4], "%s: the terminal's modes are what they were" % s.name, [s.before[:4], after[:4]])
    if isinstance(s, Screen):
        time.sleep(0.5)
        tap.ok(s.out.rfind(b"\x1b[?1049l") > s.out.rfind(b"\x1b[?1049h") and
               s.out.rfind(b"\x1b[?25h", 0) >= s.out.rfind(b"\x1b[?25l"), "screen: the main screen and the cursor are back")


def main():
    seconds, folder, seed = float(sys.argv[1]), os.path.realpath(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 1
    os.makedirs(folder, exist_ok=True)
    rng = random.Random(seed)
    sessions = [cls(folder, random.Random(rng.random())) for cls in (Plain, Fake, Far, Screen, Calm)]
    watch, counts = Watch(folder, sessions), {}
    log = open(os.path.join(folder, "faults.log"), "w")
    until, next_sample, turn = time.monotonic() + seconds, time.monotonic(), 0
    ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ended.set())
    while time.monotonic() < until and not ended.is_set():
        if time.monotonic() >= next_sample:
            watch.sample()
            next_sample += SAMPLE_S
        # Who has nothing that can be hurt just now leaves his turn to the next. The fake driver's turn is rarer: five
        # faults of a process's own within a minute, and the program starts it no more for the rest of it.
        for _ in range(4):
            s = sessions[TURNS[turn % len(TURNS)]]
            turn += 1
            what = s.hurt() if s.process.poll() is None and not s.ending else ""
            if what:
                counts[s.name] = counts.get(s.name, 0) + 1
                log.write("%.1f %s %s\n" % (time.monotonic() - watch.began, s.name, what))
                log.flush()
                break
        ended.wait(1)
    seconds = time.monotonic() - watch.began
    codes = {s.name: s.end() for s in sessions}
    time.sleep(3)
    tap = Tap()
    tap.ok(sum(counts.values()) > 0.7 * seconds, "%d faults in %.0f s: %s" % (sum(counts.values()), seconds, counts))
    for s in sessions:
        judge_end(tap, s, codes[s.name])
        judge_root(tap, s, watch.samples[s.name])
    for (what, pid), samples in watch.workers.items():
        if len(samples) > len(watch.samples["calm"]) // 2:
            tap.ok(grown(samples) < GROWTH_KIB, "calm's %s: anonymous memory %d to %d KiB, grows by %.0f KiB after the first third"
                   % (what, samples[0]["anon"], samples[-1]["anon"], grown(samples)))
    left = left_over(folder)
    tap.ok(not left, "nothing of ours is left", left)
    for pid, _ in left:
        hit(pid, signal.SIGKILL)
    print("1..%d" % tap.number)
    return tap.bad > 0


if __name__ == "__main__":
    sys.exit(main())
