#!/usr/bin/env python3
"""What page placement does to the anchors: each of the copy's places, and their mean, in several processes one after the other.
usage: placement.py LIBRKB-TIMING [PROCESSES]   (Markdown)

The libraries of core/tools/baseline have to be in PYTHONPATH.  Microseconds; of each place the trimmed mean of its runs, of the last column
what protocol.Clock.anchors() says, twice: how far two of its answers in one process are apart."""

import os
import subprocess
import sys

PLACES, RUNS = 16, 12


def measure(library):
    import timing_protocol as protocol

    clock = protocol.Clock(library)
    with clock:
        for _ in range(200):  # the clocks rise
            clock.run(lambda: clock.check(clock.c.rkb_timing_anchor(None, 0, 0)), None, 1)
        places = []
        for place in range(PLACES):
            times = [clock.run(lambda: clock.check(clock.c.rkb_timing_anchor(None, 0, place)), None, 1) for _ in range(RUNS)]
            places.append(protocol.trimmed_mean(times) * 1e3)
        reads = [clock.run(lambda: clock.check(clock.c.rkb_timing_flush(None, 1)), None, 1) for _ in range(RUNS)]
        first, second = clock.anchors(None), clock.anchors(None)
    print(f"| {min(places):.2f} | {max(places):.2f} | {sum(places) / len(places):.3f} | {protocol.trimmed_mean(reads) * 1e3:.2f} |"
          f" {first['copy_us']:.3f}, {second['copy_us']:.3f} | {first['chain_us']:.3f}, {second['chain_us']:.3f} |"
          f" {' '.join(f'{place:.2f}' for place in places)} |", flush=True)


def main():
    if os.environ.get("RKB_PLACEMENT_CHILD"):
        return measure(sys.argv[1])
    print("| least place | most | mean | reading the flush's memory | copy anchor, twice | chain anchor, twice | places |\n|---|---|---|---|---|---|---|", flush=True)
    for _ in range(int(sys.argv[2]) if len(sys.argv) > 2 else 6):
        subprocess.run([sys.executable, *sys.argv], env=dict(os.environ, RKB_PLACEMENT_CHILD="1"), check=True)


if __name__ == "__main__":
    main()
