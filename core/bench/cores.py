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

With --control KERNEL each run follows a control (cores_control.py): checks of this kernel side by side on the same cores, with no coordinator,
for --control-seconds.  "ceiling" is the control's share of linear: what this machine leaves to any program; "of the ceiling" divides the run's share by it.
--watch FILE gets a line for each second of each run.  --order lists the processors in the order in which they are taken.
usage: cores.py [--seconds N[,N...]] [--control KERNEL] [--control-seconds N] [--watch FILE] [--order N[,N...]]
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

from cores_control import checks_a_second
from cores_watch import Watch


def finish_times(directory):
    """Seconds at which the run's new candidates were finished, sorted; of the run's own clock."""
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


def run(program, pipeline, own, workers, candidates, options, folder, allowed, report):
    directory = os.path.join(folder, f"run-{own}-{workers}")
    environment = dict(os.environ, XDG_CACHE_HOME=os.path.join(folder, f"cache-{own}-{workers}"))
    words = [program, pipeline, "--out", directory, "--jobs", str(own), "--secret", "07" * 32, "--json", "--set", f"limits.candidates={candidates}",
             *options]
    if workers:
        words += ["--workers", f"[{{device: none, count: {workers}}}]"]
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
        """The words for the table, and the share from the first run on, or None."""
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
    """The control's shares of linear, from the first number of cores on."""

    def __init__(self, program, kernel, seconds, folder):
        self.program, self.kernel, self.seconds, self.folder, self.first = program, kernel, seconds, folder, None

    def words(self, allowed, share):
        rate, spent = checks_a_second(self.program, self.kernel, allowed, self.seconds, self.folder)
        self.first = self.first or (len(allowed), rate)
        ceiling = rate / self.first[1] * self.first[0] / len(allowed)
        return f"\t{rate:.2f}\t{spent * 1e3:.0f}\t{ceiling:.2f}\t{share / ceiling:.2f}"


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    for name in ("--seconds", "--control", "--watch", "--order"):
        parser.add_argument(name)
    parser.add_argument("--control-seconds", type=float, default=10)
    for name in ("program", "pipeline", "numbers", "candidates"):
        parser.add_argument(name)
    parser.add_argument("options", nargs=argparse.REMAINDER)
    given = parser.parse_args()
    seconds = given.seconds.split(",") if given.seconds else []
    order = [int(word) for word in given.order.split(",")] if given.order else sorted(os.sched_getaffinity(0))
    linear = Linear(bool(seconds))
    print("cores\tcandidates\tseconds\ta second\tof linear\trkb-run ms\tloop ms\tchildren ms\tidle\tstolen"
          + ("\tcontrol a second\tcontrol ms\tceiling\tof the ceiling" if given.control else ""))
    with tempfile.TemporaryDirectory() as folder:
        ceiling = given.control and Ceiling(given.program, given.control, given.control_seconds, folder)
        report = open(given.watch, "a", encoding="utf-8") if given.watch else None
        for place, number in enumerate(given.numbers.split(",")):
            own, _, workers = number.partition("+")
            cores = int(own) + int(workers or 0)
            if cores > len(order):
                print(f"{number}\tthis machine has fewer cores")
                continue
            options = given.options + (["--set", f"limits.wall={seconds[min(place, len(seconds) - 1)]}s"] if seconds else [])
            if report:
                report.write(f"{number} cores\n")
            took, watch, children, times = run(given.program, given.pipeline, int(own), int(workers or 0), int(given.candidates), options, folder,
                                               order[:cores], report)
            count = len(times)
            if not count:
                print(f"{number}\tno candidate was finished in {took:.1f} s", flush=True)
                continue
            words, share = linear.add(cores, count / took, times)
            whole = watch.busy + watch.idle + watch.stolen
            print(f"{number}\t{count}\t{took:.1f}\t{count / took:.2f}\t{words}\t{watch.whole / count * 1e3:.2f}\t{watch.loop / count * 1e3:.3f}\t"
                  f"{children / count * 1e3:.0f}\t{watch.idle / whole:.2f}\t{watch.stolen / whole:.2f}"
                  f"{ceiling.words(order[:cores], share) if ceiling else ''}", flush=True)


main()
