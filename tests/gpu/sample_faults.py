#!/usr/bin/env python3
"""Picks faults for the device from what `rkb-make-faults --out FAULTS` made.  usage: sample_faults.py FAULTS OUT COUNT TASK:DIRECTION...

OUT/TASK.DIRECTION/ gets at most COUNT of them, each of another operator, the same ones each time.  Run through seeds.yaml, where
the machine decides nothing, they show what the device makes of kernels that the machine rejects."""

import os
import random
import shutil
import sys


def found(faults):
    """(task, direction) -> operator -> paths; the folders are OPERATOR/TASK/DIRECTION/KERNEL."""
    by_direction = {}
    for folder, _, names in os.walk(faults):
        parts = os.path.relpath(folder, faults).split(os.sep)
        for name in names:
            if name.endswith(".cu") and len(parts) == 4:
                operator, task, direction, _ = parts
                by_direction.setdefault((task, direction), {}).setdefault(operator, []).append(os.path.join(folder, name))
    return by_direction


def main():
    faults, out, count, *directions = sys.argv[1:]
    by_direction, draw, picked = found(faults), random.Random(7), 0
    for entry in directions:
        task, direction = entry.split(":")
        of_operator = by_direction.get((task, direction), {})
        operators = sorted(of_operator)
        draw.shuffle(operators)
        folder = os.path.join(out, f"{task}.{direction}")
        os.makedirs(folder, exist_ok=True)
        for operator in operators[: int(count)]:
            path = draw.choice(sorted(of_operator[operator]))
            kernel = os.path.basename(os.path.dirname(path))
            shutil.copy(path, os.path.join(folder, f"{operator}.{kernel}.{os.path.basename(path)}"))
            picked += 1
    print(f"{picked} faults of {len(directions)} directions")
    return 0


if __name__ == "__main__":
    sys.exit(main())
