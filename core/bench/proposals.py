#!/usr/bin/env python3
"""What proposing costs: searches without builds and checks, ended at so many new candidates, one after the other.  Kernels are linted and measured by
the length of their text, so that what is left is the mutators, the archive, the strategy and the loop.  Prints a line a search, tab-separated: new
candidates; repetitions; milliseconds of processor time of rkb-run, with all its threads, a new candidate and a request that was asked; the most
memory in MiB.
usage: proposals.py RKB_RUN TASK NEW[,NEW...] [WINDOW [JOBS]]      for example 500,1000,3000; a window of 640, as on 32 cores; two jobs"""
import json
import os
import subprocess
import sys
import tempfile

PIPELINE = """rkb: 1
name: proposals
seed: 1
target: h200
objective: {{minimise: [size.bytes]}}
limits: {{candidates: {new}, generations: 1000000, stale: 1000000}}
propose:
  - use: rkb.translator.graph
screen:
  - use: rkb.verifier.lint
  - use: rkb.profiler.size
search:
  use: rkb.strategy.islands
  window: {window}
  operators:
    - {{use: rkb.mutator.schedule, weight: 2}}
    - {{use: rkb.mutator.edit, weight: 2}}
    - {{use: rkb.mutator.crossover, weight: 1}}
"""


def search(program, task, new, window, jobs, folder):
    """Returns a search's result, the processor seconds of its process, and the most MiB that the process had."""
    path = os.path.join(folder, f"proposals-{new}.yaml")
    with open(path, "w", encoding="utf-8") as file:
        file.write(PIPELINE.format(new=new, window=window))
    words = [program, path, "--task", task, "--out", os.path.join(folder, f"run-{new}"), "--jobs", str(jobs), "--secret", "07" * 32, "--json"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):  # 1: nothing was verified by execution
        sys.exit(f"rkb-run ended with {process.returncode}")
    return json.loads(output), usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main():
    if len(sys.argv) not in (4, 5, 6):
        sys.exit(__doc__)
    program, task, numbers = sys.argv[1:4]
    window, jobs = (int(word) for word in (sys.argv[4:] + ["640", "2"][len(sys.argv) - 4:]))
    print("new\trepetitions\trkb-run ms a new candidate\tms a request\tMiB")
    with tempfile.TemporaryDirectory() as folder:
        for number in numbers.split(","):
            result, seconds, memory = search(program, task, int(number), window, jobs, folder)
            counts = result["counts"]
            print(f"{counts['candidates']}\t{counts['duplicates']}\t{seconds / counts['candidates'] * 1e3:.1f}\t"
                  f"{seconds / counts['told'] * 1e3:.1f}\t{memory:.0f}", flush=True)


main()
