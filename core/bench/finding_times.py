#!/usr/bin/env python3
"""Measured times on a GPU of the kernels that finding.py kept, beside the seeds of their tasks: is the model's choice a good one?

For every task and direction of KEPT one run on the device checks and times all its seeds and all kernels kept for it, in one sitting.
Prints a line each, tab-separated: the fastest seed and its time, the first kernel from the graph, the fastest found, the ratios.
Needs a GPU.  The values that a kernel is compared with are computed on the CPU, which takes minutes for a few tasks: --each bounds a direction,
--only chooses some.  usage: finding_times.py BUILD TASKS KEPT OUT [--for SECONDS] [--each SECONDS] [--only LIST]"""
import argparse
import glob
import json
import math
import os
import shutil
import sqlite3
import subprocess
import time

PIPELINE = """rkb: 1
name: finding-times
seed: 1
target: h200
objective: {{minimise: [time.us], over: bench, combine: geomean}}
limits: {{wall: {wall}s}}
propose:
  - use: rkb.translator.seed
  - {{use: rkb.translator.seed, id: found, with: {{files: {files}}}}}
screen:
  - {{use: rkb.verifier.gpu, deadline: 60s, with: {{budget: 300ms}}}}
  - {{use: rkb.profiler.time, deadline: 60s, with: {{rounds: 12, budget: 300ms}}}}
"""


def kernels_of(kept):
    found = {}
    for path in sorted(glob.glob(os.path.join(kept, "*.cu"))):
        task, direction, _ = os.path.basename(path)[:-3].rsplit(".", 2)
        found.setdefault((task, direction), []).append(os.path.abspath(path))
    return found


def times(archive):
    """Returns, for each operator, pairs (microseconds, first line of the kernel's note); and the kernels that were not accepted."""
    base = sqlite3.connect(f"file:{archive}?mode=ro", uri=True)
    rows = base.execute("select operator, objective, note, standing, reason, duplicate_of from candidate order by id").fetchall()
    base.close()
    good = {"seed": [], "found": []}
    for operator, us, note, standing, _, duplicate in rows:
        if standing == "accept" and us is not None and duplicate is None:
            good[operator].append((us, note or ""))
    return good, [f"{row[0]} {row[2]}: {row[3]} {row[4]}" for row in rows if row[3] != "accept" and row[5] is None]


def measure(given, task, direction, files):
    run = os.path.join(given.out, f"{task}.{direction}")
    shutil.rmtree(run, ignore_errors=True)
    pipeline = f"{run}.yaml"
    with open(pipeline, "w", encoding="utf-8") as file:
        file.write(PIPELINE.format(files=json.dumps(files), wall=given.each))
    done = subprocess.run([os.path.join(given.build, "bin", "rkb-run"), pipeline, "--task", os.path.join(given.tasks, task), "--direction", direction,
                           "--out", run, "--quiet"], capture_output=True, text=True, check=False)
    archive = os.path.join(run, "run.sqlite")
    return times(archive) if os.path.exists(archive) else ({"seed": [], "found": []}, [done.stderr.strip()[-300:]])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("build", "tasks", "kept", "out"):
        parser.add_argument(name)
    parser.add_argument("--for", dest="limit", type=float, default=1e9, metavar="SECONDS", help="start no direction after so long")
    parser.add_argument("--each", type=int, default=300, metavar="SECONDS", help="the most that a direction may take")
    parser.add_argument("--only", default="", metavar="LIST", help="TASK:DIRECTION, separated by commas, in this order")
    given = parser.parse_args()
    kept = kernels_of(given.kept)
    chosen = [tuple(name.split(":")) for name in given.only.split(",") if name] or list(kept)
    os.makedirs(given.out, exist_ok=True)
    started, ratios = time.monotonic(), []
    print("task\tdirection\tseed us\tfastest seed\tfound us\twhich\tseed / found\tfound: all us")
    for task, direction in chosen:
        if time.monotonic() - started > given.limit:
            break
        good, bad = measure(given, task, direction, kept.get((task, direction), []))
        seed, found = (min(good[kind], default=(None, "")) for kind in ("seed", "found"))
        ratio = seed[0] / found[0] if seed[0] and found[0] else None
        if ratio:
            ratios.append(ratio)
        text = [f"{value:.2f}" if value else "-" for value in (seed[0], found[0], ratio)]
        print("\t".join([task, direction, text[0], seed[1], text[1], found[1], text[2], ", ".join(f"{us:.2f}" for us, _ in good["found"])]), flush=True)
        for line in bad:
            print(f"  {line}")
    if ratios:
        print(f"seed / found: geometric mean {math.exp(sum(map(math.log, ratios)) / len(ratios)):.3f} over {len(ratios)} directions, least {min(ratios):.3f}")


main()
