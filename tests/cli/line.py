#!/usr/bin/env python3
"""line.py - a bad line, in the place of ssh (ATTNSCOPE_SSH): starts $LINE_SSH with its own arguments and hands on what
passes, as the words of the file $LINE_PLAN have it, which is read once and removed, so that the next line is a good one:

    delay SECONDS        each way
    cut near|far K       breaks off behind the K-th frame that came from there (0: before the first)
    part near|far K      the same in the middle of that frame
    bend near|far K      changes a byte of that frame
    hang near|far K      stays up and hands on nothing more
    taint                puts escape sequences into the texts of every row, and says so truly in the checksum
    build TEXT           gives the far end's hello another build

$LINE_LOG gets a line for each connection, "begin", and one for each frame, "near" or "far".
SPDX-License-Identifier: GPL-3.0-or-later"""
import json
import os
import signal
import struct
import subprocess
import sys
import threading
import time

HEADER = 24
EVIL = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202egnp"


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def rebuilt(frame, payload):
    head = frame[:8] + struct.pack("<I", len(payload)) + frame[12:20]
    return head + struct.pack("<I", crc32c(head + payload)) + payload


class Line:
    def __init__(self):
        self.plan = {}
        try:
            with open(os.environ["LINE_PLAN"], encoding="utf-8") as f:
                for words in map(str.split, f):
                    self.plan[words[0]] = words[1:]
            os.remove(os.environ["LINE_PLAN"])
        except OSError:
            pass
        self.counts = {"near": 0, "far": 0}
        self.lock = threading.Lock()
        self.hung = False
        self.log("begin")
        self.ssh = subprocess.Popen([os.environ["LINE_SSH"]] + sys.argv[1:], stdin=subprocess.PIPE,
                                    stdout=subprocess.PIPE, bufsize=0)

    def end(self, status):
        with self.lock:
            self.ssh.kill()
            os._exit(status)

    @staticmethod
    def log(word):
        with open(os.environ["LINE_LOG"], "a", encoding="utf-8") as f:
            f.write(word + "\n")

    def is_due(self, what, side):
        at = self.plan.get(what)
        return at and at[0] == side and int(at[1]) == self.counts[side]

    def changed(self, side, frame):
        if side == "far" and self.counts["far"] == 1 and "build" in self.plan:
            hello = json.loads(frame[HEADER:])
            hello.update(build=self.plan["build"][0], program="9.9" + EVIL)
            return rebuilt(frame, json.dumps(hello).encode())
        if side == "far" and "taint" in self.plan and len(frame) > HEADER:
            o = json.loads(frame[HEADER:])
            for name in list(o.get("row") or ()):
                if isinstance(o["row"][name], str) and name not in ("check", "stopped", "l2", "kernel", "shape"):
                    o["row"][name] += EVIL
            if "row" in o:
                o["row"]["reason"] = "said " + EVIL
            if o.get("phase"):
                o["phase"] += EVIL
            return rebuilt(frame, json.dumps(o).encode())
        if self.is_due("bend", side):
            return frame[:-1] + bytes([frame[-1] ^ 1])
        return frame

    def hand_on(self, side, frame, out):
        if "delay" in self.plan:
            time.sleep(float(self.plan["delay"][0]))
        self.counts[side] += 1
        self.log(side)
        if self.is_due("part", side):
            os.write(out, frame[:len(frame) // 2])
            self.end(255)
        if not self.hung:
            frame = self.changed(side, frame)
            while frame:
                frame = frame[os.write(out, frame):]
        if self.is_due("cut", side):
            self.end(255)
        self.hung = self.hung or bool(self.is_due("hang", side))

    def relay(self, side, source, out):
        kept = b""
        if self.is_due("cut", side):
            self.end(255)
        while True:
            data = os.read(source, 65536)
            if not data:
                break
            kept += data
            while len(kept) >= HEADER:
                size = HEADER + struct.unpack_from("<I", kept, 8)[0] if kept[:4] == b"ATSC" else len(kept)
                if len(kept) < size:
                    break
                frame, kept = kept[:size], kept[size:]
                try:
                    self.hand_on(side, frame, out)
                except OSError:
                    self.end(255)
        if side == "near":
            os.close(out)
        else:
            self.end(self.ssh.wait() & 0xFF)

    def run(self):
        near = threading.Thread(target=self.relay, args=("near", 0, self.ssh.stdin.fileno()), daemon=True)
        near.start()
        self.relay("far", self.ssh.stdout.fileno(), 1)


signal.signal(signal.SIGTERM, lambda *_: os._exit(255))
Line().run()
