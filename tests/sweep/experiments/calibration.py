"""How often sweeps find an advantage that was planted, and how often they find one that is not there.

Each sweep has ten seeds and three arms: "plain"; "told", whose prompt holds a sentence that makes each answer of the declared model a tenth
smaller; "also", whose prompt holds a sentence that changes nothing.  What must come out is computed from the declaration alone, without
rkb: the same draws, minima and test in this program, many times.

usage: calibration.py SOURCE_DIRECTORY BINARY_DIRECTORY FOLDER SWEEPS [FIRST [PROCESSES]]
  FOLDER keeps one line a sweep in results.jsonl; the same call goes on with those that are missing.
"""
import concurrent.futures
import json
import math
import os
import random
import sys
import tempfile

from declared_runs import Runs

SEEDS, FIRST, CALLS, WINDOW, GAIN, LEVEL = 10, 4, 20, 4, 1.1, 0.05
BEHAVIOUR = {"wrong": 0.1, "repeated": 0.05, "prose": 0.05, "bytes": {"median": 9000, "spread": 0.12}}
SENTENCES = {"told": "Short kernels are read sooner.", "also": "Long kernels are read later."}
# Improvements of the first kernels alone, and few of them: the best of a run is then the least of draws whose distribution is declared.
MORE = """limits: {{calls: {calls}}}
set:
  propose.translate.with.proposals: {first}
  search.use: rkb.strategy.best_of_n
  search.with: {{}}
  search.window: {window}
  search.operators.improve.with.again: 0
  search.operators.fix.weight: 0
  search.operators.crossover.weight: 0
  search.operators.explore.weight: 0
arms:
  plain: {{}}
  told: {{search.operators.improve.with.improve: {folder}/told.md}}
  also: {{search.operators.improve.with.improve: {folder}/also.md}}
"""


def write_prompts(source, folder):
    with open(f"{source}/pipelines/prompts/improve.md", encoding="utf-8") as file:
        prompt = file.read()
    for arm, sentence in SENTENCES.items():
        changed = prompt.replace("Decide what costs", f"{sentence} Decide what costs")
        assert changed != prompt
        with open(f"{folder}/{arm}.md", "w", encoding="utf-8") as file:
            file.write(changed)


def one_sweep(source, binary, number):
    with tempfile.TemporaryDirectory() as folder:
        runs = Runs(source, binary, folder)
        write_prompts(source, folder)
        with runs.server(seed=number, gains=[{"when": SENTENCES["told"], "gain": GAIN}], **BEHAVIOUR) as port:
            sweep = runs.sweep(port, f"{source}/pipelines/experiments/base.yaml", "calibration", MORE.format(calls=CALLS, first=FIRST, window=WINDOW, folder=folder), seeds=SEEDS,
                               secret=f"{number:064x}")
        found = {one["arm"]: one for one in runs.report(sweep)["comparisons"]}
        return {"sweep": number, **{arm: {"p": found[arm]["p"], "p_holm": found[arm]["p_holm"], "ratio": found[arm]["ratio"]} for arm in SENTENCES}}


def signed_rank(differences):
    """Two-sided p of Wilcoxon's test, counted out; differences without ties."""
    ordered = sorted((value for value in differences if value), key=abs)
    counts = [1]
    for rank in range(1, len(ordered) + 1):  # how many assignments of signs give each sum of ranks
        counts = [(counts[at] if at < len(counts) else 0) + (counts[at - rank] if at >= rank else 0) for at in range(len(counts) + rank)]
    middle, total = (len(counts) - 1) / 2, sum(counts)
    got = abs(sum(rank for rank, value in enumerate(ordered, 1) if value > 0) - middle)
    return sum(count for at, count in enumerate(counts) if abs(at - middle) >= got - 1e-9) / total


