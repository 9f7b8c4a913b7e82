"""What `rkb report` says of a sweep, computed again here from the archives: values, shares, areas, the test and its correction.
usage: comparisons.py SOURCE_DIRECTORY BINARY_DIRECTORY"""
import csv
import io
import itertools
import json
import math
import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile

source, binary = sys.argv[1:3]
rkb_run, rkb = (os.path.join(binary, "bin", name) for name in ("rkb-run", "rkb"))
os.environ["RKB_PLUGIN_PATH"] = os.path.join(binary, "tests/stage/plugins")
SEEDS = 7
# narrow takes smaller steps and gets less far; same differs in a deadline alone; none rejects every number, since 1 divides it.
PIPELINE = f"""rkb: 1
extends: {source}/tests/run/climb.yaml
name: arms
limits: {{candidates: 60}}
seeds: {SEEDS}
arms:
  plain: {{}}
  narrow: {{search.operators.step.with.high: 20}}
  same: {{search.operators.step.deadline: 9m}}
  none: {{screen.divide.with.by: 1}}
"""


def report(*arguments, code=0):
    done = subprocess.run([rkb, "report", *arguments], capture_output=True, text=True, timeout=600)
    assert done.returncode == code, (arguments, done.returncode, done.stdout, done.stderr)
    return done.stdout + (done.stderr if code else "")


def close(one, other):
    assert math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12), (one, other)


def curve_of(directory):
    """[(evaluation, best so far)], and the number of evaluations."""
    with sqlite3.connect(f"file:{directory}/run.sqlite?mode=ro", uri=True) as archive:
        rows = archive.execute("SELECT standing, objective FROM candidate WHERE duplicate_of IS NULL OR duplicate_of = 0 ORDER BY id").fetchall()
    steps, best = [], math.inf
    for number, (standing, objective) in enumerate(rows, 1):
        if standing == "accept" and objective is not None and objective < best:
            best = objective
            steps.append((number, best))
    return steps, len(rows)


def signed_rank(differences):
    differences = [value for value in differences if value != 0]
    sizes = [abs(value) for value in differences]
    ranks = [sum(other < size for other in sizes) + (sum(other == size for other in sizes) + 1) / 2 for size in sizes]
    middle = sum(ranks) / 2
    got = abs(sum(rank for rank, value in zip(ranks, differences) if value > 0) - middle)
    sums = [abs(sum(chosen) - middle) for chosen in itertools.product(*((0, rank) for rank in ranks))]
    return sum(value >= got - 1e-9 for value in sums) / len(sums)


def holm(p):
    adjusted, least = [0.0] * len(p), 0.0
    for place, index in enumerate(sorted(range(len(p)), key=lambda i: p[i])):
        least = max(least, min(1.0, p[index] * (len(p) - place)))
        adjusted[index] = least
    return adjusted


