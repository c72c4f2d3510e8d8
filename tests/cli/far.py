#!/usr/bin/env python3
"""far.py - a far end that means ill, in the place of ssh (ATTNSCOPE_SSH): says the hello of the real one, takes a job, and
answers as $FAR_FAULT has it:

    labels     rows whose shape, input, seed, kernel, host, backend are others than were asked
    entry      a row of an entry that is none
    rows       a row with numbers beyond all bounds, and texts and lists without measure
    deep       a frame of a hundred thousand brackets
    extra      an extra that is no object; a large one of nonsense
    huge       a frame that says to be 4 GB long
    long       one of 2 MiB, all of it a text
    endless    news without an end, until it is left
    early      done before it has said anything
    twice      done twice, and rows behind that
    words      bytes that are no frame, with escape sequences
    state      a state that is none

The job goes to the file $FAR_SAVE, if there is one.

SPDX-License-Identifier: GPL-3.0-or-later"""
import json
import os
import struct
import subprocess
import sys

HEADER = 24
STATE = 12  # WIRE_STATE of job/wire.h
EVIL = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202egnp"
TABLE = []
for n in range(256):
    for _ in range(8):
        n = n >> 1 ^ (0x82F63B78 if n & 1 else 0)
    TABLE.append(n)


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = TABLE[(crc ^ byte) & 0xFF] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


def read_exact(fd, size):
    data = b""
    while len(data) < size:
        more = os.read(fd, size - len(data))
        if not more:
            sys.exit(0)
        data += more
    return data


def read_frame(fd):
    head = read_exact(fd, HEADER)
    return head, read_exact(fd, struct.unpack_from("<I", head, 8)[0])


class Far:
    """The sequence of frames goes on from the hello of the real one."""

    def __init__(self):
        with subprocess.Popen([os.environ["ATTNSCOPE"], "--serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as real:
            self.head, hello = read_frame(real.stdout.fileno())
            real.stdin.close()
        self.sequence = struct.unpack_from("<I", self.head, 12)[0]
        self.write(self.head + hello)
        self.job = None
        while self.job is None:
            _, payload = read_frame(0)
            o = json.loads(payload or b"{}")
            if "request" in o:
                self.job = o["job"]
                if "FAR_SAVE" in os.environ:
                    with open(os.environ["FAR_SAVE"], "wb") as f:
                        f.write(payload)

    @staticmethod
    def write(data):
        try:
            while data:
                data = data[os.write(1, data):]
        except OSError:
            sys.exit(0)

    def frame(self, payload, size=None):
        self.sequence += 1
        head = self.head[:4] + struct.pack("<HHII", 2, STATE, len(payload) if size is None else size, self.sequence)
        head += self.head[16:20]
        return head + struct.pack("<I", crc32c(head + payload)) + payload

    def say(self, **o):
        self.write(self.frame(json.dumps(dict(o, job=self.job)).encode()))

    def row(self, entry=0, **row):
        self.say(entry=entry, row=dict({"check": "pass", "median_us": 5.0, "n": 10, "reason": EVIL}, **row))

    def done(self, state="done", **more):
        self.say(state=state, phase=EVIL, seconds=None, error=None, no_gpu=False, killed=False, **more)


def play(far, fault):
    if fault == "labels":
        far.row(shape="B=9 H=9 S=9 D=64 f16", input="ramp", seed=7, kernel="fa2", host="nowhere", backend="cuda", origin="pinned",
                params="BR=" + EVIL, device=EVIL, l2="cold", time="1970")
    elif fault == "entry":
        far.row(entry=1 << 40)
    elif fault == "rows":
        far.row(median_us=1e308, n=1 << 62, samples_us=[1e308] * 100000, reason="x" * 1000000, causes=[EVIL] * 1000, error_map=EVIL,
                tflops=-1e308, checked_rows=-1, total_rows=-(1 << 62))
    elif fault == "deep":
        far.write(far.frame(b"[" * 100000))
    elif fault == "extra":
        far.say(extra={"profiles": [EVIL] * 10000, "peaks": {EVIL: [[[]]]}})
        far.say(extra=[1])
    elif fault == "huge":
        far.write(far.frame(b"{}", size=0xFFFFFFFF))
    elif fault == "long":
        far.row(reason="y" * (2 << 20))
    elif fault == "endless":
        while True:
            far.say(state="checking", phase=EVIL, seconds=1e300, error=EVIL)
    elif fault == "twice":
        far.row()
        far.done()
        far.row(median_us=1)
    elif fault == "words":
        far.write((EVIL * 1000).encode())
    elif fault == "state":
        far.done("finished")
    far.done()
    while True:
        read_frame(0)


if __name__ == "__main__":
    play(Far(), os.environ["FAR_FAULT"])
