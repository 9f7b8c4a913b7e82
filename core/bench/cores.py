#!/usr/bin/env python3
"""Candidates a second over numbers of cores, and what a candidate costs the process that coordinates: the same run, each time with an empty cache, on
the first 1, 2, ... cores of this machine.  Prints a line a run, tab-separated: cores; candidates; seconds; candidates a second; the share of
linear from the first number of cores on; milliseconds of processor time a candidate of rkb-run with all its threads, of its loop's thread alone,
and of its children.
CORES is a number, or OWN+WORKERS: so many threads of the program's own, and so many screening workers (docs/workers.md).  Workers end by a signal,
and what they spent is not in the last column.

With --seconds each run is cut off after so many seconds.  The same seed gives the same candidates in the same order, so two runs are compared over
the candidates that both have finished, without those of the first tenth of the slower run and of the time before its end: no start and no end is in
it.  The share of linear is then that of the run before in the list, on the same candidates; "product" multiplies the shares so far.
usage: cores.py [--seconds N] RKB_RUN PIPELINE CORES[,CORES...] CANDIDATES [OPTION of rkb-run...]"""
import argparse
import bisect
import json
import os
import resource
import sqlite3
import subprocess
import sys
import tempfile
import threading

TICKS = os.sysconf("SC_CLK_TCK")


def processor_seconds(path):
    with open(path, encoding="utf-8") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


class Watch(threading.Thread):
    """Reads the times of a process while it runs: at its end they are gone."""

    def __init__(self, process):
        super().__init__(daemon=True)
        self.process, self.whole, self.loop, self.ended = process, 0.0, 0.0, threading.Event()
        self.start()

    def run(self):
        pid = self.process.pid
        while not self.ended.wait(0.02):
            try:
                self.whole = processor_seconds(f"/proc/{pid}/stat")
                self.loop = processor_seconds(f"/proc/{pid}/task/{pid}/stat")
            except (OSError, IndexError):
                return


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


def run(program, pipeline, own, workers, candidates, options, folder):
    allowed = sorted(os.sched_getaffinity(0))
    cores = own + workers
    if cores > len(allowed):
        return None
    directory = os.path.join(folder, f"run-{own}-{workers}")
    environment = dict(os.environ, XDG_CACHE_HOME=os.path.join(folder, f"cache-{own}-{workers}"))
    words = [program, pipeline, "--out", directory, "--jobs", str(own), "--secret", "07" * 32, "--json", "--set", f"limits.candidates={candidates}",
             *options]
    if workers:
        words += ["--workers", f"[{{device: none, count: {workers}}}]"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, env=environment,
                               preexec_fn=lambda: os.sched_setaffinity(0, allowed[:cores]))
    watch = Watch(process)
    out, errors = process.communicate()
    watch.ended.set()
    watch.join()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if process.returncode not in (0, 1):
        sys.exit(f"rkb-run ended with {process.returncode}: {errors.decode()[-2000:]}")
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    result = json.loads(out)
    times = finish_times(directory)
    return len(times), result["seconds"], watch.whole, watch.loop, spent - watch.whole, times


class Linear:
    """The shares of linear, run by run: of the first run by whole runs, or of the run before over the same candidates."""

    def __init__(self, same_candidates):
        self.same_candidates, self.first, self.before, self.product = same_candidates, None, None, 1.0

    def add(self, cores, rate, times):
        if not self.same_candidates:
            self.first = self.first or (cores, rate)
            return f"{rate / self.first[1] * self.first[0] / cores:.2f}"
        words = ""
        if self.before:
            share = share_of_linear(self.before[1], self.before[0], times, cores)
            self.product *= share or float("nan")
            words = f"{share:.2f}, product {self.product:.2f}" if share else "-"
        self.before = (cores, times)
        return words


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--seconds", type=int)
    for name in ("program", "pipeline", "numbers", "candidates"):
        parser.add_argument(name)
    parser.add_argument("options", nargs=argparse.REMAINDER)
    given = parser.parse_args()
    options = given.options + (["--set", f"limits.wall={given.seconds}s"] if given.seconds else [])
    linear = Linear(given.seconds is not None)
    print("cores\tcandidates\tseconds\ta second\tof linear\trkb-run ms\tloop ms\tchildren ms")
    with tempfile.TemporaryDirectory() as folder:
        for number in given.numbers.split(","):
            own, _, workers = number.partition("+")
            cores = int(own) + int(workers or 0)
            found = run(given.program, given.pipeline, int(own), int(workers or 0), int(given.candidates), options, folder)
            if not found:
                print(f"{number}\tthis machine has fewer cores")
                continue
            count, seconds, whole, loop, children, times = found
            print(f"{number}\t{count}\t{seconds:.1f}\t{count / seconds:.2f}\t{linear.add(cores, count / seconds, times)}\t"
                  f"{whole / count * 1e3:.2f}\t{loop / count * 1e3:.3f}\t{children / count * 1e3:.0f}", flush=True)


main()
