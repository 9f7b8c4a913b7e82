#!/usr/bin/env python3
"""A screening worker that answers its third job with the number of an earlier one, as one would that is late.  usage: late_worker.py WORKER"""
import struct
import subprocess
import sys

BEGUN = 106
worker = subprocess.Popen(sys.argv[1:], stdin=sys.stdin.buffer, stdout=subprocess.PIPE)
jobs = 0
while len(head := worker.stdout.read(16)) == 16:
    body = worker.stdout.read(struct.unpack("<IIQ", head)[2])
    kind = struct.unpack_from("<I", body)[0]
    jobs += kind == BEGUN
    if kind == BEGUN and jobs == 3:
        body = struct.pack("<IQ", BEGUN, struct.unpack_from("<Q", body, 4)[0] - 1)
    sys.stdout.buffer.write(head + body)
    sys.stdout.buffer.flush()
