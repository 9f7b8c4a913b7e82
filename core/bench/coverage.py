#!/usr/bin/env python3
"""How many outputs of the shipped seeds have no element judged at their bench shapes.

    core/bench/coverage.py build/bin/rkb [SEED.cu ...]

Each seed is checked once, with a fixed secret.  Prints one line a seed: the processor time of the whole check, how many outputs have no element
judged at a bench case (an output counts once for each), how many of those are not judged at a smaller shape like it either, and their names.
Exits with 1 when a seed is not accepted.
"""
import glob
import json
import os
import re
import resource
import subprocess
import sys

SECRET = 32 * "5a"
UNJUDGED = re.compile(r"case (\S+): no element of (.+) was judged")


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def check(rkb, seed):
    """Returns the verdict's standing; (case, output) for each output without a judged element; and the cases whose outputs were judged at smaller shapes."""
    answer = subprocess.run([rkb, "check", "--json", "--secret", SECRET, seed], capture_output=True, text=True, check=False)
    try:
        verdict = json.loads(answer.stdout)
    except ValueError:
        return "none: " + answer.stderr.strip()[:100], [], set()
    unjudged, reduced = [], set()
    for stage in verdict["verdicts"]:
        for facet in stage["certificate"] or []:
            if facet["facet"] == "reduced":
                reduced |= {case["case"] for case in facet["cases"]}
            if facet["facet"] == "unknown":
                found = UNJUDGED.match(facet["reason"])
                if found:
                    unjudged += [(found[1], name) for name in found[2].split(", ")]
    return verdict["standing"] + (" " + verdict["reason"] if verdict["reason"] else ""), unjudged, reduced


def main():
    rkb, *seeds = sys.argv[1:]
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    if not seeds:
        seeds = sorted(glob.glob(os.path.join(source, "tasks/*/seeds/*/*.cu")))
    total, nowhere, refused = 0, 0, 0
    print("seconds  unjudged  nowhere  standing  seed: outputs")
    for seed in seeds:
        before = processor_seconds()
        standing, unjudged, reduced = check(rkb, seed)
        names = ", ".join(f"{case} {name}" for case, name in unjudged)
        left = sum(case not in reduced for case, _ in unjudged)
        path = os.path.relpath(seed, os.path.join(source, "tasks"))
        print(f"{processor_seconds() - before:7.2f}  {len(unjudged):8}  {left:7}  {standing:8}  {path}: {names}", flush=True)
        total += len(unjudged)
        nowhere += left
        refused += standing != "accept"
    print(f"{total} outputs are not judged at a bench shape, {nowhere} of them at no shape like it; {refused} seeds are not accepted")
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())