with tempfile.TemporaryDirectory() as work:
    path, sweep = os.path.join(work, "arms.yaml"), os.path.join(work, "sweep")
    with open(path, "w", encoding="utf-8") as file:
        file.write(PIPELINE)
    subprocess.run([rkb_run, "--sweep", path, "--out", sweep, "--quiet", "--cells", "2"], check=True, capture_output=True, timeout=600)
    whole = json.loads(report(sweep, "--json"))
    curves = {run["directory"]: curve_of(run["directory"]) for run in whole["runs"]}
    values = {(run["arm"], run["seed"]): (curves[run["directory"]][0] or [(0, None)])[-1][1] for run in whole["runs"]}
    best = min(value for value in values.values() if value is not None)
    end = max(length for _, length in curves.values())
    assert whole["baseline"] == "plain" and len(whole["runs"]) == 4 * SEEDS
    for run in whole["runs"]:
        value = values[run["arm"], run["seed"]]
        assert run["value"] == value and (run["arm"] == "none") == (value is None), run
        close(run["share"], best / value if value else 0)
        assert run["curves"]["evaluations"] == [list(step) for step in curves[run["directory"]][0]]

    # Medians, means and areas.
    by_evaluations = next(curve for curve in whole["curves"] if curve["over"] == "evaluations")
    for arm in whole["arms"]:
        got = [value for (name, _), value in values.items() if name == arm and value is not None]
        summary = next(one for one in whole["summaries"] if one["arm"] == arm)
        assert summary["runs"] == SEEDS and summary["found"] == len(got)
        if got:
            close(summary["value"]["median"]["estimate"], statistics.median(got))
            close(summary["value"]["mean"]["estimate"], statistics.mean(got))
            assert summary["value"]["mean"]["low"] <= statistics.mean(got) <= summary["value"]["mean"]["high"]
        areas = []
        for run in (run for run in whole["runs"] if run["arm"] == arm):
            steps = curves[run["directory"]][0] + [(end, None)]
            areas.append(sum((after[0] - before[0]) * best / before[1] for before, after in zip(steps, steps[1:])) / end)
        area = next(one for one in by_evaluations["arms"] if one["arm"] == arm)
        close(area["area"]["estimate"], statistics.mean(areas))

    # The planted disadvantage is found, the arm that changes nothing is not, the arm that finds nothing loses every pair.
    def difference(arm, seed):
        one, other = values[arm, seed], values["plain", seed]
        return -math.inf if one is None else math.log(other / one)
    seeds = sorted({run["seed"] for run in whole["runs"]})
    p = [signed_rank([difference(one["arm"], seed) for seed in seeds]) if one["arm"] != "same" else 1.0 for one in whole["comparisons"]]
    for one, raw, adjusted in zip(whole["comparisons"], p, holm(p)):
        close(one["p"], raw)
        close(one["p_holm"], adjusted)
    narrow, same, none = whole["comparisons"]
    assert (narrow["arm"], same["arm"], none["arm"]) == ("narrow", "same", "none")
    assert narrow["p_holm"] < 0.05 and narrow["worse"] == SEEDS and narrow["ratio"]["high"] < 1
    assert same["p"] == 1 and same["same"] == SEEDS and same["ratio"]["estimate"] == 1
    assert none["worse"] == SEEDS and none["ratio"]["estimate"] is None

    # The three forms have the same numbers.
    rows = list(csv.DictReader(io.StringIO(report(sweep, "--csv"))))
    row = next(row for row in rows if (row["what"], row["arm"], row["measure"]) == ("comparison", "narrow", "p_holm"))
    assert float(row["estimate"]) == narrow["p_holm"]
    text, latex = report(sweep), report(sweep, "--latex")
    for form in (text, latex):
        assert f"{narrow['ratio']['estimate']:.4g} [{narrow['ratio']['low']:.4g}, {narrow['ratio']['high']:.4g}]" in form, form
        assert "Wilcoxon" in form and "Holm" in form
    assert latex.count("\\begin{tabular}") == latex.count("\\end{tabular}") == 5 and "95 \\%" not in text
    assert report(sweep) == text, "resampling is not deterministic"

    # Single runs, another baseline, and what cannot be compared.
    folders = [run["directory"] for run in whole["runs"]]
    assert "runs: 2, arms: 1" in report(folders[0], folders[1])
    assert json.loads(report(sweep, "--baseline", "same", "--json"))["baseline"] == "same"
    assert "did you mean 'narrow'" in report(sweep, "--baseline", "narow", code=2)
    assert "is for comparisons" in report(folders[0], "--csv", code=2)
    assert "holds no run" in report(folders[0], work, code=2)
    with sqlite3.connect(f"{folders[0]}/run.sqlite") as archive:
        archive.execute("UPDATE fact SET value = 'interrupted' WHERE key = 'ended'")
    text = report(sweep)
    assert f"left out: {folders[0]}: it has not ended" in text and "1 runs have no partner" in text, text
    with sqlite3.connect(f"{folders[1]}/run.sqlite") as archive:
        archive.execute("UPDATE fact SET value = 'other.us' WHERE key = 'objective'")
    assert "cannot be compared" in report(sweep, code=2)
print("comparisons agree")
