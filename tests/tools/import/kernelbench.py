"""Imports every file of a KernelBench checkout and finds out whether each can be judged; prints the table, a line a file.

    kernelbench.py CHECKOUT [--level N]... [--rkb PROGRAM --dump PROGRAM] [--jobs N] [--every N] [--limit SECONDS] [--reference-limit SECONDS] [--only WORD] [--out FILE]
                             [--durations TSV] [--wide SECONDS] [--within SECONDS] [--table FILE [--beside TSV]...]

For each file: whether it was imported without any option, and the processor seconds that took with PyTorch loaded; how the graph compares with the
model itself in double precision, forward and backward (the share of what is allowed, 1 is the limit), at up to three sizes drawn from
its dims' ranges (drawn_sizes.py; `drawn` says how many, and how many of them were made smaller since the reference takes
minutes for what was drawn; without any the check cases are taken); what `rkb check` says of the naive kernel (naive_kernel.py), and of the same kernel with one fault, and the seconds that each took.  Without --rkb and --dump only the import.  --table
writes the table in Markdown (kernelbench_table.py), with what another PyTorch gave beside it.
Rows that FILE holds already are kept and their files left out, so a run that was cut off goes on.  --durations takes the table of an
earlier run: what took longest there, or is not in it, comes first, so that the last files do not keep one core busy.  What took more than --wide seconds
is done in several processes: one for each drawn size and direction, and one for each kernel.  --within ends the run after so many seconds, with the rows
that there are.
"""

import argparse
import json
import math
import multiprocessing
import os
import re
import subprocess
import sys
import tempfile
import time

import numpy

from side_by_side import side_by_side

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
for folder in (os.path.join(HERE, "..", "..", "..", "core", "tools", "import"), os.path.join(HERE, "..", "..", "reference"), HERE):
    sys.path.insert(0, folder)

SECONDS = ("import_s", "naive_s", "fault_s")
COLUMNS = ("level", "file", "import_s", "imported", "dims", "drawn", "forward", "backward", "naive", "naive_s", "fault", "fault_s", "remark")


def name_of(path):
    return re.sub(r"\W+", "_", "k" + os.path.basename(path)[:-3].lower()).strip("_")[:60].strip("_")


def judge(rkb, directory, text, path, limit, jobs=1):
    """accept, suspect, reject or unknown, with the reason.  jobs: how many are judged side by side."""
    with open(path, "w") as file:
        file.write(text)
    one_thread = dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    try:
        done = subprocess.run([rkb, "check", path, "--task", directory, "--json", "--strict"], capture_output=True, text=True, timeout=limit,
                              env=one_thread if jobs > 1 else None)
    except subprocess.TimeoutExpired:
        return "no verdict in %d s" % limit
    try:
        found = json.loads(done.stdout)
        reasons = [stage.get("reason") for stage in found.get("stages", found.get("verdicts", [])) if stage.get("reason")]
    except ValueError:
        reasons = [done.stderr.strip().splitlines()[0][:160]] if done.stderr.strip() else []
    word = {0: "accept", 1: "reject", 2: "not loaded"}.get(done.returncode, "unknown")
    return " ".join([word] + (reasons[:1] if word != "accept" else []))


def held(made, directory, options, direction):
    """The share of what is allowed, as text; whatever the user's model does at that size."""
    import compare
    from user_function import user_function

    try:
        return "%.2g" % compare.held(options.dump, directory, direction, 1, user_function(made), limit=options.reference_limit)[0]
    except subprocess.TimeoutExpired:
        return "no reference in %d s" % options.reference_limit
    except Exception as error:
        return "%s: %s" % (type(error).__name__, str(error).splitlines()[0][:80] if str(error) else "")


def comparisons(made, directory, seed, wide):
    """(which sizes, as text, [(direction, directory)]) whose check cases have those sizes: all of them, or one each."""
    import compare
    import drawn_sizes

    sizes, smaller = drawn_sizes.drawn(made, 3, seed)
    directories = [] if sizes else [directory]
    for number, own in enumerate([[size] for size in sizes] if wide else [sizes] if sizes else []):
        directories.append(os.path.join(os.path.dirname(directory), "drawn_%d" % number, os.path.basename(directory)))
        drawn_sizes.with_check_cases(directory, directories[-1], own)
    return "%d%s" % (len(sizes), ", %d made smaller" % smaller if smaller else ""), [(direction, own) for direction in compare.directions_of(directory) for own in directories]


