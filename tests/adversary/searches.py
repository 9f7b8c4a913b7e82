#!/usr/bin/env python3
"""Every cheat of the suite among the seeds of a stock search, beside its honest twin: what wins must be right, and no cheat may be accepted but
those of which entry.case says that some secrets miss them (least below secrets).

usage: searches.py SOURCE_DIRECTORY PREFIX OUT [--pipeline FILE] [--target PROFILE] [--jobs N] [--for SECONDS] [--more CANDIDATES] [--after TASK.DIRECTION]...

PREFIX: a build folder or an installation.  All entries of a task and a direction are seeds, at most BATCH of them in one run; --more: candidates
of the search besides; --after: those of this task and direction come last, the later named the later.  The default pipeline is stock.yaml; on a device take stock-gpu.yaml.  A winner is checked again with two other
secrets.  OUT/searches.tsv has a line for each run as it ends; a run whose line is there is not repeated.  A run for which the time does not suffice is told to end
and says where its time went; it has no line.
"""

import argparse
import hashlib
import os
import pathlib
import re
import signal
import sqlite3
import subprocess
import sys
import time

BATCH = 48
GRACE = 20  # seconds that a run may take to end after SIGINT
SECRETS = (31, 32)
MISSED = " (some secrets miss it)"


def batches_of(source):
    """(name, task, direction, cheats, twins), tasks with the most entries first."""
    root, groups = source / "tests" / "adversary", {}
    for case in sorted(root.glob("*/*/entry.case")):
        kernel, text = case.parent / "kernel.cu", case.read_text()
        if not kernel.exists() or "\nstanding: accept" in text or "\nset: " in text:
            continue
        manifest = kernel.read_text(errors="replace")
        task, direction = re.search(r"^task: (\w+)$", manifest, re.M), re.search(r"^direction: (\w+)$", manifest, re.M)
        if not task or not direction or not (source / "tasks" / task[1]).is_dir():
            continue
        twin = case.parent / (re.search(r"^twin: (.*)$", text, re.M) or [0, "twin.cu"])[1]
        groups.setdefault((task[1], direction[1]), []).append((kernel, twin.resolve()))
    for (task, direction), entries in sorted(groups.items(), key=lambda item: -len(item[1])):
        entries.sort(key=lambda pair: hashlib.sha256(str(pair[0].parent.name).encode()).hexdigest())
        for first in range(0, len(entries), BATCH):
            part = entries[first : first + BATCH]
            yield f"{task}.{direction}.{first // BATCH}", task, direction, [kernel for kernel, _ in part], sorted({twin for _, twin in part})


def judge(archive, cheats):
    """How many cheats were tried, and the notes of those that were accepted, by the hash of their text."""
    hashes = {hashlib.sha256(kernel.read_bytes()).hexdigest(): kernel.parent for kernel in cheats}
    db = sqlite3.connect(f"file:{archive}?mode=ro", uri=True)
    db.text_factory = bytes  # some cheats are no UTF-8
    tried, accepted = 0, []
    for text, standing in db.execute("SELECT source.text, candidate.standing FROM candidate JOIN source ON source.hash = candidate.source_hash"):
        where = hashes.get(hashlib.sha256(text).hexdigest())
        tried += where is not None
        if where is not None and standing == b"accept":
            accepted.append(f"{where.parent.name}/{where.name}" + (MISSED if "\nleast: " in (where / "entry.case").read_text() else ""))
    return tried, accepted


def run_within(command, seconds):
    """What the program said on stderr, and whether it ended by itself.  After the time it is told to end, as by Ctrl-C, so that its archive is whole."""
    with subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as run:
        try:
            return run.communicate(timeout=seconds)[1], True
        except subprocess.TimeoutExpired:
            run.send_signal(signal.SIGINT)
        try:
            return run.communicate(timeout=GRACE)[1], False
        except subprocess.TimeoutExpired:
            waits = [f"{task.name} {(task / 'wchan').read_text()}" for task in pathlib.Path(f"/proc/{run.pid}/task").iterdir()]
            run.kill()
            return f"did not end {GRACE} s after SIGINT; threads wait in {', '.join(waits)}; {run.communicate()[1]}", False


