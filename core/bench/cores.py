#!/usr/bin/env python3
"""Candidates a second over numbers of cores, and what a candidate costs the process that coordinates: the same run, each time with an empty cache, on
the first 1, 2, ... cores of this machine.  Prints a line a run, tab-separated: cores; candidates; seconds; candidates a second; the share of
linear from the first number of cores on; milliseconds of processor time a candidate of rkb-run with all its threads, of its loop's thread alone,
and of its children; the shares of these cores' time that were idle, and that the host of a virtual machine gave to others.
CORES is a number, or OWN+WORKERS: so many threads of the program's own, and so many screening workers (docs/workers.md).  Workers end by a signal,
and what they spent is not in the column of the children.

With --seconds each run is cut off after so many seconds; several numbers, with commas, are for one run each.  The same seed gives the same candidates
in the same order, so two runs are compared over the candidates that both have finished, without those of the first tenth of the slower run and of
the time before its end: no start and no end is in it.  The share of linear is then that of the run before in the list, on the same candidates;
"product" multiplies the shares so far.

With --apart SECONDS each run but the first follows a control (side_by_side_runs.py): runs of the same search side by side, each on as many cores as the
first run had, for so many seconds.  "ceiling" is the mean speed of one of them beside the first run, which was alone, over the same candidates: what this
machine would allow any program. "of the ceiling" divides the run's share of linear by it.
--watch FILE gets a line for each second of each run.  --order lists the processors in the order in which they are taken.
usage: cores.py [--seconds N[,N...] [--apart SECONDS]] [--watch FILE] [--order N[,N...]]
                RKB_RUN PIPELINE CORES[,CORES...] CANDIDATES [OPTION of rkb-run...]"""
import argparse
import bisect
import json
import os
import resource
import sqlite3
import subprocess
import sys
import tempfile

from side_by_side_runs import speeds_side_by_side
from cores_watch import Watch


def finish_times(directory):
    """The seconds, by the run's own clock, at which its new candidates were finished; sorted."""
    with sqlite3.connect(f"file:{directory}/run.sqlite?mode=ro", uri=True) as archive:
        return [row[0] / 1e3 for row in archive.execute("SELECT archived_ms FROM candidate WHERE duplicate_of IS NULL ORDER BY 1")]


def share_of_linear(before, cores_before, now, cores):
    """Of two runs, by their finish times: how much faster the second finished the same candidates, over how many more cores it had.
    None where they have too few in common."""
    slower, faster = (before, now) if len(before) <= len(now) else (now, before)
    if len(slower) < 3:
        return None
    first = bisect.bisect_left(slower, slower[0] + 0.1 * (slower[-1] - slower[0]))
    last = len(slower) - 1
    took_before, took_now = before[last] - before[first], now[last] - now[first]
    return took_before / took_now * cores_before / cores if took_before > 0 and took_now > 0 else None


def words_of(given, own, workers, directory, seconds):
    """The command of one run."""
    words = [given.program, given.pipeline, "--out", directory, "--jobs", str(own), "--secret", "07" * 32, "--json", "--set",
             f"limits.candidates={given.candidates}", *given.options]
    if workers:
        words += ["--workers", f"[{{device: none, count: {workers}}}]"]
    return words + (["--set", f"limits.wall={seconds}s"] if seconds else [])


def run(words, directory, allowed, report):
    environment = dict(os.environ, XDG_CACHE_HOME=directory + "-cache")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, env=environment,
                               preexec_fn=lambda: os.sched_setaffinity(0, allowed))
    watch = Watch(process, allowed, report)
    out, errors = process.communicate()
    watch.ended.set()
    watch.join()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if process.returncode not in (0, 1):
        sys.exit(f"rkb-run ended with {process.returncode}: {errors.decode()[-2000:]}")
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return json.loads(out)["seconds"], watch, spent - watch.whole, finish_times(directory)


class Linear:
    """The shares of linear, run by run: of the first run by whole runs, or of the run before over the same candidates."""

    def __init__(self, same_candidates):
        self.same_candidates, self.first, self.before, self.product = same_candidates, None, None, 1.0

    def add(self, cores, rate, times):
        """Returns the words for the table, and the share of linear from the first run on, or None."""
        if not self.same_candidates:
            self.first = self.first or (cores, rate)
            share = rate / self.first[1] * self.first[0] / cores
            return f"{share:.2f}", share
        words, share = "", 1.0 if not self.before else share_of_linear(self.before[1], self.before[0], times, cores)
        self.product *= share or float("nan")
        if self.before:
            words = f"{share:.2f}, product {self.product:.2f}" if share else "-"
        self.before = (cores, times)
        return words, self.product


class Ceiling:
    """The control: what runs apart lose beside the first run, which had the machine to itself."""

    def __init__(self, given, own, folder):
        self.given, self.own, self.folder, self.alone = given, own, folder, None

    def words(self, allowed, share, times):
        if self.alone is None:
            self.alone = times
            return ""
        apart = speeds_side_by_side(lambda directory: words_of(self.given, self.own, 0, directory, self.given.apart), allowed, self.own, self.folder, finish_times)
        speeds = [speed for speed in (share_of_linear(self.alone, 1, one, 1) for one in apart) if speed]
        if not speeds:
            return "\t-\t-"
        ceiling = sum(speeds) / len(speeds)
        return f"\t{ceiling:.2f} ({min(speeds):.2f} to {max(speeds):.2f} of {len(speeds)})\t{share / ceiling:.2f}"


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    for name in ("--seconds", "--apart", "--watch", "--order"):
        parser.add_argument(name)
    for name in ("program", "pipeline", "numbers", "candidates"):
        parser.add_argument(name)
    parser.add_argument("options", nargs=argparse.REMAINDER)
    given = parser.parse_args()
    seconds = given.seconds.split(",") if given.seconds else []
    order = [int(word) for word in given.order.split(",")] if given.order else sorted(os.sched_getaffinity(0))
    linear = Linear(bool(seconds))
    print("cores\tcandidates\tseconds\ta second\tof linear\trkb-run ms\tloop ms\tchildren ms\tidle\tstolen"
          + ("\tceiling\tof the ceiling" if given.apart else ""))
    numbers = [[int(part) for part in number.split("+")] for number in given.numbers.split(",")]
    with tempfile.TemporaryDirectory() as folder:
        ceiling = given.apart and Ceiling(given, sum(numbers[0]), folder)
        report = open(given.watch, "a", encoding="utf-8") if given.watch else None
        for place, (own, *workers) in enumerate(numbers):
            cores, name = own + sum(workers), "+".join(str(part) for part in (own, *workers))
            if cores > len(order):
                print(f"{name}\tthis machine has fewer cores")
                continue
            if report:
                report.write(f"{name} cores\n")
            directory = os.path.join(folder, f"run-{name}")
            words = words_of(given, own, sum(workers), directory, seconds and seconds[min(place, len(seconds) - 1)])
            took, watch, children, times = run(words, directory, order[:cores], report)
            count = len(times)
            if not count:
                print(f"{name}\tno candidate was finished in {took:.1f} s", flush=True)
                continue
            said, share = linear.add(cores, count / took, times)
            whole = watch.busy + watch.idle + watch.stolen
            print(f"{name}\t{count}\t{took:.1f}\t{count / took:.2f}\t{said}\t{watch.whole / count * 1e3:.2f}\t{watch.loop / count * 1e3:.3f}\t"
                  f"{children / count * 1e3:.0f}\t{watch.idle / whole:.2f}\t{watch.stolen / whole:.2f}"
                  f"{ceiling.words(order[:cores], share, times) if ceiling else ''}", flush=True)


main()