def worst_of(shares):
    """Of several texts: the first that is no number, or the largest.  "nan" says that no element of that size was compared."""
    shares = [share for share in shares if share != "nan"] or shares[:1]
    words = [share for share in shares if not re.fullmatch(r"[\d.e+-]+|inf", share)]
    return words[0] if words else max(shares, key=float, default="")


def is_constant(made, directory, dump):
    """Whether the model's outputs at the check cases are the same, in double precision, whatever its inputs and weights are: for three draws
    of them."""
    import compare
    from user_function import user_function

    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([dump, directory, "forward", folder, "1-3", "check", "normal"], check=True)
        first = {}  # case -> its outputs for the first draw
        for run in compare.runs_of([folder], "forward"):
            outputs = {name: value.detach().numpy() for name, value in run.outputs(user_function(made), compare.torch.float64).items()}
            before = first.setdefault(run.entry["case"], outputs)
            if not all(numpy.array_equal(value, before[name], equal_nan=True) for name, value in outputs.items()):
                return False
    return True


def warm_up():
    """PyTorch loads a part of itself, sympy above all, when a tensor without data is first used."""
    import torch

    torch.nn.functional.linear(torch.empty(2, 3, device="meta"), torch.empty(4, 3, device="meta"))
    torch.nn.functional.conv2d(torch.empty(1, 1, 4, 4, device="meta"), torch.empty(1, 1, 3, 3, device="meta"))
    torch.fx.symbolic_trace(torch.nn.ReLU())


def row_of(job):
    path, level, options = job
    import torch

    import import_task
    from refusal import Refused

    torch.set_num_threads(1)
    warm_up()
    row = dict.fromkeys(COLUMNS, "")
    row.update(level=str(level), file=os.path.basename(path))
    started = time.process_time()
    try:
        made = import_task.build(path, name_of(path), [], ["forward", "backward"])
    except Refused as refusal:
        row.update(imported="no", remark=refusal.sentences[0].replace(path, "")[:200])
        return row
    except Exception as error:
        row.update(imported="failed", remark="%s: %s" % (type(error).__name__, str(error).splitlines()[0][:150] if str(error) else ""))
        return row
    finally:
        row["import_s"] = "%.2f" % (time.process_time() - started)
    row["imported"] = "yes"
    row["dims"] = str(sum(note.startswith("dim ") for note in made.notes))
    if options.rkb and options.dump:
        with tempfile.TemporaryDirectory() as folder:
            look(path, made, folder, options, row)
    return row


def timed_judgement(directory, text, path, options):
    started = time.monotonic()
    verdict = judge(options.rkb, directory, text, path, options.limit, options.jobs)
    return verdict, "%.1f" % (time.monotonic() - started)


def expected_seconds(options):
    """What a file of a level took in an earlier run, as a function; infinite if it was not in it, 0 if there was none."""
    rows = rows_before(options.durations)
    seconds = {(row["level"], row["file"]): sum(float(row[column] or 0) for column in SECONDS) for row in rows}
    return lambda level, file: seconds.get((str(level), file), math.inf if seconds else 0)


def look(path, made, folder, options, row):
    import import_task
    from naive_kernel import Graph, Unwritten

    directory = os.path.join(folder, name_of(path))
    import_task.write(directory, made)
    wide = expected_seconds(options)(row["level"], row["file"]) > options.wide
    drawn, compared = comparisons(made, directory, row["file"], wide)
    calls = [lambda own=own, direction=direction: held(made, own, options, direction) for direction, own in compared]
    try:
        texts = (("naive", Graph(directory).kernel()), ("fault", Graph(directory).kernel(1)))
    except Unwritten as problem:
        texts = ()
        row["remark"] = "no naive kernel: %s" % problem
    for column, text in texts:
        calls.append(lambda column=column, text=text: timed_judgement(directory, text, os.path.join(folder, column + ".cu"), options))
    found = side_by_side(calls) if wide else [call() for call in calls]
    row["drawn"] = drawn
    for direction in {direction for direction, _ in compared}:
        row[direction] = worst_of([share for (own, _), share in zip(compared, found) if own == direction])
    for (column, _), (verdict, seconds) in zip(texts, found[len(compared):]):
        row[column], row[column + "_s"] = verdict, seconds
    if row["naive"] == "accept" and row["fault"] == "accept":  # a fault may change nothing: the query of attention over equal keys
        another = judge(options.rkb, directory, Graph(directory).kernel(2), os.path.join(folder, "another.cu"), options.limit, options.jobs)
        row["remark"] = "fault 2: %s" % another
        if another == "accept" and is_constant(made, directory, options.dump):
            row["remark"] += "; the outputs are the same for all inputs"


