#!/usr/bin/env python3
"""Machine against GPU verdicts, predicted against measured times.  usage: agreement.py RUN...   (Markdown)

Every disagreement is listed.  Rank correlation is Spearman's, over the candidates of one (task, direction, case); with fewer than three it is
not given."""

import os
import sys

import archive

WORST_FIRST = ["reject", "unknown", "suspect", "accept"]


def ranks(values):
    order = sorted(range(len(values)), key=values.__getitem__)
    result, at = [0.0] * len(values), 0
    while at < len(order):
        end = at
        while end + 1 < len(order) and values[order[end + 1]] == values[order[at]]:
            end += 1
        for i in range(at, end + 1):
            result[order[i]] = (at + end) / 2
        at = end + 1
    return result


def rank_correlation(a, b):
    """Spearman's, ties by mean rank; None below three pairs or without variation."""
    if len(a) < 3:
        return None
    x, y = ranks(a), ranks(b)
    mean = (len(a) - 1) / 2
    over = sum((p - mean) * (q - mean) for p, q in zip(x, y))
    under = (sum((p - mean) ** 2 for p in x) * sum((q - mean) ** 2 for q in y)) ** 0.5
    return over / under if under else None


def verdict_pairs(found):
    """(candidate, machine's verdict, the device's) of those that both have seen."""
    for candidate in found:
        if "machine" in candidate.verdicts and "gpu" in candidate.verdicts:
            yield candidate, candidate.verdicts["machine"], candidate.verdicts["gpu"]


def main():
    found = []
    for run in sys.argv[1:]:
        if os.path.exists(os.path.join(run, "run.sqlite")):
            found += archive.candidates(run)
    pairs = list(verdict_pairs(found))
    differ = [(c, m, g) for c, m, g in pairs if (m[0] == "reject") != (g[0] == "reject")]
    print("# Agreement of the checking machine with the device\n")
    print(f"{len(found)} candidates; both gave a verdict on {len(pairs)}; they disagree on {len(differ)}.\n")
    kinds = {}
    for _, machine, gpu in differ:
        key = f"machine {machine[0]} {machine[1]}".strip() + f", device {gpu[0]} {gpu[1]}".rstrip()
        kinds[key] = kinds.get(key, 0) + 1
    for key in sorted(kinds, key=kinds.get, reverse=True):
        print(f"* {kinds[key]} times: {key}")
    if differ:
        print("\nEach of them:\n")
    for candidate, machine, gpu in differ:
        print(f"* {candidate.task} {candidate.direction} {candidate.name}: machine {machine[0]} {machine[1]} ({machine[2]}); device {gpu[0]} {gpu[1]} ({gpu[2]})")
    counts = {}
    for _, machine, gpu in pairs:
        counts[machine[0], gpu[0]] = counts.get((machine[0], gpu[0]), 0) + 1
    print("\n| machine | " + " | ".join(f"device {name}" for name in WORST_FIRST) + " |\n|---|" + "---|" * len(WORST_FIRST))
    for row in WORST_FIRST:
        print(f"| {row} | " + " | ".join(str(counts.get((row, name), 0)) for name in WORST_FIRST) + " |")
    print("\n# Predicted against measured time\n\n| task | direction | case | candidates | predicted / measured, geometric mean | rank correlation |\n|---|---|---|---|---|---|")
    groups = {}
    for candidate in found:
        for (name, case), measured in candidate.measurements.items():
            predicted = candidate.measurements.get(("model.predicted_us", case))
            if name == "time.us" and case and predicted:
                groups.setdefault((candidate.task, candidate.direction, case), []).append((predicted, measured))
    for key in sorted(groups):
        predicted, measured = zip(*groups[key])
        ratio = 1.0
        for p, m in groups[key]:
            ratio *= (p / m) ** (1 / len(groups[key]))
        rank = rank_correlation(predicted, measured)
        print("| " + " | ".join(key) + f" | {len(predicted)} | {ratio:.2f} | {'too few' if rank is None else f'{rank:.2f}'} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
