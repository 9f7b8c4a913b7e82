#!/usr/bin/env python3
"""Does the CPU's model of a target order schedules of products as a device does?

  ranking.py draw BUILD TASK OUT [--bench NAME=DIM:SIZE,...]... [--candidates N] [--seed S] [--slowest R]
      Draws schedules of TASK (a directory) around the suited one and by chance, screens them, and writes of each accepted one that is
      predicted to take at most R times the fastest: OUT/kernels/TASK/NNN.cu (the kernel with its schedule),
      OUT/exported/TASK.forward.NNN.cu and .h (for tests/gpu/exported_kernels.py), and its predictions to OUT/predicted.tsv (the
      model's parts of them to OUT/TASK.details.jsonl).
      OUT/tasks/TASK is the task without seeds, with these bench cases in place of its own.
  ranking.py predict BUILD TASK OUT
      Predicts the kernels in OUT/kernels/TASK again, by the model as it is in BUILD; TASK is a name.
  ranking.py join OUT FILE TIMES...
      Appends to FILE a line for each schedule of OUT that was timed: task, name, schedule, and for each case what was predicted and what was
      measured, in microseconds.  TIMES is what `exported_kernels.py OUT/tasks OUT/exported RESULT` writes on the device.  Kernels whose
      results differ from PyTorch's are left out and named.
  ranking.py compare FILE [--fitted CASE,...]
      Spearman's rank correlation of predicted and measured times, case by case.  "distinct": schedules with equal predictions (to 0.1 us)
      whose times lie within SAME of each other count once, since many differ only in launches that the case does not take, and the order of
      such is noise.  "predicted / measured" is a geometric mean, and "best predicted / fastest" the measured time of the schedule that is
      predicted to be the fastest, over the least measured.  --fitted names the cases (TASK/CASE) that the model's constants were chosen on."""
import argparse
import csv
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile

SCREEN = """screen:
  - use: rkb.verifier.lint
  - {use: rkb.verifier.machine, with: {shapes: 0, families: 1, bench_points: 0, bench_blocks: 4}}
  - use: rkb.profiler.model
"""
HEAD = "rkb: 1\nname: ranking\nseed: {seed}\ntarget: h200\nobjective: {{minimise: [model.predicted_us], over: bench, combine: geomean}}\n"
SEARCH = """limits: {{candidates: {count}, generations: 1000, stale: {count}, wall: 2h}}
propose:
  - {{use: rkb.translator.graph, with: {{starts: [suited]}}}}
search:
  use: rkb.strategy.best_of_n
  window: 16
  operators:
    - {{use: rkb.mutator.schedule, with: {{time: "", crossover: 0, steps: 0.5}}, weight: 5}}
    - {{use: rkb.translator.graph, id: draw, weight: 4}}
"""
MOST_SEEDS = 64  # of a folder: rkb.translator.seed takes no more
SAME = 1.03
WRONG = 0.1  # of a result, as a share of the mean magnitude: rounding is far below


def run(build, task, text, scratch):
    pipeline = os.path.join(scratch, "ranking.yaml")
    with open(pipeline, "w", encoding="utf-8") as file:
        file.write(text)
    out = os.path.join(scratch, "run")
    subprocess.run([os.path.join(build, "bin", "rkb-run"), pipeline, "--task", task, "--direction", "forward", "--secret", f"{1:064x}",
                    "--out", out, "--quiet"], check=False)
    return os.path.join(out, "run.sqlite")


def accepted(archive):
    """[(text, note, {case: (us, detail)})] in the order of candidates."""
    base = sqlite3.connect(f"file:{archive}?mode=ro", uri=True)
    rows = base.execute("select c.id, s.text, c.note from candidate c join source s on s.hash = c.source_hash where c.standing = 'accept' "
                        "and c.objective is not null and c.duplicate_of is null order by c.id").fetchall()
    found = []
    for number, text, note in rows:
        cases = base.execute("select task_case, value, detail from measurement where candidate = ? and name = 'model.predicted_us' and task_case != ''",
                             (number,)).fetchall()
        found.append((text, note or "", {case.removeprefix("bench/"): (us, detail) for case, us, detail in cases}))
    base.close()
    return found


