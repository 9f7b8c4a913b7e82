"""Sizes of a task's bench cases, and the memory that they need."""

import math
import re

import yaml

BASE_BYTES = 1.5e9  # of a process: its context, and what empties the cache


def evaluate(text, names):
    """A size or list of sizes in the language of tasks: integers, / and % as in C."""
    expression = re.sub(r"(?<![/])/(?![/])", "//", str(text))
    return eval(expression, {"__builtins__": {}}, {**names, "ceildiv": lambda a, b: -(-a // b), "min": min, "max": max})


def number(value):
    """YAML 1.1 takes 1e-5 for a text."""
    return float(value) if isinstance(value, str) else value


def names_of(task, bench):
    """The values of a case's dims and attributes, and of what the task makes of them."""
    names = {**{n: number(a.get("default")) for n, a in (task.get("attributes") or {}).items()}, **bench["dims"],
             **{n: number(value) for n, value in bench.get("attributes", {}).items()}}
    for name, text in (task.get("let") or {}).items():
        names[name] = evaluate(text, names)
    return names


def bytes_of(task, folder, direction, bench):
    """About the most memory that PyTorch's variants and a kernel need side by side: the tensors, what the reference's nodes become, and the
    values that a gradient saves, which eager and compiled code each keep.  Of cases timed on an H100 that came to 0.65 to 0.87 of what was taken."""
    names = names_of(task, bench)

    def size(tensor):
        shape = evaluate(f"({tensor['shape']},)", names) if tensor.get("shape") else ()
        return math.prod(shape) * (8 if "64" in tensor["dtype"] else 4 if "32" in tensor["dtype"] else 2)

    tensors = sum(map(size, task["tensors"].values()))
    graph = yaml.safe_load((folder / "reference.graph.yaml").read_text())
    try:
        nodes = sum(size(out) for node in graph["nodes"] for out in node["out"])
    except (NameError, SyntaxError, TypeError):
        nodes = 4 * tensors  # a size in words that this tool does not know
    return 1.5 * (BASE_BYTES + 3 * tensors + (2 if direction == "forward" else 4) * nodes)