def files_of(options):
    found = []
    for level in options.level or [3, 2, 1]:  # what takes longest first
        folder = os.path.join(options.checkout, "KernelBench", "level%d" % level)
        names = [name for name in os.listdir(folder) if name.endswith(".py")]
        names.sort(key=lambda name: int(re.match(r"\d+", name).group(0)) if re.match(r"\d+", name) else 0)
        found += [(os.path.join(folder, name), level) for name in names if options.only in name]
    seconds = expected_seconds(options)
    found.sort(key=lambda pair: -seconds(pair[1], os.path.basename(pair[0])))
    return found[:: options.every]


def rows_before(path):
    """What a run that was cut off left."""
    if not path or not os.path.exists(path):
        return []
    with open(path) as file:
        lines = [line.rstrip("\n").split("\t") for line in file if not line.startswith("#")]
    return [dict(zip(COLUMNS, line)) for line in lines[1:] if len(line) == len(COLUMNS)]


def summary(rows):
    lines = []
    for level in sorted({row["level"] for row in rows}):
        own = [row for row in rows if row["level"] == level]
        seconds = sorted(float(row["import_s"]) for row in own)
        line = "level %s: %d files, %d imported (median %.2f s, 90 %% %.2f s, most %.2f s)" % (
            level, len(own), sum(row["imported"] == "yes" for row in own), seconds[len(seconds) // 2],
            seconds[9 * (len(seconds) - 1) // 10], seconds[-1])
        if any(row["naive"] for row in own):
            line += ", %d naive kernels accepted, %d of their faults rejected" % (
                sum(row["naive"] == "accept" for row in own), sum(row["naive"] == "accept" and row["fault"].startswith("reject") for row in own))
        lines.append(line)
    return lines


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("checkout")
    parser.add_argument("--level", type=int, action="append")
    parser.add_argument("--rkb")
    parser.add_argument("--dump")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--limit", type=int, default=180, help="seconds for one verdict")
    parser.add_argument("--reference-limit", type=int, default=300, help="seconds for the expected values of one direction")
    parser.add_argument("--only", default="", help="files whose name has this word")
    parser.add_argument("--out")
    parser.add_argument("--durations")
    parser.add_argument("--wide", type=float, default=math.inf)
    parser.add_argument("--within", type=float, default=math.inf)
    parser.add_argument("--table", help="needs --out")
    parser.add_argument("--beside", action="append", default=[])
    options = parser.parse_args()
    began = time.monotonic()
    import torch

    rows = rows_before(options.out)
    known = {(row["level"], row["file"]) for row in rows}
    jobs = [(path, level, options) for path, level in files_of(options) if (str(level), os.path.basename(path)) not in known]
    out = open(options.out, "a") if options.out else sys.stdout
    if not rows:
        print("# PyTorch %s" % torch.__version__, file=out)
        print("\t".join(COLUMNS), file=out, flush=True)
    with multiprocessing.get_context("spawn").Pool(options.jobs, maxtasksperchild=20) as pool:
        found = pool.imap_unordered(row_of, jobs)
        for _ in jobs:
            try:
                row = found.next(max(0, options.within + began - time.monotonic()) if options.within < math.inf else None)
            except multiprocessing.TimeoutError:
                break  # leaving the pool ends its processes
            rows.append(row)
            print("\t".join(row[column].replace("\t", " ") for column in COLUMNS), file=out, flush=True)
    for line in summary(rows):
        print("# " + line, file=out)
    if options.out:
        out.close()
        print("\n".join(summary(rows)))
    if options.table and options.out:
        import kernelbench_table

        with open(options.table, "w") as file:
            file.write(kernelbench_table.table([options.out] + options.beside))
    return 0


if __name__ == "__main__":
    sys.exit(main())