def where_time_went(archive):
    """Candidates, and each stage's verdicts with their seconds, the longest stage first."""
    db = sqlite3.connect(f"file:{archive}?mode=ro", uri=True)
    count = db.execute("SELECT count(*) FROM candidate").fetchone()[0]
    stages = db.execute("SELECT stage, count(*), sum(seconds) FROM verdict GROUP BY 1 ORDER BY 3 DESC").fetchall()
    return f"{count} candidates; " + ", ".join(f"{stage} {number} in {seconds or 0:.0f} s" for stage, number, seconds in stages)


def run_one(options, batch, left):
    name, task, direction, cheats, twins = batch
    programs, out = options.prefix / "bin", options.out / name
    command = [programs / "rkb-run", options.pipeline, "--task", options.source / "tasks" / task, "--direction", direction, "--quiet", "--out", out,
               "--secret", "30".zfill(64), "--jobs", options.jobs,
               "--set", "propose.seed.with.files=[" + ",".join(map(str, cheats + twins)) + "]",
               "--set", f"limits.candidates={len(cheats) + len(twins) + options.more}"] + (["--target", options.target] if options.target else [])
    said, ended = run_within(command, left)
    archive = out / "run.sqlite"
    if not archive.exists():
        return [name, "no archive", "0", "", said.strip()[-200:].replace("\n", " ")]
    tried, accepted = judge(archive, cheats)
    if not ended:
        print(f"{name}: no time after {left:.0f} s; {tried} of {len(cheats)} cheats, accepted: {accepted}; {where_time_went(archive)}; {said.strip()[-400:]}", flush=True)
        return None
    best = out / "best.cu"
    subprocess.run([str(programs / "rkb"), "best", str(out), "--out", str(best)], capture_output=True, check=False)
    said = []
    for secret in SECRETS if best.exists() else ():
        done = subprocess.run([str(programs / "rkb"), "check", str(best), "--task", str(options.source / "tasks" / task), "--secret", str(secret).zfill(64)],
                              capture_output=True, text=True, check=False)
        said.append("right" if done.returncode == 0 else "WRONG: " + done.stdout.split("\n")[0][-120:])
    return [name, f"{tried} of {len(cheats)} cheats", f"{len(accepted)} accepted {', '.join(accepted)}".strip(), "winner " + (", ".join(said) or "none"), ""]


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    for word in ("source", "prefix", "out"):
        parser.add_argument(word, type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--pipeline", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--for", dest="seconds", type=float, default=86400)
    parser.add_argument("--more", type=int, default=32)
    parser.add_argument("--target")
    parser.add_argument("--after", action="append", default=[])
    options = parser.parse_args()
    options.pipeline = options.pipeline or options.source / "pipelines" / "stock.yaml"
    options.out.mkdir(parents=True, exist_ok=True)
    table, end = options.out / "searches.tsv", time.monotonic() + options.seconds
    rows = [line.split("\t") for line in table.read_text().splitlines()] if table.exists() else []
    turn = {name: position + 1 for position, name in enumerate(options.after)}
    for batch in sorted(batches_of(options.source), key=lambda batch: turn.get(batch[0].rsplit(".", 1)[0], 0)):
        if any(row[0] == batch[0] for row in rows) or time.monotonic() > end:
            continue
        row = run_one(options, batch, max(1, end - time.monotonic()))
        if row is None:
            continue
        rows.append(row)
        with open(table, "a") as file:
            print("\t".join(row), file=file, flush=True)
        print("\t".join(row), flush=True)
    return any("WRONG" in row[3] or int(row[2].split()[0] or 0) > row[2].count(MISSED) for row in rows)


if __name__ == "__main__":
    os.environ.setdefault("PYTHONDONTWRITEBYTECODE", "1")
    sys.exit(main())
