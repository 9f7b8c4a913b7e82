#!/usr/bin/env python3
"""What the jobs of campaigns.py found, as Markdown: tables.py OUT

A task and direction is in the table of bounds when all its seeds ran; what a part lacks is said below it.
"""

import collections
import glob
import os
import re
import sys

import campaigns


def rows_of(pattern, fields):
    """(job's name, the words of each line that begins with a task and a direction) of every output that matches."""
    for path in sorted(glob.glob(pattern)):
        with open(path, errors="replace") as file:
            for line in file:
                words = line.split()
                if len(words) >= fields and words[1] in ("forward", "backward"):
                    yield os.path.basename(path)[: -len(".txt")], words


def jobs_that_held(out, part):
    return {name[len(part) + 1 :] for name in os.listdir(os.path.join(out, "done")) if name.startswith(part + ".")}


def bounds(out):
    held, worst, portions = jobs_that_held(out, "bounds"), {}, collections.Counter()
    for name, words in rows_of(os.path.join(out, "bounds", "*.txt"), 7):
        if name not in held:
            continue
        key = words[0], words[1]
        numbers = [float(words[2]), float(words[3]), float(words[5].rstrip("%"))]
        worst[key] = [max(pair) for pair in zip(worst.get(key, numbers), numbers)]
        portions[key] += 1
    whole = {key: value for key, value in worst.items() if portions[key] == campaigns.SEEDS // campaigns.PORTION}
    print("| task | forward: hard, stat | backward: hard, stat | most ambiguous |\n|---|---|---|---|")
    for task in sorted({task for task, _ in whole}):
        both = [whole.get((task, direction)) for direction in ("forward", "backward")]
        texts = ["%.3f, %.3f" % tuple(one[:2]) if one else "not run" for one in both]
        print("| %s | %s | %s | %.2f%% |" % (task, *texts, max(one[2] for one in both if one)))
    for key in sorted(set(worst) - set(whole)):
        print("\nNot all seeds: %s %s" % key)


def compared(out, part):
    held = jobs_that_held(out, part)
    print("| task | direction | runs | of hard | of stat | worst at |\n|---|---|---|---|---|---|")
    for name, words in rows_of(os.path.join(out, part, "*.txt"), 5):
        if name in held or words[-1] == "OUTSIDE":
            print("| %s | %s | %s | %s | %s | %s |" % (*words[:5], " ".join(words[5:])))


def verdicts(out, part):
    counts, other = collections.Counter(), []
    path = os.path.join(out, part, "results.tsv")
    if not os.path.exists(path):
        return
    with open(path) as file:
        for line in file:
            name, _, standing, reason, _ = line.rstrip("\n").split("\t")
            counts[standing] += 1
            if standing != ("accept" if part == "tune" else "reject"):
                other.append("%s %s %s" % (standing, reason, name))
    print(", ".join("%d %s" % (count, standing) for standing, count in sorted(counts.items())) + "\n")
    print("\n".join("    " + line for line in sorted(other)))


def claims(out, claim):
    lines = []
    for path in sorted(glob.glob(os.path.join(out, "runs", "*", claim + ".tsv"))):
        with open(path) as file:
            head, *rest = file.read().splitlines()
            lines += rest
    if not lines:
        return
    print("| " + " | ".join(head.split("\t")) + " |\n|" + "---|" * len(head.split("\t")))
    for line in lines:
        print("| " + " | ".join(re.sub(r"^(\d+\.\d\d)\d+$", r"\1", word) for word in line.split("\t")) + " |")


def main():
    out = sys.argv[1]
    for part in campaigns.PARTS:
        if not os.path.isdir(os.path.join(out, "runs" if part == "stock" else part)):
            continue
        print("\n## %s\n" % part)
        if part == "bounds":
            bounds(out)
        elif part in ("families", "bench"):
            compared(out, part)
        elif part in ("table", "sanitized", "tune"):
            verdicts(out, part)
        elif part == "stock":
            claims(out, "search")
            print()
            claims(out, "equal")


if __name__ == "__main__":
    sys.exit(main())
