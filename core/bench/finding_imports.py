#!/usr/bin/env python3
"""For how many imported tasks does the graph translator write a kernel that is accepted, and within how many seconds?

Imports every file of a KernelBench checkout, without any option, and asks for the first kernels of each task as stock.yaml does, the plain one
and `suited`, with two threads.  The seconds are those until the archive has an accepted kernel.  One line a file and direction is added to
OUT/imports.tsv; those that are there are not made again.  Needs PyTorch and the source tree (core/tools/import), but not for tasks that were imported
before: CHECKOUT/KernelBench/level1 and so on may have their directories in place of files.

usage: finding_imports.py BUILD CHECKOUT OUT [OPTION]..."""
import argparse
import multiprocessing
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
import time

import finding_runs

HERE = os.path.dirname(os.path.abspath(__file__))
COLUMNS = ("level", "file", "direction", "standing", "seconds", "why")


def name_of(path):
    return re.sub(r"\W+", "_", "k" + os.path.basename(path)[:-3].lower()).strip("_")[:60].strip("_")


def imported(path, folder):
    """Imports a file.  Returns the task's directory below folder, or None and the reason.  A directory is a task that was imported before."""
    if os.path.isdir(path):
        return path, ""
    sys.path.insert(0, os.path.join(HERE, "..", "tools", "import"))
    import torch

    import import_task
    from refusal import Refused

    torch.set_num_threads(1)
    directory = os.path.join(folder, name_of(path))
    try:
        import_task.write(directory, import_task.build(path, name_of(path), [], ["forward", "backward"]))
    except Refused as refusal:
        return None, refusal.sentences[0]
    except Exception as error:  # whatever the file does
        return None, f"{type(error).__name__}: {error}"
    return directory, ""


def accepted_in(archive, begun):
    """What the archive says of its first accepted kernel; None while there is none, or no archive yet."""
    try:
        return finding_runs.first_accepted(archive, begun, 0)
    except sqlite3.OperationalError:
        return None


def refused_in(archive):
    """Why the translator wrote nothing; "": the archive does not say it."""
    if not os.path.exists(archive):
        return ""
    base = sqlite3.connect(f"file:{archive}?mode=ro", uri=True)
    rows = base.execute("select failure from request where failure is not null order by id").fetchall()
    base.close()
    return rows[0][0] if rows else ""


def first_kernel(given, directory, direction, folder):
    """Returns the standing of the first kernel, the seconds that it took, and the reason of the verdict."""
    run, pipeline = os.path.join(folder, f"run-{direction}"), os.path.join(folder, "first.yaml")
    with open(pipeline, "w", encoding="utf-8") as file:
        file.write(finding_runs.pipeline_text("first", 0, 1, None))
    archive = os.path.join(run, "run.sqlite")
    begun = time.time()
    with subprocess.Popen([os.path.join(given.build, "bin", "rkb-run"), pipeline, "--task", directory, "--direction", direction, "--out", run, "--jobs", "2", "--quiet"],
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL) as process:
        first, ended = None, False
        while not first and not ended and time.time() - begun < given.limit:
            ended = process.poll() is not None  # looked at before the archive, so that nothing is missed
            first = accepted_in(archive, begun)
            time.sleep(0.05)
        process.kill()  # the second kernel, where there is one, is of no interest
    seconds = time.time() - begun
    if first:
        return "accept", first[0], ""
    if not ended:
        return "none", given.limit, f"no verdict in {given.limit} s"
    defects = finding_runs.figures(archive, 1)["defects"] if os.path.exists(archive) else []
    if defects:
        standing, reason, _, message = defects[0]
        return standing, seconds, f"{reason}: {message}"
    return "none", seconds, refused_in(archive) or f"status {process.returncode}"


def rows_of(job):
    level, path, directions, given = job
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        directory, why = imported(path, folder)
        for direction in directions:
            text = open(os.path.join(directory, "task.yaml"), encoding="utf-8").read() if directory else ""
            if directory and direction not in re.search(r"^directions:.*", text, re.M).group(0):
                standing, seconds, why = "no direction", 0, ""
            elif directory:
                standing, seconds, why = first_kernel(given, directory, direction, folder)
            else:
                standing, seconds = "not imported", 0
            rows.append((level, os.path.basename(path), direction, standing, f"{seconds:.1f}", re.sub(r"\s+", " ", why)[:200]))
    return rows


def read(path):
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        return [tuple(line.rstrip("\n").split("\t")) for line in file if not line.startswith("level\t")]


def summary(rows):
    for direction in ("forward", "backward"):
        own = [row for row in rows if row[2] == direction and row[3] not in ("not imported", "no direction")]
        good = [row for row in own if row[3] == "accept"]
        quick = [row for row in good if float(row[4]) <= 10]
        if own:
            seconds = sorted(float(row[4]) for row in good) or [0.0]
            print(f"{direction}: {len(own)} imported tasks, {len(good)} accepted ({100 * len(good) / len(own):.1f} %), {len(quick)} of these within 10 s "
                  f"({100 * len(quick) / len(own):.1f} %); median {seconds[len(seconds) // 2]:.1f} s, most {seconds[-1]:.1f} s")
            for level in sorted({row[0] for row in own}):
                print(f"  level {level}: {sum(row[0] == level for row in quick)} of {sum(row[0] == level for row in own)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("build", "checkout", "out"):
        parser.add_argument(name)
    parser.add_argument("--level", default="1,2,3", type=lambda text: [int(word) for word in text.split(",")], metavar="LIST")
    parser.add_argument("--directions", default="forward", type=lambda text: text.split(","), metavar="LIST")
    parser.add_argument("--only", default="", metavar="WORD", help="files whose names have it")
    parser.add_argument("--at-once", type=int, default=1, help="files side by side, each with two threads")
    parser.add_argument("--limit", type=int, default=60, metavar="SECONDS", help="for one kernel")
    parser.add_argument("--for", dest="whole", type=float, default=1e9, metavar="SECONDS", help="start no file after so long")
    given = parser.parse_args()
    os.makedirs(given.out, exist_ok=True)
    path = os.path.join(given.out, "imports.tsv")
    known = {row[:3] for row in read(path)}
    jobs = []
    for level in given.level:
        folder = os.path.join(given.checkout, "KernelBench", f"level{level}")
        for name in sorted(os.listdir(folder), key=lambda name: int((re.search(r"\d+", name) or [0])[0])):
            missing = [direction for direction in given.directions if (str(level), name, direction) not in known]
            if (name.endswith(".py") or os.path.isdir(os.path.join(folder, name))) and given.only in name and missing:
                jobs.append((str(level), os.path.join(folder, name), missing, given))
    started = time.monotonic()
    with open(path, "a", encoding="utf-8") as file, multiprocessing.get_context("spawn").Pool(given.at_once, maxtasksperchild=20) as pool:
        if not known:
            print("\t".join(COLUMNS), file=file, flush=True)
        for rows in pool.imap_unordered(rows_of, jobs):
            for row in rows:
                print("\t".join(row), file=file, flush=True)
            if time.monotonic() - started > given.whole:
                pool.terminate()
                break
    summary(read(path))


if __name__ == "__main__":
    main()
