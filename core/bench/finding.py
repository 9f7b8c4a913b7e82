#!/usr/bin/env python3
"""How good are the kernels that rkb finds from a task alone, beside those that people wrote?

For every task and direction, by the CPU's model of the target:
  first    the first accepted kernel with no seed file readable, and how long it took
  best     the best after N candidates of pipelines/stock-no-seeds.yaml
  apart    the default schedule (every node its own launch, no tiles, no vectors)
  random   the best of as many schedules drawn by chance
  by hand  the fastest of the task's seeds, with their default tune values

The task is copied without its seeds for all but the last.  Every figure that was found is one line of OUT/finding.jsonl; a figure that
is there is not computed again, so that a sitting goes on where the last one ended.  --part I/N takes every Nth direction, for several
machines, whose files are joined by cat.

usage: finding.py BUILD TASKS OUT [--candidates N] [--only TASK] [--what first,best,apart,random,hand] [--part I/N] [--seed S]
                  [--keep FOLDER]"""
import argparse
import json
import math
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time


def directions(tasks, only):
    for name in sorted(os.listdir(tasks)):
        path = os.path.join(tasks, name, "task.yaml")
        if only and name != only or not os.path.exists(path):
            continue
        line = next(line for line in open(path, encoding="utf-8") if line.startswith("directions:"))
        for direction in ("forward", "backward"):
            if direction in line:
                yield name, direction


SCREEN = """screen:
  - use: rkb.verifier.lint
  - use: rkb.verifier.machine
  - use: rkb.profiler.model
"""
HEAD = "rkb: 1\nname: finding\nseed: {seed}\ntarget: h200\nobjective: {{minimise: [model.predicted_us], over: bench, combine: geomean}}\n"


def pipeline_text(what, count, seed, source):
    head = HEAD.format(seed=seed)
    if what == "best":
        return (f"rkb: 1\nname: finding\nextends: {source}/pipelines/stock-no-seeds.yaml\n"
                f"set: {{seed: {seed}, limits.candidates: {count}, limits.generations: 1000, limits.stale: {count}, limits.wall: 2h}}\n")
    if what == "apart":
        return head + "propose:\n  - {use: rkb.translator.graph, with: {starts: [apart]}}\n" + SCREEN
    if what == "first":
        return head + "propose:\n  - {use: rkb.translator.graph, with: {starts: [suited]}}\n" + SCREEN
    if what == "hand":
        return head + "propose:\n  - use: rkb.translator.seed\n" + SCREEN
    return (head + f"limits: {{candidates: {count}, generations: 1000, stale: {count}, wall: 2h}}\n"
            "propose:\n  - {use: rkb.translator.graph, with: {starts: [together]}}\n" + SCREEN +
            "search:\n  use: rkb.strategy.best_of_n\n  window: 16\n  operators:\n    - {use: rkb.translator.graph, id: draw}\n")


def figures(path):
    base = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    rows = base.execute("select standing, reason, objective from candidate where duplicate_of is null").fetchall()
    best = [objective for standing, _, objective in rows if objective is not None and standing == "accept"]
    reasons = {}
    for standing, reason, _ in rows:
        if standing != "accept":
            reasons[f"{standing} {reason}"] = reasons.get(f"{standing} {reason}", 0) + 1
    steps = base.execute("select r.number, c.objective from candidate c join request r on r.id = c.request where c.objective is not null and "
                         "c.standing = 'accept' order by c.id").fetchall()
    base.close()
    return {"us": min(best) if best else None, "candidates": len(rows), "accepted": len(best), "others": reasons, "steps": len(steps)}


def keep_best(build, run, path):
    """Writes the best kernel that a run found; a run without one leaves nothing."""
    subprocess.run([os.path.join(build, "bin", "rkb"), "best", run, "--out", path], capture_output=True, check=False)


