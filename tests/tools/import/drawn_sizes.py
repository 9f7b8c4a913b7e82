"""Sizes drawn from the domains of an imported task's dims, at which its graph is held against the model itself.  Test code."""

import itertools
import math
import os
import random
import re
import shutil

import check_cases
from refusal import Refused

MOST_CANDIDATES = 400  # that are drawn, allowed or not
DRAWS = 12  # that are looked at; a model may not work at every size of its dims together
MOST_WORK = 2e7  # operations of a drawn size's graph, where there is a size with fewer
DEAR_WORK = 1e8  # a size of more operations, whose gradient takes the reference minutes, is made smaller
CHECK = re.compile(r"^  check:\n(?:    - .*\n)+", re.MULTILINE)


def ranges_of(task):
    """dim -> (least, most, multiple), from the text of task.yaml."""
    found = re.findall(r"^  (\w+): \{range: (\d+)\.\.(\d+)(?:, multiple_of: (\d+))?\}", task, re.MULTILINE)
    return {name: (int(least), int(most), int(multiple or 1)) for name, least, most, multiple in found}


def conditions_of(task):
    """What `require:` says, as functions of an assignment."""
    texts = re.search(r"^require: \[(.*)\]$", task, re.MULTILINE)
    codes = [compile(text.replace("/", "//"), "require", "eval") for text in re.findall(r'"([^"]*)"', texts.group(1) if texts else "")]
    return [lambda sizes, code=code: eval(code, {"__builtins__": {}}, sizes) for code in codes]  # the importer wrote the text


def one_of(chance, least, most, multiple):
    """Small numbers are as likely as large ones."""
    value = math.exp(chance.uniform(math.log(least), math.log(most)))
    return min(max(least, round(value / multiple) * multiple), most)


def work_at(made, assignment):
    """Operations and elements of the graph there; infinite where the model does not work."""
    try:
        lowering = made.subject.lower(assignment)
    except Refused:
        return math.inf
    return check_cases.work_of(lowering, made.subject.tensor_names) + check_cases.elements_of(lowering)


def made_smaller(made, assignment, work, ranges, conditions):
    """(work, assignment) of a dear size with dims halved, the one that saves most first, until it takes little or nothing is saved."""
    dear = work > DEAR_WORK
    while dear and work > MOST_WORK:
        trials = []
        for name, (least, _, multiple) in ranges.items():
            other = dict(assignment, **{name: max(least, assignment[name] // 2 // multiple * multiple)})
            if other != assignment and all(condition(dict(other)) for condition in conditions):
                trials.append((work_at(made, other), name, other))
        least, _, other = min(trials, default=(math.inf, "", None))
        if least >= work:
            break
        work, assignment = least, other
    return work, assignment


def drawn(made, count, seed):
    """(up to `count` assignments of the dims at which the user's own model works, those of little work first, how many were made smaller)."""
    chance, found = random.Random(seed), []
    ranges, conditions = ranges_of(made.task), conditions_of(made.task)
    candidates = ({name: one_of(chance, *ranges[name]) for name in ranges} for _ in range(MOST_CANDIDATES if ranges else 0))
    allowed = (assignment for assignment in candidates if all(condition(dict(assignment)) for condition in conditions))
    for assignment in itertools.islice(allowed, DRAWS):
        if any(assignment == other for _, _, other in found):
            continue
        work = work_at(made, assignment)
        if work == math.inf:
            continue
        found.append((work, len(found), assignment))
        if sum(work <= MOST_WORK for work, _, _ in found) == count:
            break
    kept = [(work, assignment) for work, _, assignment in sorted(found)[:count]]
    chosen = [made_smaller(made, assignment, work, ranges, conditions)[1] for work, assignment in kept]
    alike = [assignment in chosen[:i] for i, assignment in enumerate(chosen)]
    sizes = [assignment for assignment, again in zip(chosen, alike) if not again]
    return sizes, sum(assignment not in [before for _, before in kept] for assignment in sizes)


def with_check_cases(directory, copy, assignments):
    """A copy of a task whose check cases have these sizes."""
    shutil.copytree(directory, copy)
    path = os.path.join(copy, "task.yaml")
    with open(path) as file:
        text = file.read()
    cases = ["    - {name: drawn_%d, dims: {%s}}\n" % (k, ", ".join("%s: %d" % pair for pair in case.items())) for k, case in enumerate(assignments)]
    with open(path, "w") as file:
        file.write(CHECK.sub(lambda _: "  check:\n" + "".join(cases), text, count=1))
