#!/usr/bin/env python3
"""What the quick gate takes, from machine code to checked and timed.  usage: gate.py RUN...   (Markdown)

Of each run's accepted and timed candidates the first, which finds nothing kept of the reference, stands alone; the others give
median and slowest.  The parts are the medians of the phases that the stages tell with their verdict and time."""

import json
import os
import sqlite3
import statistics
import sys

GOAL_MS = 500
PARTS = ["device", "plan", "open", "stage", "run", "time", "own", "expect", "compare", "close", "other"]


def gates(run):
    """(task, direction, [{"check": {...}, "time": {...}}]) in the order of the device's work."""
    base = sqlite3.connect(f"file:{os.path.abspath(os.path.join(run, 'run.sqlite'))}?mode=ro", uri=True)
    rows = base.execute(
        "SELECT c.task, c.direction, v.evidence, m.detail FROM candidate c JOIN verdict v ON v.candidate = c.id AND v.stage = 'gpu'"
        " JOIN measurement m ON m.candidate = c.id AND m.name = 'time.us' AND m.task_case = '' WHERE v.standing = 'accept' ORDER BY c.id").fetchall()
    base.close()
    found = [{"check": json.loads(evidence)["ms"], "time": json.loads(detail)["ms"]} for _, _, evidence, detail in rows]
    return (rows[0][0], rows[0][1], found) if rows else ("", "", [])


def whole(gate):
    return sum(part["all"] - part.get("device", 0) for part in gate.values())


def line(task, direction, found):
    kept = found[1:]
    totals = [whole(gate) for gate in kept]
    cells = [task, direction, str(len(kept)), f"{whole(found[0]):.0f}", f"{statistics.median(totals):.0f}", f"{max(totals):.0f}"]
    for part in PARTS[1:]:
        cells.append(f"{statistics.median(sum(stage.get(part, 0) for stage in gate.values()) for gate in kept):.0f}")
    return totals, "| " + " | ".join(cells) + " |"


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
        totals, text = line(task, direction, found)
        every += totals
        print(text)
    if every:
        within = sum(total < GOAL_MS for total in every)
        print(f"\n{within} of {len(every)} candidates ({100 * within / len(every):.1f} %) in under {GOAL_MS} ms; median {statistics.median(every):.0f}, slowest {max(every):.0f}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
