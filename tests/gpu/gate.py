#!/usr/bin/env python3
"""What the quick gate takes, from machine code to checked and timed.  usage: gate.py RUN...   (Markdown)

Of each run's accepted and timed candidates the first, which finds no inputs on the device, stands alone; the others give
median and slowest.  Fast: kernels that take less than 100 us on every case; running slow ones takes its time.  The parts are the medians of the
phases that the stages tell with their verdict and time."""

import json
import os
import sqlite3
import statistics
import sys

GOAL_MS = 500
FAST_US = 100
STAGES = ["check", "time"]
PARTS = ["device", "plan", "open", "stage", "run", "time", "own", "expect", "compare", "close", "other"]


def gates(run):
    """(task, direction, [{"check": {...}, "time": {...}}]) in the order of the device's work."""
    base = sqlite3.connect(f"file:{os.path.abspath(os.path.join(run, 'run.sqlite'))}?mode=ro", uri=True)
    rows = base.execute(
        "SELECT c.task, c.direction, v.evidence, m.detail, (SELECT max(x.value) FROM measurement x WHERE x.candidate = c.id AND"
        " x.name = 'time.us' AND x.task_case <> '') FROM candidate c JOIN verdict v ON v.candidate = c.id AND v.stage = 'gpu'"
        " JOIN measurement m ON m.candidate = c.id AND m.name = 'time.us' AND m.task_case = '' WHERE v.standing = 'accept' ORDER BY c.id").fetchall()
    base.close()
    found = [{"check": json.loads(evidence)["ms"], "time": json.loads(detail)["ms"], "us": us} for _, _, evidence, detail, us in rows]
    return (rows[0][0], rows[0][1], found) if rows else ("", "", [])


def whole(gate):
    return sum(gate[stage]["all"] - gate[stage].get("device", 0) for stage in STAGES)


def line(task, direction, found):
    kept = found[1:]
    totals = [whole(gate) for gate in kept]
    cells = [task, direction, str(len(kept)), f"{whole(found[0]):.0f}", f"{statistics.median(totals):.0f}", f"{max(totals):.0f}"]
    for part in PARTS[1:]:
        cells.append(f"{statistics.median(sum(gate[stage].get(part, 0) for stage in STAGES) for gate in kept):.0f}")
    return "| " + " | ".join(cells) + " |"


def main():
    print("Milliseconds of the quick gate, machine code to checked and timed, waiting for a device left out.\n")
    head = ["task", "direction", "candidates", "first", "median", "slowest"] + PARTS[1:]
    print("| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    every = []
    for run in sys.argv[1:]:
        if not os.path.exists(os.path.join(run, "run.sqlite")):
            continue
        task, direction, found = gates(run)
        if len(found) < 2:
            continue
        print(line(task, direction, found))
        every += found[1:]
    fast = [gate for gate in every if gate["us"] < FAST_US]
    for name, some in (("candidates", every), (f"candidates under {FAST_US} us", fast)):
        if some:
            totals = [whole(gate) for gate in some]
            known = [total - sum(gate[stage].get("expect", 0) for stage in STAGES) for total, gate in zip(totals, some)]
            print(f"\n{sum(t < GOAL_MS for t in totals)} of {len(some)} {name} in under {GOAL_MS} ms, median {statistics.median(totals):.0f}, slowest"
                  f" {max(totals):.0f}; without the reference {sum(t < GOAL_MS for t in known)}, slowest {max(known):.0f}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
