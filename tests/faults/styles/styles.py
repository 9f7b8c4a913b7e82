#!/usr/bin/env python3
"""Correct kernels in styles that nobody here would write: each must be accepted, by any secret.

usage: styles.py SOURCE_DIRECTORY BINARY_DIRECTORY [--sample N] [--secret N] [--jobs N]

--sample: of the files, the N whose names hash lowest.  All kernels of a task and a direction are the candidates of one rkb-run, with the screen of the adversary
suite.  Prints each kernel that is not accepted, with what was said of it; exits with their number.
"""
import argparse
import hashlib
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile


def groups_of(source, most):
    """Files by (task, direction)."""
    files = sorted((source / "tests" / "faults" / "styles").glob("*/*.cu"), key=lambda path: hashlib.sha256(path.name.encode()).hexdigest())
    groups = {}
    for path in files[: most or None]:
        manifest = path.read_text()
        groups.setdefault((re.search(r"^task: (\w+)$", manifest, re.M)[1], re.search(r"^direction: (\w+)$", manifest, re.M)[1]), []).append(path)
    return groups


def refused_of(options, task, direction, files):
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "run"
        command = [options.prefix / "bin" / "rkb-run", options.source / "tests" / "adversary" / "pipeline.yaml", "--task", options.source / "tasks" / task,
                   "--direction", direction, "--quiet", "--out", out, "--secret", str(options.secret).zfill(64), "--jobs", options.jobs,
                   "--set", "propose.seed.with.files=[" + ",".join(map(str, files)) + "]", "--set", f"limits.candidates={len(files)}"]
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
        archive = out / "run.sqlite"
        if not archive.exists():
            return [f"{task} {direction}: no archive: {done.stderr.strip()[-300:]}"]
        rows = sqlite3.connect(f"file:{archive}?mode=ro", uri=True).execute(
            "SELECT candidate.note, candidate.standing, verdict.reason, verdict.message FROM candidate LEFT JOIN verdict ON verdict.candidate = candidate.id "
            "AND verdict.standing = candidate.standing GROUP BY candidate.id").fetchall()
    said = [f"{task} {direction}: {note}: {standing} {reason}: {message}" for note, standing, reason, message in rows if standing != "accept"]
    return said if len(rows) == len(files) else said + [f"{task} {direction}: {len(rows)} of {len(files)} kernels were judged"]


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    for word in ("source", "prefix"):
        parser.add_argument(word, type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--sample", type=int, default=0)
    parser.add_argument("--secret", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    groups, refused = groups_of(options.source, options.sample), []
    for (task, direction), files in sorted(groups.items()):
        refused += refused_of(options, task, direction, files)
    print("\n".join(refused + [f"{sum(map(len, groups.values()))} kernels, {len(refused)} complaints"]))
    return min(len(refused), 100)


if __name__ == "__main__":
    sys.exit(main())
