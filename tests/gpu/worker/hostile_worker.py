#!/usr/bin/env python3
"""A worker that lies.  usage: hostile_worker.py LIE DEVICE  (LIE: a key of LIES, or none; started by test_claims.c)"""
import struct
import sys
import time

HEAD = struct.Struct("<IHHIiQ")  # rkb_worker_head_t
MAGIC, VERSION = 0x57424B52, 7
HELLO, INSTANCE, RUN, TIME, STATE, OBSERVE, ENERGY = 1, 4, 5, 7, 9, 15, 16
GREETING = b"device=double\ndriver=1\nbus=hostile\n"
NAN, INF = float("nan"), float("inf")


def ran(outcome, error=0, buffer=0, before=0, distance=0):
    return struct.pack("<IiIIQ", outcome, error, buffer, before, distance)


def observed(seen, launches=0, metrics=5, message=b""):
    return struct.pack("<IIII240s", seen, launches, metrics, 1, message)


# What is answered to one type of message: (status, body), and what else of the head is wrong.
LIES = {
    "outcome": {RUN: (0, ran(77))},
    "well-with-error": {RUN: (0, ran(0, 700))},
    "fault-without-error": {RUN: (0, ran(1, 0))},
    "damage-of-no-buffer": {RUN: (0, ran(3, 0, 999))},
    "damage-before-and-behind": {RUN: (0, ran(3, 0, 0, 2))},
    "short": {RUN: (0, ran(0)[:8])},
    "long": {RUN: (0, ran(0) + b"x")},
    "nan-time": {TIME: (0, struct.pack("<f", NAN))},
    "infinite-time": {TIME: (0, struct.pack("<f", INF))},
    "negative-time": {TIME: (0, struct.pack("<f", -1))},
    "no-time": {TIME: (0, struct.pack("<f", 0))},
    "time-of-nothing": {TIME: (0, struct.pack("<f", 1e-30))},
    "largest-time": {TIME: (0, struct.pack("<f", 3.4e38))},
    "two-times": {TIME: (0, struct.pack("<ff", 1.5, 1.5))},
    "time-past-deadline": {TIME: (0, struct.pack("<f", 1e6))},
    "status": {RUN: (99, b"never mind")},
    "negative-status": {RUN: (-4, b"never mind")},
    "long-refusal": {RUN: (2, b"x" * 100000)},
    "number": {RUN: (0, ran(0)), "number": 7},
    "type": {RUN: (0, ran(0)), "type": STATE},
    "length": {RUN: (0, ran(0)), "length": 2 ** 63},
    "gigabyte": {RUN: (0, bytes(1 << 30))},
    "orders-to-the-terminal": {RUN: (2, b"no \x1b]0;title\x07 memory\xff")},
    "state-orders": {STATE: (0, b"sm=1\n\x1b[2J\x9b\xff\n")},
    "observation-of-no-kind": {OBSERVE: (0, observed(9))},
    "observation-of-another-plan": {OBSERVE: (0, observed(0, 7))},
    "observation-of-other-metrics": {OBSERVE: (0, observed(0, 0, 6))},
    "observation-without-head": {OBSERVE: (0, b"x" * 8)},
    "observation-with-more": {OBSERVE: (0, observed(0) + b"x" * 8)},
    "observation-orders": {OBSERVE: (0, observed(2, 0, 5, b"no \x1b[2J counters" + b"x" * 240))},
    "energy-in-no-time": {ENERGY: (0, struct.pack("<QQQ", 5, 0, 1))},
    "energy-of-no-run": {ENERGY: (0, struct.pack("<QQQ", 5, 1000000, 0))},
    "energy-of-a-city": {ENERGY: (0, struct.pack("<QQQ", 2 ** 63, 1000000, 1))},
    # Answers that come at the wrong time: those before, several, parts, and none.
    "twice": {HELLO: (0, GREETING), "times": 2},
    "again": {RUN: (0, ran(0)), "number": -1},
    "flood": {RUN: (0, ran(0)), "times": 1 << 40},
    "half": {RUN: (0, ran(0)), "most": HEAD.size + 12},
    "half-a-head": {RUN: (0, ran(0)), "most": 10},
    "byte-by-byte": {RUN: (0, ran(0)), "pause": 5},
    "silent": {RUN: (0, ran(0)), "most": 0},
    "well": {},
}
HONEST = {HELLO: GREETING, RUN: ran(0), TIME: struct.pack("<f", 1.5), OBSERVE: observed(0), ENERGY: struct.pack("<QQQ", 400, 1000000000, 10)}


def main():
    lie = LIES[sys.argv[1]]
    read, write = sys.stdin.buffer, sys.stdout.buffer
    while True:
        head = read.read(HEAD.size)
        if len(head) < HEAD.size:
            return
        _, _, kind, number, _, length = HEAD.unpack(head)
        read.read(length)
        status, body = lie.get(kind, (0, HONEST.get(kind, b"")))
        told = lie if kind in lie else {}
        answer = HEAD.pack(MAGIC, VERSION, told.get("type", kind), number + told.get("number", 0), status, told.get("length", len(body))) + body
        for _ in range(told.get("times", 1)):
            for at in range(len(answer)) if "pause" in told else ():
                write.write(answer[at:at + 1])
                write.flush()
                time.sleep(told["pause"])
            if "pause" not in told:
                write.write(answer[:told.get("most", len(answer))])
        write.flush()


main()
