"""Graphs of many nodes are traced at fewer sizes, and their dims have the domains that they have in graphs of few nodes.

    /usr/bin/python3 many_nodes_test.py
"""

import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(HERE, "..", "..", "..", "core", "tools", "import"))

import import_task  # noqa: E402
import probing  # noqa: E402

FORM = """
import torch
import torch.nn as nn

batch, rows, width, heads = 32, 40, 64, 4


class Model(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.scale = nn.Parameter(torch.rand(width))

    def forward(self, x):
%s
        for _ in range(%d):
            x = torch.tanh(x)
        return x


def get_inputs():
    return [torch.rand(batch, rows, width)]


def get_init_inputs():
    return [width, heads]
"""

# What forward does beside the nodes -> its lines, what the dims are multiples of, and the most traces of the model with many nodes.
CASES = {
    "free": (["x = x * self.scale"], {"batch": 1, "rows": 1, "width": 1}, 7),
    "heads": (["x = (x * self.scale).view(x.shape[0], x.shape[1], self.heads, -1).transpose(1, 2)"], {"batch": 1, "rows": 1, "width": 4}, 8),
    "least together": (["if x.shape[0] * x.shape[1] < 4:", "    raise ValueError('too few')", "x = x * self.scale"], {"batch": 1, "rows": 1, "width": 1}, 12),
    "half of the rows": (["x = (x * self.scale)[:, : x.shape[1] // 2]"], {"batch": 1, "rows": 1, "width": 1}, 10),
    "eight rows at most": (["x = (x * self.scale)[:, :8]"], {"batch": 1, "rows": 1, "width": 1}, 11),
}


def imported(folder, lines, count):
    """(dim -> (least, multiple), how many traces gave the graph) of a model that makes about `count` nodes."""
    path = os.path.join(folder, "model.py")
    with open(path, "w") as file:
        file.write(FORM % ("\n".join("        " + line for line in lines), count))
    traces, own = [], probing.Probe.trace

    def trace(probe, assignment):
        failure = own(probe, assignment)
        traces.append(failure is None)
        return failure

    probing.Probe.trace = trace
    try:
        made = import_task.build(path, "model", [], ["forward"])
    finally:
        probing.Probe.trace = own
    dims = {}
    for note in made.notes:
        words = note.replace(",", "").replace(":", "").split()
        if words[0] == "dim":
            dims[words[1]] = (int(words[2]), int(words[words.index("of") + 1]) if "of" in words else 1)
    return dims, sum(traces)


def main():
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for label, (lines, wanted, most) in CASES.items():
            few, _ = imported(folder, lines, 3)
            many, traces = imported(folder, lines, probing.LARGE)
            good = few == many and {name: multiple for name, (_, multiple) in many.items()} == wanted and traces <= most
            failed += not good
            print("%s %s: %s, with many nodes %s in %d traces" % ("ok    " if good else "FAILED", label, few, many, traces))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
