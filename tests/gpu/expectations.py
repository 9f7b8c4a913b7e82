#!/usr/bin/env python3
"""Holds a run's verdicts against what each kernel's `expect:` comment says.  usage: expectations.py RUN KERNELS

    accept             every stage accepted it        accept timed        and there is a time
    accept not-faster  no faster than honest.cu by more than 3 %
    no-gain            rejected, or no faster than honest.cu by more than 3 %
    reject [REASON]    rejected on the device         not-timed           rejected, or no time is reported

Exits 1 with a line for each kernel that came out otherwise, or is missing from the run."""

import os
import sys

import archive


def came_out(candidate, honest_us):
    time = candidate.measurements.get(("time.us", ""))
    standing = candidate.standing if "gpu" in candidate.verdicts else "not run on the device"
    what, *more = candidate.expect
    if what == "accept":
        right = standing == "accept"
        if "timed" in more:
            right = right and time is not None
        if "not-faster" in more:
            right = right and time is not None and honest_us is not None and time > 0.97 * honest_us
    elif what == "no-gain":
        right = standing == "reject" or (standing == "accept" and time is not None and honest_us is not None and time > 0.97 * honest_us)
    elif what == "reject":
        right = standing == "reject" and (not more or candidate.reason == more[0])
    elif what == "not-timed":
        right = time is None
    else:
        right = False
    return right, time


def main():
    run, kernels = sys.argv[1:]
    found = {candidate.name: candidate for candidate in archive.candidates(run)}
    wanted = sorted(name for _, _, names in os.walk(kernels) for name in names if name.endswith(".cu"))
    honest = found.get("honest.cu")
    honest_us = honest.measurements.get(("time.us", "")) if honest else None
    wrong = 0
    for name in wanted:
        candidate = found.get(name)
        right, time = came_out(candidate, honest_us) if candidate and candidate.expect else (False, None)
        wrong += not right
        shown = f"{candidate.standing} {candidate.reason} {f'{time:.2f} us' if time else 'no time'}" if candidate else "not in the run"
        print(f"{'as expected' if right else 'OTHERWISE  '}  {name}: {shown} (expected {' '.join(candidate.expect) if candidate else '?'})")
    print(f"{len(wanted) - wrong} of {len(wanted)} as expected")
    return 1 if wrong or not wanted else 0


if __name__ == "__main__":
    sys.exit(main())
