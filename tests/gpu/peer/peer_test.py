"""Whole outputs beside those of a seed: a kernel that is wrong in one block of 4,096 is rejected, and its right twin accepted.

usage: peer_test.py RKB-RUN PIPELINE [WORKER-WORD...]

The words start a worker; without them it is this machine's own.  With the driver that stands in for CUDA they load it before
rkb-worker; tests/gpu/all.sh runs the same on a device.
"""
import json
import pathlib
import sqlite3
import subprocess
import sys
import tempfile


def verdicts(run_program, pipeline, worker):
    """What the device's stage said of each candidate, by its file: standing, reason, evidence."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "run"
        words = [run_program, pipeline, "--out", str(out), "--quiet", "--secret", "1".zfill(64)]
        if worker:
            words += ["--workers", json.dumps([worker])]
        done = subprocess.run(words, capture_output=True, text=True, timeout=300)
        archive = next(iter(out.glob("*.sqlite")), None)
        if not archive:
            sys.exit(f"no archive: {done.stderr}")
        rows = sqlite3.connect(archive).execute(
            "SELECT candidate.note, verdict.standing, verdict.reason, verdict.message, verdict.evidence FROM verdict "
            "JOIN candidate ON candidate.id = verdict.candidate WHERE verdict.stage LIKE '%gpu%'").fetchall()
    return {note: (standing, reason, message, json.loads(evidence or "{}")) for note, standing, reason, message, evidence in rows}


def main():
    found = verdicts(sys.argv[1], sys.argv[2], sys.argv[3:])
    wrong, right = found["seed wrong.cu"], found["seed right.cu"]
    problems = []
    if wrong[0] != "reject" or wrong[1] != "numeric.mismatch" or wrong[3].get("found_beside") != "by_sum.cu":
        problems.append(f"the wrong one: {wrong}")
    elif wrong[3]["element"] // 256 != 2345:
        problems.append(f"the wrong one is rejected for element {wrong[3]['element']}, not for one of its block")
    if right[0] != "accept" or right[3]["peer"] != "by_sum.cu" or right[3]["peer_compared"] != 2 << 20:
        problems.append(f"the right one: {right}")
    for problem in problems:
        print(problem)
    return len(problems)


if __name__ == "__main__":
    sys.exit(main())
