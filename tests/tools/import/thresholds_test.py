"""A window of attention that is larger than a check case shows nothing there: kernels that forget it have to be rejected all the same.

    thresholds_test.py RKB
"""

import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
for folder in (os.path.join(HERE, "..", "..", "..", "core", "tools", "import"), HERE):
    sys.path.insert(0, folder)

import import_task  # noqa: E402
from kernelbench import judge  # noqa: E402
from naive_kernel import Graph  # noqa: E402

LIMIT = 300
FORM = """
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self%s):
        super().__init__()
        self.window = %s

    def forward(self, scores):
        length = scores.shape[-1]
        place = torch.arange(length)
%s
        return torch.softmax(scores.masked_fill(hidden, float("-inf")), -1)


def get_inputs():
    return [torch.randn(2, 96, 96)]
"""
AHEAD = "(place[None, :] > place[:, None])"
# label -> an argument of Model, the window, how forward hides what lies outside, the notes that are wanted, what a forgetful kernel changes
CASES = {
    "a number of the model": (", window=40", "window", ["hidden = %s | (place[:, None] - place[None, :] >= self.window)" % AHEAD],
                              ["dim window: 1 to 40, published 40", "check case odd: batch = 2, window = 2, sequence = 5"], ("1.0 * window", "1000.0")),
    "a diagonal": (", window=40", "window", ["seen = torch.triu(torch.ones(length, length), diagonal=1 - self.window)", "hidden = %s | (seen == 0)" % AHEAD],
                   ["dim window: 1 to 40, published 40"], ("1 - window", "-1000")),
    "a number in a line": ("", "96", ["hidden = %s | (place[:, None] - place[None, :] >= 37)" % AHEAD],  # the two have no common width
                           ["check case reaching: batch = 1, sequence = 38"], ("37.0", "1000.0")),
}  # fmt: skip


def problems_of(rkb, given, folder):
    argument, window, lines, wanted, (before, after) = given
    path, directory = os.path.join(folder, "model.py"), os.path.join(folder, "model")
    with open(path, "w") as file:
        file.write(FORM % (argument, window, "\n".join("        " + line for line in lines)))
    made = import_task.build(path, "model", [], ["forward"])
    import_task.write(directory, made)
    found = ["no note begins with: %s (notes: %s)" % (text, made.notes) for text in wanted if not any(note.startswith(text) for note in made.notes)]
    text = Graph(directory).kernel()
    if before not in text:
        return found + ["the kernel does not have %s" % before]
    right = judge(rkb, directory, text, os.path.join(folder, "right.cu"), LIMIT)
    wrong = judge(rkb, directory, text.replace(before, after), os.path.join(folder, "wrong.cu"), LIMIT)
    found += [] if right == "accept" else ["the right kernel: %s" % right]
    return found + ([] if wrong.startswith("reject numeric") else ["the kernel that forgets: %s" % wrong])


def main():
    failed = 0
    for label, given in CASES.items():
        with tempfile.TemporaryDirectory() as folder:
            problems = problems_of(sys.argv[1], given, folder)
        failed += bool(problems)
        print("%s %s" % ("FAILED" if problems else "ok    ", label))
        for problem in problems:
            print("    " + problem)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
