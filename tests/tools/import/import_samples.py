"""Imports every file of samples/ and holds the result against the directives at the file's top.

    /usr/bin/python3 import_samples.py [DUMP]

With the dump program of tests/reference, the imported graph's values and gradients are held against the model itself.

    # import: --dim B=x:0      options (none when absent): --dim, --input, --entry
    # graph: linear relu       the operations, in order
    # task: TEXT               a line of task.yaml contains it (white space at the ends aside)
    # text: TEXT               the graph contains it
    # note: TEXT               a note begins with it
    # refused: 12: TEXT        the n-th refusal, without the file's name, begins with it, or with another TEXT after || (PyTorch 1.13 and 2.11
                               do not refuse the same themselves); nothing is written then
"""

import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(HERE, "..", "..", "..", "core", "tools", "import"))

sys.path.insert(0, os.path.join(HERE, "..", "..", "reference"))

import compare  # noqa: E402
import import_task  # noqa: E402
from refusal import Refused  # noqa: E402
from user_function import user_function  # noqa: E402


def directives(path):
    found = {}
    with open(path) as file:
        for line in file:
            match = re.match(r"# (\w+): ?(.*)$", line.rstrip("\n"))
            if not match:
                break
            found.setdefault(match.group(1), []).append(match.group(2))
    return found


def numbers(made, target, dump):
    """Problems of the imported graph's values and gradients, held against the model itself."""
    problems = []
    for direction in compare.directions_of(target):
        try:
            share, where = compare.held(dump, target, direction, 1, user_function(made))
        except subprocess.CalledProcessError:
            return ["the evaluator does not load it"]
        if not share <= 1:
            problems.append("%s: %.3g of the bound at %s" % (direction, share, where))
    return problems


def imported(path, wanted, folder, dump):
    """Problems of a sample that should import."""
    options = " ".join(wanted.get("import", [])).split()
    given = {"--dim": [], "--input": [], "--entry": []}
    for option, value in zip(options[::2], options[1::2]):
        given[option].append(value)
    made = import_task.build(path, "sample", given["--dim"], ["forward", "backward"], given["--input"], (given["--entry"] or [None])[0])
    task, graph, notes = made.task, made.graph, made.notes
    target = os.path.join(folder, "sample")
    import_task.write(target, made)
    problems = []
    if sorted(os.listdir(target)) != ["reference.graph.yaml", "reference.py", "task.yaml"] or os.listdir(folder) != ["sample"]:
        problems.append("the directory holds %s" % os.listdir(target))
    operations = re.findall(r" op: (\w+)", graph)
    if [" ".join(operations)] != wanted.get("graph"):
        problems.append("the graph is: %s" % " ".join(operations))
    problems += ["task.yaml lacks: %s" % text for text in wanted.get("task", []) if text not in task]
    problems += ["the graph lacks: %s" % text for text in wanted.get("text", []) if text not in graph]
    for text in wanted.get("note", []):
        if not any(note.startswith(text) for note in notes):
            problems.append("no note says: %s (notes: %s)" % (text, notes))
    return problems + (numbers(made, target, dump) if dump else [])


def check(path, dump):
    wanted = directives(path)
    with tempfile.TemporaryDirectory() as folder:
        try:
            problems = imported(path, wanted, folder, dump)
            sentences = []
        except Refused as refusal:
            problems, sentences = [], refusal.sentences
        if "refused" not in wanted:
            return problems + sentences
        if not sentences:
            return ["it was imported"]
        if os.listdir(folder):
            problems.append("something was left behind: %s" % os.listdir(folder))
    plain = [sentence.replace(path + ":", "").strip() for sentence in sentences]
    expected = wanted["refused"]
    if len(plain) != len(expected) or not all(a.startswith(tuple(b.split(" || "))) for a, b in zip(plain, expected)):
        problems.append("refused with: %s" % plain)
    return problems


def main():
    folder = os.path.join(HERE, "samples")
    dump = sys.argv[1] if len(sys.argv) > 1 else None
    failed = 0
    for name in sorted(os.listdir(folder)):
        if not name.endswith(".py"):
            continue
        problems = check(os.path.join(folder, name), dump)
        failed += bool(problems)
        print("%s %s" % ("FAILED" if problems else "ok    ", name))
        for problem in problems:
            print("    " + problem)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
