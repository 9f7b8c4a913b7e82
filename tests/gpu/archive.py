"""Reading a run's archive (docs/archive.md) with the standard library."""

import os
import re
import sqlite3


class Candidate:
    def __init__(self, row, verdicts, measurements):
        self.id, self.source, self.note, self.standing, self.reason, self.task, self.direction, self.tune = row
        self.name = (self.note or "").removeprefix("seed ")
        self.verdicts = verdicts  # stage -> (standing, reason, message)
        self.measurements = measurements  # (name, case) -> value
        expect = re.search(r"expect: ([a-z_. -]+)", self.source)
        self.expect = expect.group(1).split() if expect else []


def candidates(run):
    base = sqlite3.connect(f"file:{os.path.abspath(os.path.join(run, 'run.sqlite'))}?mode=ro", uri=True)
    rows = base.execute(
        "SELECT c.id, s.text, c.note, c.standing, c.reason, c.task, c.direction, c.tune FROM candidate c"
        " JOIN source s ON s.hash = c.source_hash ORDER BY c.id").fetchall()
    found = []
    for row in rows:
        verdicts = {stage: rest for stage, *rest in base.execute(
            "SELECT stage, standing, reason, message FROM verdict WHERE candidate = ?", row[:1])}
        measurements = {(name, case): value for name, case, value in base.execute(
            "SELECT name, task_case, value FROM measurement WHERE candidate = ?", row[:1])}
        found.append(Candidate(row, verdicts, measurements))
    base.close()
    return found
