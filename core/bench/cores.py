#!/usr/bin/env python3
"""Candidates a second over numbers of cores, and what a candidate costs the process that coordinates: the same run, each time with an empty cache, on
the first 1, 2, ... cores of this machine.  Prints a line a run, tab-separated: cores; candidates; seconds; candidates a second; the share of
linear from the first number of cores on; milliseconds of processor time a candidate of rkb-run with all its threads, of its loop's thread alone,
and of its children.
CORES is a number, or OWN+WORKERS: so many threads of the program's own, and so many screening workers (docs/workers.md).  Workers end by a signal,
and what they spent is not in the last column.
usage: cores.py RKB_RUN PIPELINE CORES[,CORES...] CANDIDATES [OPTION of rkb-run...]"""
import json
import os
import resource
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
    return result["counts"]["candidates"], result["seconds"], watch.whole, watch.loop, spent - watch.whole


def main():
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    program, pipeline, numbers, candidates, *options = sys.argv[1:]
    first = None
    print("cores\tcandidates\tseconds\ta second\tof linear\trkb-run ms\tloop ms\tchildren ms")
    with tempfile.TemporaryDirectory() as folder:
        for number in numbers.split(","):
            own, _, workers = number.partition("+")
            cores = int(own) + int(workers or 0)
            found = run(program, pipeline, int(own), int(workers or 0), int(candidates), options, folder)
            if not found:
                print(f"{number}\tthis machine has fewer cores")
                continue
            count, seconds, whole, loop, children = found
            first = first or (cores, count / seconds)
            share = count / seconds / first[1] * first[0] / cores
            print(f"{number}\t{count}\t{seconds:.1f}\t{count / seconds:.2f}\t{share:.2f}\t{whole / count * 1e3:.2f}\t{loop / count * 1e3:.3f}\t"
                  f"{children / count * 1e3:.0f}", flush=True)


main()
