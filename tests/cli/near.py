#!/usr/bin/env python3
"""near.py FAULT - a near end that means ill: starts `$ATTNSCOPE --serve` and says to it

    sources    kernels whose names lead out of their folder, are no files, or are without number
    request    jobs that make no sense: no kernels, too many, files, an output, shapes beyond all memory
    turns      frames that only a far end may say
    flood      a thousand jobs, none of which it waits for
    deaf       a million jobs that must be refused, and reads nothing
    words      bytes that are no frame
    deep       a frame of a hundred thousand brackets

Then asks for the good job of the file $NEAR_JOB in the same or a new connection. Prints what it said last, how much memory it took in MiB and
whether anything is left.
SPDX-License-Identifier: GPL-3.0-or-later"""
import json
import os
import select
import struct
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from far import HEADER, crc32c, read_frame  # noqa: E402

JOB, DONE, VERDICT, ASK, STATE = 2, 7, 10, 11, 12  # of job/wire.h


class Near:
    def __init__(self):
        self.p = subprocess.Popen([os.environ["ATTNSCOPE"], "--serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL)
        self.head, hello = read_frame(self.p.stdout.fileno())
        self.sequence = struct.unpack_from("<I", self.head, 12)[0] - 1
        self.said = json.loads(hello)
        self.gone = False

    def write(self, data):
        try:
            self.p.stdin.write(data)
            self.p.stdin.flush()
        except OSError:
            self.gone = True

    def frame(self, kind, payload):
        self.sequence += 1
        head = self.head[:4] + struct.pack("<HHIII", 2, kind, len(payload), self.sequence, 0)
        return head + struct.pack("<I", crc32c(head + payload)) + payload

    def say(self, kind, **o):
        self.write(self.frame(kind, json.dumps(o).encode()))

    def hear(self, seconds=20):
        """The last state of a job that it says, or why there is none."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if not select.select([self.p.stdout], [], [], 0.2)[0]:
                continue
            try:
                head, payload = read_frame(self.p.stdout.fileno())
            except SystemExit:
                self.gone = True
                return "gone"
            o = json.loads(payload or b"{}")
            if struct.unpack_from("<H", head, 6)[0] == STATE and o.get("state") in ("done", "failed", "cancelled"):
                return "%s: %s" % (o["state"], o.get("error"))
        return "silence"

    def memory(self):
        try:
            with open("/proc/%d/status" % self.p.pid, encoding="ascii") as f:
                return max([int(line.split()[1]) // 1024 for line in f if line.startswith("VmHWM")] or [0])
        except OSError:
            return 0


def request(**more):
    with open(os.environ["NEAR_JOB"], "rb") as f:
        return dict(json.loads(f.read())["request"], **more)


def job(near, number, sources=None, **more):
    o = {"job": number, "request": request(**more)}
    if sources is not None:
        o["sources"] = sources
    near.say(JOB, **o)


def play(near, fault):
    """What was said to each, in turn."""
    said = []
    if fault == "sources":
        for name in ("../x.cu", "/tmp/x.cu", "a/b.cu", "", ".", "..", "x\n.cu", "x.so", "-x.cu", ".bashrc", "x" * 300 + ".cu", 7, None):
            job(near, 1, sources=[{"file": name, "text": "/* */"}])
            said.append(near.hear())
        job(near, 2, sources=[{"file": "k%d.cu" % i, "text": "x"} for i in range(100000)])
        said.append(near.hear())
        job(near, 3, sources={"file": "x.cu"})
        said.append(near.hear())
    elif fault == "request":
        entries = [{"kernel": "naive", "params": None}]
        problem = request()["problem"]
        for more in ({"entries": []}, {"entries": [{"kernel": "py:%s:f" % os.path.abspath("evil.py"), "params": None}]}, {"entries": [{"kernel": "/tmp/evil.so", "params": None}]},
                     {"problem": dict(problem, input="files", files=["/etc/passwd"] * 3)}, {"entries": entries * 65}, {"output": "/tmp/attnscope-pwned"}, {"kind": "quit"}, {"entries": [{"kernel": "../naive", "params": None}]},
                     {"entries": [{"kernel": "naive", "params": "THREADS=" + "9" * 4000}]}, {"backend": "../cpu"}, {"l2": "warm"},
                     {"problem": dict(problem, B=1 << 40, Sq=1 << 40)}, {"problem": dict(problem, B=65536, H=4096, Sq=65536, Sk=65536)},
                     {"problem": dict(problem, input="/etc/passwd,/etc/passwd,/etc/passwd")}, {"timeout_s": -1}, {"threads": 1 << 30}, {"nobody": 1}):
            job(near, 1, **more)
            said.append(near.hear())
    elif fault == "turns":
        for kind in (DONE, VERDICT, ASK, STATE, 99):
            other = Near()
            other.say(kind, job=1, entry=0, row={}, number=1, ask={})
            said.append(other.hear(5))
            said.append("status %d" % other.p.wait(timeout=10))
    elif fault == "flood":
        for i in range(1000):
            job(near, i)
    elif fault == "deaf":
        one = near.frame
        for _ in range(3000):
            near.write(b"".join(one(JOB, b"{}") for _ in range(1000)))
            if near.gone:
                break
        said.append("gone" if near.gone else "still there")
        said.append("memory %d" % near.memory())
    elif fault == "words":
        near.write(b"GET / HTTP/1.1\r\n\r\n" * 1000)
        said.append(near.hear(5))
    elif fault == "deep":
        near.write(near.frame(JOB, b"[" * 100000))
        said.append(near.hear(5))
    return said


def main():
    near = Near()
    said = play(near, sys.argv[1])
    if near.p.poll() is not None or near.gone or sys.argv[1] == "deaf":
        near.p.kill()
        near = Near()
    job(near, 5000)
    last = near.hear()
    print(json.dumps({"said": said, "then": last, "memory": near.memory()}))
    near.p.stdin.close()
    print("status %d" % near.p.wait(timeout=20))


main()
