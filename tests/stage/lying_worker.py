#!/usr/bin/env python3
"""A screening worker that answers its third job as an honest one never would: with the number of an earlier job, as one would that is late; with an
answer of another kind; with a frame that says it has 1 GiB or 2^63 bytes; or with half a frame, and then it ends.  usage: lying_worker.py HOW WORKER"""
import struct
import subprocess
import sys

BEGUN = 106
how = sys.argv[1]
worker = subprocess.Popen(sys.argv[2:], stdin=sys.stdin.buffer, stdout=subprocess.PIPE)
jobs = 0
while len(head := worker.stdout.read(16)) == 16:
    magic, version, length = struct.unpack("<IIQ", head)
    body = worker.stdout.read(length)
    kind = struct.unpack_from("<I", body)[0]
    jobs += kind == BEGUN
    lies = kind == BEGUN and jobs == 3
    if lies and how == "late":
        body = struct.pack("<IQ", BEGUN, struct.unpack_from("<Q", body, 4)[0] - 1)
    elif lies and how == "kind":
        body = struct.pack("<I", 999) + body[4:]
    elif lies and how in ("gigabyte", "endless"):
        head = struct.pack("<IIQ", magic, version, 1 << 30 if how == "gigabyte" else 1 << 63)
    sys.stdout.buffer.write(head + (body[: len(body) // 2] if lies and how == "half" else body))
    sys.stdout.buffer.flush()
    if lies and how == "half":
        worker.kill()
        break
