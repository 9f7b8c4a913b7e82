"""Whole outputs beside those of a seed: a kernel that is wrong in one block of 4,096 is rejected, gets no time, and its right twin does.  So
does one with a cooperative launch, whose parameters a driver takes one by one.  Where the task has no seed, a kernel written from its graph is
the peer.  A kernel that is faster on inputs that it met before gains nothing from it.

usage: peer_test.py RKB-RUN [WORKER-WORD...]

The words start a worker; without them it is this machine's own.  In CTest they load the driver that stands in for CUDA before
rkb-worker; without them the same runs on a device.
"""
import json
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
VERDICTS = ("SELECT candidate.note, verdict.standing, verdict.reason, verdict.message, verdict.evidence FROM verdict "
            "JOIN candidate ON candidate.id = verdict.candidate WHERE verdict.stage LIKE '%gpu%'")
TIMES = ("SELECT candidate.note, measurement.value FROM measurement JOIN candidate ON candidate.id = measurement.candidate "
         "WHERE measurement.name = 'time.us'")


def rows_of(pipeline, query, run_program, worker):
    """What a query finds in the archive of a run of the pipeline."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "run"
        words = [run_program, str(pipeline), "--out", str(out), "--quiet", "--secret", "1".zfill(64)]
        if worker:
            words += ["--workers", json.dumps([worker])]
        done = subprocess.run(words, capture_output=True, text=True, timeout=300)
        archive = next(iter(out.glob("*.sqlite")), None)
        if not archive:
            sys.exit(f"no archive: {done.stderr}")
        return sqlite3.connect(archive).execute(query).fetchall()


def verdicts_of(folder, *run):
    return {note: (standing, reason, message, json.loads(evidence or "{}"))
            for note, standing, reason, message, evidence in rows_of(folder / "pipeline.yaml", VERDICTS, *run)}


def check_verdicts(problems, *run):
    found = verdicts_of(HERE, *run)
    wrong, right, together = found["seed wrong.cu"], found["seed right.cu"], found["seed together.cu"]
    if together[0] != "accept":  # its launch is cooperative
        problems.append(f"the one with a barrier of the grid: {together}")
    if wrong[0] != "reject" or wrong[1] != "numeric.mismatch" or wrong[3].get("found_beside") != "by_sum.cu":
        problems.append(f"the wrong one: {wrong}")
    elif wrong[3]["element"] // 256 != 2345:
        problems.append(f"the wrong one is rejected for element {wrong[3]['element']}, not for one of its block")
    if right[0] != "accept" or right[3]["peer"] != "by_sum.cu" or right[3]["peer_compared"] != 2 << 20:
        problems.append(f"the right one: {right}")


def check_written_peer(problems, *run):
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder) / "peer"
        shutil.copytree(HERE, copy, ignore=shutil.ignore_patterns("seeds"))
        found = verdicts_of(copy, *run)
    wrong, right = found["seed wrong.cu"], found["seed right.cu"]
    on_a_device = len(run) < 2 or not run[1]  # the driver that stands in knows the kernels of these files alone, and no written one
    if on_a_device and (wrong[0] != "reject" or not wrong[3].get("found_beside", "").startswith("the graph's ")):
        problems.append(f"the wrong one, without a seed: {wrong}")
    if right[0] != "accept" or not right[3]["peer"].startswith("the graph's ") or right[3]["peer_compared"] != 2 << 20:
        problems.append(f"the right one, without a seed: {right}")


def check_times(problems, *run):
    rows = [(note, value) for note, value in rows_of(HERE / "timed.yaml", TIMES, *run) if value > 0]
    if {note for note, _ in rows} != {"seed right.cu", "seed together.cu", "seed recalled.cu"}:
        problems.append(f"a time was given to {sorted(rows)}")
    on_a_device = len(run) < 2 or not run[1]
    if not on_a_device and any(abs(value - 10) > 0.01 for _, value in rows):
        problems.append(f"a kernel that keeps its inputs gains something: {sorted(rows)}")


def main():
    problems = []
    check_verdicts(problems, sys.argv[1], sys.argv[2:])
    check_written_peer(problems, sys.argv[1], sys.argv[2:])
    check_times(problems, sys.argv[1], sys.argv[2:])
    for problem in problems:
        print(problem)
    return len(problems)


if __name__ == "__main__":
    sys.exit(main())