def measure(build, source, task, direction, what, count, seed, kept):
    with tempfile.TemporaryDirectory() as scratch:
        used = task
        if what != "hand":
            used = os.path.join(scratch, os.path.basename(task))
            shutil.copytree(task, used, ignore=shutil.ignore_patterns("seeds", "best"))
        pipeline = os.path.join(scratch, "finding.yaml")
        with open(pipeline, "w", encoding="utf-8") as file:
            file.write(pipeline_text(what, count, seed, source))
        started = time.monotonic()
        result = subprocess.run([os.path.join(build, "bin", "rkb-run"), pipeline, "--task", used, "--direction", direction,
                                 "--secret", f"{seed:064x}", "--out", os.path.join(scratch, "run"), "--quiet"], capture_output=True, text=True)
        seconds = time.monotonic() - started
        archive = os.path.join(scratch, "run", "run.sqlite")
        if not os.path.exists(archive):
            return {"us": None, "seconds": seconds, "error": result.stderr.strip()[-300:]}
        if kept:
            keep_best(build, os.path.join(scratch, "run"), os.path.join(kept, f"{os.path.basename(task)}.{direction}.{what}.cu"))
        return {**figures(archive), "seconds": round(seconds, 2)}


def read(path):
    known = {}
    if os.path.exists(path):
        for line in open(path, encoding="utf-8"):
            row = json.loads(line)
            known[row["task"], row["direction"], row["what"], row["count"], row["seed"]] = row
    return known


def mean(values):
    values = [value for value in values if value]
    return math.exp(sum(map(math.log, values)) / len(values)) if values else float("nan")


def show(known, wanted, count, seed):
    table, ratios = [], {"hand / best": [], "apart / best": [], "random / best": [], "hand / first": []}
    print(f"{'task':<28}{'direction':<10}{'first us':>10}{'(s)':>6}{'apart':>11}{'random':>10}{'best':>10}{'by hand':>10}{'hand/first':>11}{'hand/best':>10}")
    for name, direction in wanted:
        row = {what: known.get((name, direction, what, 0 if what in ("first", "apart", "hand") else count, seed), {}) for what in
               ("first", "apart", "random", "best", "hand")}
        us = {what: row[what].get("us") for what in row}
        for a, b in (("hand", "best"), ("apart", "best"), ("random", "best"), ("hand", "first")):
            if us[a] and us[b]:
                ratios[f"{a} / {b}"].append(us[a] / us[b])
        text = lambda value: f"{value:.2f}" if value else "-"
        print(f"{name:<28}{direction:<10}{text(us['first']):>10}{row['first'].get('seconds', 0):>6.1f}{text(us['apart']):>11}{text(us['random']):>10}"
              f"{text(us['best']):>10}{text(us['hand']):>10}{text(us['hand'] / us['first'] if us['hand'] and us['first'] else None):>11}"
              f"{text(us['hand'] / us['best'] if us['hand'] and us['best'] else None):>10}")
        table.append(row)
    for what, values in ratios.items():
        if values:
            print(f"{what}: geometric mean {mean(values):.3f} over {len(values)} directions, least {min(values):.3f}")
    made = sum(row[what].get("candidates", 0) for row in table for what in ("first", "apart", "random", "best"))
    wrong = sum(sum(row[what].get("others", {}).values()) for row in table for what in ("first", "apart", "random"))
    drawn = sum(row[what].get("candidates", 0) for row in table for what in ("first", "apart", "random"))
    cost = sum(row[what].get("seconds", 0) for row in table for what in row)
    print(f"{made} candidates, {cost:.0f} s; of {drawn} that only the generator wrote {wrong} were not accepted")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("tasks")
    parser.add_argument("out")
    parser.add_argument("--candidates", type=int, default=40)
    parser.add_argument("--only")
    parser.add_argument("--what", default="first,hand,apart,best,random")
    parser.add_argument("--part", default="0/1")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", metavar="FOLDER", help="write the best kernel of each run there, to be timed on a device")
    given = parser.parse_args()
    for folder in filter(None, (given.out, given.keep)):
        os.makedirs(folder, exist_ok=True)
    path = os.path.join(given.out, "finding.jsonl")
    source = os.path.dirname(os.path.abspath(given.tasks))
    part, parts = map(int, given.part.split("/"))
    wanted = list(directions(given.tasks, given.only))
    for what in given.what.split(","):
        count = 0 if what in ("first", "apart", "hand") else given.candidates
        for number, (name, direction) in enumerate(wanted):
            key = (name, direction, what, count, given.seed)
            if number % parts != part or key in read(path):
                continue
            row = measure(given.build, source, os.path.join(given.tasks, name), direction, what, count, given.seed, given.keep)
            row.update(task=name, direction=direction, what=what, count=count, seed=given.seed)
            with open(path, "a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
            print(f"{name} {direction} {what}: {row['us']}", file=sys.stderr, flush=True)
    show(read(path), wanted, given.candidates, given.seed)


main()
