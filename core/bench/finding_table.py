"""The finding benchmark's lines as a table: one row a direction, then geometric means over directions and what it all cost."""
import json
import math
import os

SINGLE = ("first", "apart", "hand")
ARMS = ("best", "random", "niches", "steps", "guess")


def read(path):
    """Lines by (task, direction, what, candidates, seed).  If a run has several lines, the line with the most candidates counts."""
    known = {}
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            for line in file:
                row = json.loads(line)
                key = row["task"], row["direction"], row["what"], row["count"], row["seed"]
                if key not in known or (row["ended"], row["candidates"]) >= (known[key]["ended"], known[key]["candidates"]):
                    known[key] = row
    return known


def mean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def interval(values):
    """Half width of a 95 % interval of the geometric mean, as a factor, from Student's t; None for fewer than two values."""
    t = (12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.20, 2.18, 2.16, 2.14, 2.13, 2.12, 2.11, 2.10, 2.09, 2.09)
    n = len(values)
    if n < 2:
        return None
    logs = [math.log(value) for value in values]
    middle = sum(logs) / n
    deviation = math.sqrt(sum((x - middle) ** 2 for x in logs) / (n - 1))
    return math.exp((t[n - 2] if n - 2 < len(t) else 2.0) * deviation / math.sqrt(n))


def number(value):
    return "-" if value is None else f"{value:.0f}" if value >= 1000 else f"{value:.2f}"


def best_after(row, count):
    """The best value after `count` candidates; None: the run has fewer."""
    if not row:
        return None
    if str(count) in row.get("after", {}):
        return row["after"][str(count)]
    return row["us"] if row["ended"] or row["candidates"] >= count else None


def best_of_builds(row, builds):
    """The best value of the first `count` builds."""
    found = [best for built, best in row.get("course", []) if built <= builds]
    return found[-1] if found else None


def at_equal_builds(arm, best):
    """Compares an arm with the search after equally many builds, as many as the run with fewer builds has.  Returns best / best and the number; or None."""
    if not arm or not best:
        return None
    builds = min(arm.get("built", 0), best.get("built", 0))
    values = best_of_builds(arm, builds), best_of_builds(best, builds)
    return (values[0] / values[1], builds) if all(values) else None


class Direction:
    """The figures of one task and direction; `best` and `random` are geometric means over seeds that both arms have ended."""

    def __init__(self, known, name, direction, count, seeds):
        self.name, self.direction = name, direction
        self.rows = {what: next((known[key] for key in ((name, direction, what, 0, seed) for seed in seeds) if key in known), None) for what in SINGLE}
        self.single = {what: row["us"] if row else None for what, row in self.rows.items()}
        self.arms = {what: {seed: best_after(known.get((name, direction, what, count, seed)), count) for seed in seeds} for what in ARMS}
        self.reached = {what: {seed: known.get((name, direction, what, count, seed)) for seed in seeds} for what in ARMS}

    def mean(self, what):
        return mean([value for value in self.arms[what].values() if value])

    def seeds(self):
        return sum(1 for value in self.arms["best"].values() if value)

    def paired(self, what):
        """Ratios of an arm to `best`, of the seeds that both have."""
        arm, best = self.arms[what], self.arms["best"]
        return [arm[seed] / best[seed] for seed in best if best[seed] and arm[seed]]

    def started(self):
        """The same, but the random arm also has the first kernel from the graph."""
        first = self.single["first"]
        return [min(self.arms["random"][seed], first) / self.arms["best"][seed] for seed in self.arms["best"]
                if first and self.arms["best"][seed] and self.arms["random"][seed]]

    def equal(self, seed):
        """Random choice beside the search at equal builds, of runs of any length that both made of this seed."""
        return at_equal_builds(self.reached["random"].get(seed), self.reached["best"].get(seed))

    def so_far(self):
        """The best value that any run of the search found, interrupted runs and the first kernel included; and the most candidates of a run."""
        rows = [row for what in ("best", "guess") for row in self.reached[what].values() if row]
        values = [value for value in [self.single["first"], *(row["us"] for row in rows)] if value]
        return min(values, default=None), max((row["candidates"] for row in rows), default=0)

    def after(self, count, what="best"):
        values = [best_after(row, count) for row in self.reached[what].values()]
        values = [value for value in values if value]
        return mean(values)


def ratio(a, b):
    return a / b if a and b else None


def accepted_first(row):
    """The first accepted kernel of a run of the starts, which is mostly the plainest one, and after how many seconds it was accepted."""
    seconds, value = (row or {}).get("accepted_first") or (None, None)
    return number(value), "-" if seconds is None else f"{seconds:.1f}"


def print_within(table, most):
    """In how many directions an accepted kernel was there after so many seconds."""
    rows = [(row, row.rows["first"]["accepted_first"]) for row in table if "accepted_first" in (row.rows["first"] or {})]
    late = [f"{row.name} {row.direction}" for row, found in rows if not found or found[0] > most]
    if rows:
        print(f"an accepted kernel within {most} s: {len(rows) - len(late)} of {len(rows)} directions" + (f", all but {', '.join(late)}" if late else ""))


def print_table(table):
    print("task\tdirection\tfirst us\ts\tapart us\trandom us\tbest us\tseeds\tby hand us\thand / first\thand / best\tapart / best\trandom / best\t"
          "so far us\tcandidates\thand / so far\taccepted us\ts")
    for row in table:
        first = row.rows["first"]
        print("\t".join([row.name, row.direction, number(row.single["first"]), f"{first['seconds']:.1f}" if first else "-", number(row.single["apart"]),
                         number(row.mean("random")), number(row.mean("best")), str(row.seeds()), number(row.single["hand"]),
                         number(ratio(row.single["hand"], row.single["first"])), number(ratio(row.single["hand"], row.mean("best"))),
                         number(ratio(row.single["apart"], row.mean("best"))), number(mean(row.paired("random"))), number(row.so_far()[0]), str(row.so_far()[1]),
                         number(ratio(row.single["hand"], row.so_far()[0])), *accepted_first(first)]))