def expected(samples=2000):
    """What the declaration gives: {arm: (share of sweeps with p below the level, with Holm's correction, mean ratio)}."""
    draw, spread, unusable = random.Random(1), BEHAVIOUR["bytes"]["spread"], BEHAVIOUR["wrong"] + BEHAVIOUR["prose"]

    def sizes(count, lost, gain=1.0):
        return [math.exp(spread * draw.gauss(0, 1)) / gain for _ in range(count) if draw.random() >= lost]

    def run(first, gain):
        """The least of a run's kernels.  The first kernels are the same in every arm, and without one there is no parent.  The limit is seen
        when a window's requests have been asked beyond it."""
        return min(first + sizes(CALLS - FIRST + WINDOW, unusable + BEHAVIOUR["repeated"], gain)) if first else 1.0

    raw, corrected, ratios = {"told": 0, "also": 0}, {"told": 0, "also": 0}, {"told": 0.0, "also": 0.0}
    for _ in range(samples):
        firsts = [sizes(FIRST, unusable) for _ in range(SEEDS)]
        plain = [run(first, 1) for first in firsts]
        p = {}
        for arm, gain in (("told", GAIN), ("also", 1)):
            differences = [math.log(one / run(first, gain)) for one, first in zip(plain, firsts)]
            p[arm], ratios[arm] = signed_rank(differences), ratios[arm] + sum(differences) / SEEDS
        first = min(p, key=p.get)
        holm = {first: min(1, 2 * p[first])}
        holm.update({arm: max(holm[first], p[arm]) for arm in p if arm != first})
        for arm in p:
            raw[arm] += p[arm] < LEVEL
            corrected[arm] += holm[arm] < LEVEL
    return {arm: (raw[arm] / samples, corrected[arm] / samples, math.exp(ratios[arm] / samples)) for arm in raw}


def wilson(hits, count, z=1.959964):
    middle, half = (hits + z * z / 2) / (count + z * z), z * math.sqrt(hits * (count - hits) / count + z * z / 4) / (count + z * z)
    return middle - half, middle + half


def print_results(results):
    declared = expected()
    print(f"{len(results)} sweeps of {SEEDS} seeds; a planted gain of {GAIN} an answer; level {LEVEL}")
    print(f"{'':34}{'declared':>10}{'sweeps':>10}   95 % interval")
    good = True
    for arm, title in (("told", "planted"), ("also", "nothing planted")):
        for at, key in enumerate(("p", "p_holm")):
            hits = sum(one[arm][key] < LEVEL for one in results)
            low, high = wilson(hits, len(results))
            good &= low <= declared[arm][at] <= high
            print(f"{title + ', ' + ('one test' if key == 'p' else 'Holm, two arms'):34}{declared[arm][at]:10.3f}{hits / len(results):10.3f}   {low:.3f} to {high:.3f}")
        ratio = math.exp(sum(math.log(one[arm]["ratio"]["estimate"]) for one in results) / len(results))
        held = sum(one[arm]["ratio"]["low"] <= declared[arm][2] <= one[arm]["ratio"]["high"] for one in results)
        print(f"{title + ', mean ratio':34}{declared[arm][2]:10.3f}{ratio:10.3f}   the report's intervals held the declared one in {held} of {len(results)}")
    return good


def main():
    source, binary, folder, sweeps = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
    first = int(sys.argv[5]) if len(sys.argv) > 5 else 1
    processes = int(sys.argv[6]) if len(sys.argv) > 6 else max(os.cpu_count() // 2, 1)
    os.makedirs(folder, exist_ok=True)
    path, results = f"{folder}/results.jsonl", {}
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            results = {one["sweep"]: one for one in map(json.loads, file)}
    missing = [number for number in range(first, first + sweeps) if number not in results]
    with concurrent.futures.ThreadPoolExecutor(processes) as pool, open(path, "a", encoding="utf-8") as file:
        for one in pool.map(lambda number: one_sweep(source, binary, number), missing):
            results[one["sweep"]] = one
            file.write(json.dumps(one) + "\n")
            file.flush()
    return 0 if print_results([results[number] for number in range(first, first + sweeps)]) else 1


sys.exit(main())
