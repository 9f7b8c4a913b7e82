#!/usr/bin/env python3
"""How good are the kernels that rkb finds from a task alone, beside those that people wrote?

For every task and direction, by the CPU's model of the target:
  first    the kernels that stock begins with, with no seed file readable: the plainest one, which is there early, and the one that suits the task;
           when the first of them was accepted, with two threads, and the better one's time
  best     the best of a run of pipelines/stock-no-seeds.yaml with N candidates, and after fewer of them
  apart    the default schedule (every node its own launch, no tiles, no vectors, no tensor cores)
  random   the best of as many schedules drawn by chance
  niches   as best, with islands by the structure of schedules
  steps    as best, without the schedule mutator's model of what was tried
  guess    as best, but candidates that are predicted slower than the best ones are left unchecked (pipelines/stock-guess.yaml)
  by hand  the fastest of the task's seeds, with their default tune values

The task is copied without its seeds for all but the last.  Every run leaves one line in OUT/finding.jsonl.  A run that is there is not
made again, and one that was interrupted is continued where it lies (OUT/runs), so that a sitting goes on where the last one ended.
--part I/N takes every Nth direction, for several machines, whose files are joined by cat.

usage: finding.py BUILD TASKS OUT [OPTION]..."""
import argparse
import concurrent.futures
import json
import os
import sys
import threading
import time

import finding_runs
import finding_table

WHATS = ("first", "hand", "apart", "best", "random", "niches", "steps", "guess")
DRAWS = ("best", "random", "niches", "steps", "guess")  # the others are the same for every seed


def directions(tasks, only):
    """Pairs (task, direction), in the order of `only` (TASK or TASK:DIRECTION, ...) or in the order of the alphabet."""
    names = [word.partition(":") for word in only.split(",")] if only else [(name, "", "") for name in sorted(os.listdir(tasks))]
    for name, _, wanted in names:
        path = os.path.join(tasks, name, "task.yaml")
        if not os.path.exists(path):
            continue
        with open(path, encoding="utf-8") as file:
            line = next(line for line in file if line.startswith("directions:"))
        for direction in ("forward", "backward"):
            if direction in line and wanted in ("", direction):
                yield name, direction


def wanted_runs(given, pairs):
    """Keys (task, direction, what, candidates, seed).  All keys with the first seed come before those with the second seed."""
    part, parts = map(int, given.part.split("/"))
    for place, seed in enumerate(given.seeds):
        for what in given.what:
            repeats = what in DRAWS
            for number, (name, direction) in enumerate(pairs):
                if number % parts == part and (repeats or place == 0):
                    yield name, direction, what, given.candidates if repeats else 0, seed


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", help="a build or an installation: BUILD/bin has rkb and rkb-run")
    parser.add_argument("tasks")
    parser.add_argument("out")
    parser.add_argument("--candidates", type=int, default=200)
    parser.add_argument("--only", metavar="LIST", help="TASK or TASK:DIRECTION, separated by commas")
    parser.add_argument("--what", default=list(WHATS[:5]), type=lambda text: text.split(","), metavar="LIST",
                        help=f"of {', '.join(WHATS)}; default: all but the last three")
    parser.add_argument("--seeds", default="1", type=lambda text: [int(word) for word in text.split(",")])
    parser.add_argument("--part", default="0/1", metavar="I/N")
    parser.add_argument("--at-once", type=int, default=1, help="runs side by side, each with --jobs threads")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--for", dest="limit", type=float, metavar="SECONDS", help="interrupt what is not finished then; call again to go on")
    parser.add_argument("--keep", metavar="FOLDER", help="write the best kernel of each run there, to be timed on a device")
    parser.add_argument("--defects", metavar="FOLDER", help="write each kernel there that the generator wrote and the screen did not accept, and beside it why")
    given = parser.parse_args()
    unknown = set(given.what) - set(WHATS)
    if unknown:
        parser.error(f"--what knows {', '.join(WHATS)}, not {', '.join(sorted(unknown))}")
    return given


def main():
    given = options()
    for folder in filter(None, (given.out, given.keep, given.defects)):
        os.makedirs(folder, exist_ok=True)
    path = os.path.join(given.out, "finding.jsonl")
    place = finding_runs.Place(build=os.path.abspath(given.build), tasks=os.path.abspath(given.tasks), runs=os.path.join(os.path.abspath(given.out), "runs"),
                               keep=given.keep, defects=given.defects, jobs=given.jobs, end=None if given.limit is None else time.monotonic() + given.limit)
    pairs = list(directions(given.tasks, given.only))
    known = finding_table.read(path)
    runs = [key for key in wanted_runs(given, pairs) if not known.get(key, {}).get("ended")]
    lock = threading.Lock()

    def work(key):
        if place.is_late():
            return
        row = finding_runs.measure(place, *key)
        with lock, open(path, "a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
            print(f"{row['task']} {row['direction']} {row['what']} seed {row['seed']}: {row['us']} us after {row['candidates']} candidates"
                  f"{'' if row['ended'] else ', ' + row.get('error', 'interrupted')}", file=sys.stderr, flush=True)

    with concurrent.futures.ThreadPoolExecutor(given.at_once) as pool:
        for done in [pool.submit(work, key) for key in runs]:
            done.result()
    finding_table.show(finding_table.read(path), pairs, given.candidates, given.seeds)


main()
