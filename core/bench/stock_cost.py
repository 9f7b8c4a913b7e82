#!/usr/bin/env python3
"""What a candidate of a stock run costs in processor time, and what part of it compiling is: each task's run from an empty cache, and again from the
cache that it left, which differs by the compilers.  Processor time of rkb-run and of all processes that it starts, so other work on the machine
matters little; half of it is the time on two idle cores.  With several programs, one after the other for each task, the last column is the part of
the first one's time that the program takes a candidate.
Prints a line a run, tab-separated: program; task; candidates and repetitions; milliseconds a candidate: in all, in the compilers, in the kernel of the
operating system; seconds that 100 candidates take on two idle cores; the part of the first program's.
usage: stock_cost.py RKB_RUN[,RKB_RUN...] TASK[,TASK...] [CANDIDATES [JOBS]]      100 candidates, two jobs"""
import json
import os
import resource
import subprocess
import sys
import tempfile


def spent(program, task, candidates, jobs, cache, out):
    """Returns the run's result, and the processor seconds of the run and its children: in all, and in the operating system's kernel."""
    words = [program, "stock", "--task", task, "--out", out, "--jobs", str(jobs), "--secret", "07" * 32, "--json",
             "--set", f"limits.candidates={candidates}", "--set", "limits.wall=60m"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    ended = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, check=False,
                           env=dict(os.environ, XDG_CACHE_HOME=cache))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if ended.returncode != 0:
        sys.exit(f"{program} ended with {ended.returncode}: {ended.stderr.decode()[-2000:]}")
    kernel = after.ru_stime - before.ru_stime
    return json.loads(ended.stdout), after.ru_utime - before.ru_utime + kernel, kernel


def cost(program, task, candidates, jobs):
    """Candidates, repetitions, and seconds a candidate: in all, in the compilers, in the kernel."""
    with tempfile.TemporaryDirectory() as folder:
        cache = os.path.join(folder, "cache")
        result, cold, kernel = spent(program, task, candidates, jobs, cache, os.path.join(folder, "cold"))
        _, warm, _ = spent(program, task, candidates, jobs, cache, os.path.join(folder, "warm"))
    count = result["counts"]["candidates"]
    return count, result["counts"]["duplicates"], cold / count, (cold - warm) / count, kernel / count


def main():
    if len(sys.argv) not in (3, 4, 5):
        sys.exit(__doc__)
    programs, tasks = sys.argv[1].split(","), sys.argv[2].split(",")
    candidates, jobs = (int(word) for word in (sys.argv[3:] + ["100", "2"][len(sys.argv) - 3:]))
    print("program\ttask\tcandidates\trepetitions\tms a candidate\tcompilers\tkernel\t100 on two cores, s\tof the first")
    for task in tasks:
        first = None
        for program in programs:
            count, again, whole, compilers, kernel = cost(program, task, candidates, jobs)
            first = first or whole
            print(f"{program}\t{task}\t{count}\t{again}\t{whole * 1e3:.0f}\t{compilers * 1e3:.0f}\t{kernel * 1e3:.0f}\t{whole * 50:.1f}\t"
                  f"{whole / first:.2f}", flush=True)


main()