def write_predictions(out, task, rows):
    """rows: [(label, note, cases)]; replaces the task's lines."""
    path, name = os.path.join(out, "predicted.tsv"), os.path.basename(task)
    kept = []
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            kept = [row for row in csv.DictReader(file, delimiter="\t") if row["task"] != name]
    for label, note, cases in rows:
        kept += [{"task": name, "case": case, "label": label, "predicted_us": f"{us:.3f}", "note": note} for case, (us, _) in cases.items()]
    with open(path, "w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, ["task", "case", "label", "predicted_us", "note"], delimiter="\t", lineterminator="\n")
        table.writeheader()
        table.writerows(kept)
    with open(os.path.join(out, f"{name}.details.jsonl"), "w", encoding="utf-8") as file:
        for label, _, cases in rows:
            for case, (us, detail) in cases.items():
                file.write(json.dumps({"task": name, "case": case, "label": label, "us": us, "detail": json.loads(detail or "{}")}) + "\n")


def keep(build, task, out, found, slowest):
    name, rows = os.path.basename(task), []
    for folder in (os.path.join(out, "kernels", name), os.path.join(out, "exported")):
        os.makedirs(folder, exist_ok=True)
    least = {case: min(cases[case][0] for _, _, cases in found) for case in found[0][2]}
    for number, (text, note, cases) in enumerate(found, 1):
        label, path = f"{number:03d}", os.path.join(out, "kernels", name, f"{number:03d}.cu")
        if any(cases[case][0] > slowest * least[case] for case in cases):
            continue
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        done = subprocess.run([os.path.join(build, "bin", "rkb"), "export", path, "--task", task, "--c", "--out",
                               os.path.join(out, "exported", f"{name}.forward.{label}.cu")], capture_output=True, text=True, check=False)
        if done.returncode:
            print(f"{name} {label}: {done.stderr.strip()[:200]}", file=sys.stderr)
            os.remove(path)
            continue
        rows.append((label, note, cases))
    write_predictions(out, task, rows)
    print(f"{name}: {len(rows)} schedules")


def copy_task(given):
    """OUT/tasks/TASK: without seeds, and with the bench cases that were asked for."""
    task = os.path.join(given.out, "tasks", os.path.basename(os.path.abspath(given.task)))
    shutil.copytree(given.task, task, ignore=shutil.ignore_patterns("seeds", "best"), dirs_exist_ok=True)
    if given.bench:
        path = os.path.join(task, "task.yaml")
        with open(path, encoding="utf-8") as file:
            head = file.read().split("  bench:\n")[0]
        with open(path, "w", encoding="utf-8") as file:
            file.write(head + "  bench:\n")
            for name, sizes in (bench.split("=") for bench in given.bench):
                file.write(f"    - {{name: {name}, dims: {{{sizes.replace(':', ': ').replace(',', ', ')}}}}}\n")
    return task


def draw(given):
    task = copy_task(given)
    with tempfile.TemporaryDirectory() as scratch:
        text = HEAD.format(seed=given.seed) + SEARCH.format(count=given.candidates) + SCREEN
        keep(given.build, task, given.out, accepted(run(given.build, task, text, scratch)), given.slowest)


def predict_some(given, kernels, names):
    """[(label, note, cases)] of these kernels."""
    with tempfile.TemporaryDirectory() as scratch:
        task, labels = os.path.join(scratch, given.task), {}
        seeds = os.path.join(task, "seeds", "forward")
        shutil.copytree(os.path.join(given.out, "tasks", given.task), task)
        os.makedirs(seeds)
        for name in names:
            with open(shutil.copy(os.path.join(kernels, name), seeds), encoding="utf-8") as file:
                labels[file.read()] = name[:-3]
        archive = run(given.build, task, HEAD.format(seed=given.seed) + "propose:\n  - use: rkb.translator.seed\n" + SCREEN, scratch)
        return [(labels[text], note, cases) for text, note, cases in accepted(archive)]


def predict(given):
    kernels = os.path.join(given.out, "kernels", given.task)
    names, rows = sorted(os.listdir(kernels)), []
    for first in range(0, len(names), MOST_SEEDS):
        rows += predict_some(given, kernels, names[first : first + MOST_SEEDS])
    write_predictions(given.out, given.task, sorted(rows))
    print(f"{given.task}: {len(rows)} of {len(names)} schedules predicted")


def ranks(values):
    """Ties share their mean rank."""
    order, result, at = sorted(range(len(values)), key=values.__getitem__), [0.0] * len(values), 0
    while at < len(order):
        end = at
        while end < len(order) and values[order[end]] == values[order[at]]:
            end += 1
        for place in order[at:end]:
            result[place] = (at + end - 1) / 2
        at = end
    return result


def spearman(first, second):
    a, b = ranks(first), ranks(second)
    mean = (len(a) - 1) / 2
    across = sum((x - mean) * (y - mean) for x, y in zip(a, b))
    within = (sum((x - mean) ** 2 for x in a) * sum((y - mean) ** 2 for y in b)) ** 0.5
    return across / within if within else float("nan")


def distinct(points):
    """Pairs (predicted, measured): one for each group of equal predictions and of times that lie within SAME, with its mean time."""
    groups = []
    for predicted, measured in sorted((round(p, 1), m) for p, m in points):
        if groups and groups[-1][0] == predicted and measured < SAME * groups[-1][1][0]:
            groups[-1][1].append(measured)
        else:
            groups.append((predicted, [measured]))
    return [(predicted, sum(times) / len(times)) for predicted, times in groups]


def correlation(points):
    return f"{spearman([p for p, _ in points], [m for _, m in points]):.3f} ({len(points)})"


def read(path):
    with open(path, encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def schedule_of(path):
    """The schedule of a kernel with one launch, in few words: what is 0 is left out, and sizes of a tile are joined by x."""
    with open(path, encoding="utf-8") as file:
        words = re.search(r"- \{map: (.*)\}", file.read()).group(1)
    words = re.sub(r", (compute|write): \[[^]]*\]|, \w+: 0(?=,|$)|, tensor: \w+|, split: 1(?=,|$)", "", words)
    for name in ("tile", "warp", "thread", "other"):
        words = re.sub(rf"{name}_m: (\d+), {name}_n: (\d+)(, {name}_k: )?", lambda m: f"{name} {m[1]}x{m[2]}" + ("x" if m[3] else ""), words)
    words = re.sub(r"(persistent|held|narrow|dependent|prefetch): 1", r"\1", words)
    return words.replace(": ", " ").replace(",", "")


def join(given):
    predicted, wrong, lines = {}, set(), {}
    for row in read(os.path.join(given.out, "predicted.tsv")):
        predicted[row["task"], row["case"], row["label"]] = row["predicted_us"]
    for row in (row for path in given.times for row in read(path)):
        key = (row["task"], row["case"], row["label"])
        if key in predicted and not float(row["error"]) < WRONG:
            wrong.add(f"{row['task']} {row['label']}")
        elif key in predicted:
            lines.setdefault((row["task"], row["label"]), {})[row["case"]] = (predicted[key], row["us"])
    cases = list(dict.fromkeys(case for times in lines.values() for case in times))
    begins = not os.path.exists(given.file)
    with open(given.file, "a", encoding="utf-8") as file:
        if begins:
            print("task", "name", "schedule", *(f"{case} {what}" for case in cases for what in ("predicted", "measured")), sep="\t", file=file)
        for (task, label), times in lines.items():
            schedule = schedule_of(os.path.join(given.out, "kernels", task, label + ".cu"))
            numbers = (f"{float(us):.{1 if float(us) < 1000 else 0}f}" for case in cases for us in times.get(case, ("nan", "nan")))
            print(task, f"{os.path.basename(os.path.abspath(given.out))}.{label}", schedule, *numbers, sep="\t", file=file)
    if wrong:
        print(f"left out, results differ from PyTorch's: {', '.join(sorted(wrong))}")


def compare(given):
    fitted, cases = set(filter(None, given.fitted.split(","))), {}
    for row in read(given.file):
        for case in (column.removesuffix(" measured") for column in row if column.endswith(" measured")):
            if row[f"{case} measured"] != "nan":
                point = float(row[f"{case} predicted"]), float(row[f"{case} measured"])
                cases.setdefault(f"{row['task']}/{case}", []).append(point)
    print("| case | | measured us | rank correlation (schedules) | distinct | within 3 times the fastest | distinct of these | predicted / measured |"
          " best predicted / fastest |")
    print("|---|---|--:|--:|--:|--:|--:|--:|--:|")
    for case, points in cases.items():
        times = [m for _, m in points]
        product = 1.0
        for p, m in points:
            product *= (p / m) ** (1 / len(points))
        chosen = min(points)[1] / min(times)
        near = [point for point in points if point[1] <= 3 * min(times)]
        print(f"| {case} | {'fitted' if case in fitted else 'held out'} | {min(times):.0f} to {max(times):.0f} | "
              f"{correlation(points)} | {correlation(distinct(points))} | {correlation(near)} | {correlation(distinct(near))} | {product:.2f} | {chosen:.2f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    kinds = parser.add_subparsers(dest="what", required=True)
    for what in (draw, predict):
        one = kinds.add_parser(what.__name__)
        for name in ("build", "task", "out"):
            one.add_argument(name)
        one.add_argument("--seed", type=int, default=1)
        one.set_defaults(act=what)
        if what is draw:
            one.add_argument("--bench", action="append", metavar="NAME=DIM:SIZE,...")
            one.add_argument("--candidates", type=int, default=60)
            one.add_argument("--slowest", type=float, default=60)
    one = kinds.add_parser("join")
    for name in ("out", "file"):
        one.add_argument(name)
    one.add_argument("times", nargs="+")
    one.set_defaults(act=join)
    one = kinds.add_parser("compare")
    one.add_argument("file")
    one.add_argument("--fitted", default="")
    one.set_defaults(act=compare)
    given = parser.parse_args()
    given.act(given)


main()