def print_mean(what, values, over="directions"):
    values = [value for value in values if value]
    if values:
        width = interval(values)
        print(f"{what}: {mean(values):.3f} over {len(values)} {over}" + (f", 95 % {mean(values) / width:.3f} to {mean(values) * width:.3f}" if width else "") +
              f", least {min(values):.3f}")


def print_so_far(table, goal):
    """The kernel by hand over the best known kernel, after any number of candidates.  More candidates can only increase this ratio."""
    ratios = {f"{row.name} {row.direction}": ratio(row.single["hand"], row.so_far()[0]) for row in table if row.single["hand"]}
    print_mean("by hand / best so far", ratios.values())
    for what, wanted in (("without an accepted kernel so far", lambda value: value is None), (f"below {goal} so far", lambda value: value and value < goal)):
        found = [name for name, value in ratios.items() if wanted(value)]
        if found:
            print(f"{what}: {', '.join(found)}")


def print_equal(table, seeds):
    """Random over search at equal builds: the mean of each seed over directions, then over seeds, and that of each direction over directions."""
    pairs = [(row, seed, found) for row in table for seed in seeds for found in [row.equal(seed)] if found]
    if not pairs:
        return
    for row in table:
        found = [(seed, value) for of, seed, value in pairs if of is row]
        if found:
            print(f"{row.name} {row.direction}: random / search {mean([value for _, (value, _) in found]):.3f} at equal builds, seeds "
                  + ", ".join(f"{seed}: {value:.3f} at {builds}" for seed, (value, builds) in found))
    whole = [seed for seed in seeds if sum(1 for _, of, _ in pairs if of == seed) == len(table)]
    print_mean(f"random / search at equal builds ({min(b for *_, (_, b) in pairs)} to {max(b for *_, (_, b) in pairs)})",
               [mean([value for of, _, (value, _) in pairs if of is row]) for row in table])
    print_mean(f"the same, a mean over all {len(table)} directions for each seed that has them,",
               [mean([value for _, of, (value, _) in pairs if of == seed]) for seed in whole], "seeds")


def print_defects(rows):
    """Kernels that only the generator wrote and that the screen did not accept: each reason, with its count and one example."""
    written, kinds = sum(row.get("written", 0) for row in rows), {}
    for row in rows:
        for standing, reason, note, message in row.get("defects", []):
            kinds.setdefault((standing, reason), []).append((row["task"], row["direction"], note, message))
    wrong = sum(map(len, kinds.values()))
    if written:
        print(f"of {written} kernels that the generator wrote {wrong} were not accepted ({100 * wrong / written:.2f} %)")
    for (standing, reason), found in sorted(kinds.items(), key=lambda item: -len(item[1])):
        places = sorted({f"{task} {direction}" for task, direction, _, _ in found})
        print(f"  {len(found)}\t{standing} {reason}\t{', '.join(places)}\t{found[0][2]}\t{found[0][3]}")


def print_operators(rows):
    credits = {}
    for row in rows:
        for operator, (made, bests) in row.get("operators", {}).items():
            credit = credits.setdefault(operator, [0, 0])
            credit[0] += made
            credit[1] += bests
    for operator, (made, bests) in sorted(credits.items()):
        print(f"{operator}: {made} candidates of the search, {bests} of them the best so far")


def print_cost(rows):
    """What a candidate costs in the arms that check all candidates, and that leave some unchecked."""
    for what in ("best", "guess"):
        runs = [row for row in rows if row["what"] == what and row["candidates"]]
        count, left = sum(row["candidates"] for row in runs), sum(row.get("unchecked", 0) for row in runs)
        if runs:
            print(f"{what}: {sum(row['cpu'] for row in runs) / count:.2f} s of processor time a candidate, {left} of {count} left unchecked")


def show(known, pairs, count, seeds):
    table = [Direction(known, name, direction, count, seeds) for name, direction in pairs]
    print_table(table)
    print_within(table, 10)
    print_mean("by hand / first", [ratio(row.single["hand"], row.single["first"]) for row in table])
    for mark in (20, 50, 100, 200, 500, 1000, 2000):
        if mark <= count:
            print_mean(f"by hand / best after {mark}", [ratio(row.single["hand"], row.after(mark)) for row in table])
            print_mean(f"by hand / guess after {mark}", [ratio(row.single["hand"], row.after(mark, "guess")) for row in table])
    print_so_far(table, 0.8)
    print_mean(f"apart / best after {count}", [ratio(row.single["apart"], row.mean("best")) for row in table])
    print_mean(f"random / best after {count}, both", [mean(row.paired("random")) for row in table])
    print_mean(f"niches / best after {count}, both", [mean(row.paired("niches")) for row in table])
    print_mean(f"steps / best after {count}, both", [mean(row.paired("steps")) for row in table])
    print_mean(f"guess / best after {count}, both", [mean(row.paired("guess")) for row in table])
    print_cost(known.values())
    print_mean(f"the better of first and random / best after {count}", [mean(row.started()) for row in table])
    print_equal(table, seeds)
    print_defects(known.values())
    print_operators([row for row in known.values() if row["what"] == "best"])
    rows = list(known.values())
    print(f"{len(rows)} runs, {sum(row['candidates'] for row in rows)} candidates, {sum(row.get('built', 0) for row in rows)} builds, "
          f"{sum(row['cpu'] for row in rows):.0f} s of processor time; {sum(1 for row in rows if not row['ended'])} runs interrupted")
