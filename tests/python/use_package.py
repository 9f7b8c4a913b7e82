"""Uses the installed package rkb: usage: use_package.py RUN SOURCE_DIRECTORY SITE"""
import os
import shutil
import sqlite3
import sys

import rkb
import rkb.stage

run, source, site = sys.argv[1:4]
assert rkb.__file__.startswith(site), rkb.__file__


def refuses(what, error, *arguments, **named):
    try:
        what(*arguments, **named)
    except error as caught:
        return str(caught)
    raise AssertionError(f"{arguments} was not refused")


def read_run():
    with rkb.open(run, frames=False) as archive:
        candidates, verdicts, measurements = archive.candidates, archive.verdicts, archive.measurements
        assert archive.facts["hash_function"] == "SHA-256"
        assert len(candidates) >= 3
        assert all((one["standing"] == "none") == (one["duplicate_of"] is not None) for one in candidates)
        numbers = [one["number"] for one in candidates]
        assert numbers == sorted(numbers) and all(isinstance(one["tune"], dict) for one in candidates)
        assert {one["candidate"] for one in verdicts} <= set(numbers) and {one["stage"] for one in verdicts} >= {"lint"}
        assert all(one["shadow"] is False for one in verdicts)
        sizes = {one["candidate"]: one["value"] for one in measurements if one["name"] == "size.bytes"}
        for number, size in sizes.items():
            assert size == len(archive.source(number).encode()), number
        best = archive.best()
        assert sizes[best] == min(sizes[one["number"]] for one in candidates if one["standing"] == "accept")
        parents = {one["candidate"]: one["parent"] for one in archive.lineage}
        assert parents and all(child in numbers and parent < child for child, parent in parents.items())
        assert {one["section"] for one in archive.requests} == {"propose", "search"}
        counted = archive.rows("SELECT count(*) AS many FROM candidate WHERE id >= ?", (1,))
        assert counted == [{"many": len(candidates)}]
        refuses(archive.source, KeyError, 10 ** 6)
        refuses(archive.rows, sqlite3.OperationalError, "DELETE FROM candidate")
    return best


def frames():
    """The same as frames, where pandas is installed."""
    try:
        import pandas
    except ImportError:
        with rkb.open(run) as archive:
            assert isinstance(archive.candidates, list)
        return
    with rkb.open(run) as archive:
        assert isinstance(archive.candidates, pandas.DataFrame) and len(archive.candidates) == len(archive.rows("SELECT id FROM candidate"))


def refused_files():
    refuses(rkb.open, FileNotFoundError, os.path.dirname(run) + "/nothing")
    foreign = os.path.join(os.path.dirname(run), "foreign.sqlite")
    sqlite3.connect(foreign).execute("CREATE TABLE t (a)").connection.close()
    assert "no archive of rkb" in refuses(rkb.open, ValueError, foreign)
    for number, surprise in enumerate(("CREATE VIEW surprise AS SELECT 1", "ALTER TABLE event ADD COLUMN surprise AS (1)", "CREATE VIRTUAL TABLE surprise USING rtree(a, b, c)")):
        armed = os.path.join(os.path.dirname(run), f"armed{number}")
        shutil.copytree(run, armed)
        database = sqlite3.connect(os.path.join(armed, "run.sqlite"))
        database.execute(surprise)
        database.commit()
        database.close()
        assert "views" in refuses(rkb.open, ValueError, armed), surprise


def check():
    with open(os.path.join(source, "tasks/softmax/seeds/forward/warp_online.cu"), encoding="utf-8") as file:
        kernel = file.read()
    right = rkb.check(kernel, "softmax")
    assert right.accepted and right.verified_by_execution and right.reason == "", right
    assert right.measured("model.predicted_us") > 0 and right.measured("nothing") is None
    wrong = rkb.check(kernel.replace("__expf", "expf").replace("expf(", "2.0f * expf(", 1), os.path.join(source, "tasks/softmax"))
    assert wrong.standing == "reject" and wrong.reason and wrong.message and not wrong.accepted, wrong
    torn = rkb.check("/* rkb-kernel: 1\ntask: softmax\n*/", "softmax")
    assert torn.standing == "reject" and torn.reason == "plan.manifest" and "candidate.cu" in torn.message, torn
    refuses(rkb.check, rkb.RkbError, kernel, "no_such_task")
    refuses(rkb.check, rkb.RkbError, kernel, "softmax", program="/nowhere/rkb")
    return wrong.reason


print("best", read_run())
frames()
refused_files()
print("a wrong kernel is rejected for", check())
