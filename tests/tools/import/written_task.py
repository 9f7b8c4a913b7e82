"""A task that a test writes, and what `rkb check` says of kernels for it."""

import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, HERE)

from kernelbench import judge  # noqa: E402


def verdict(rkb, name, task, graph, kernel):
    """accept, reject (suspect too) or unknown, with the reason.  rkb: the program; task, graph and kernel: texts."""
    with tempfile.TemporaryDirectory() as folder:
        directory = os.path.join(folder, name)
        os.mkdir(directory)
        for file_name, text in (("task.yaml", task), ("reference.graph.yaml", graph)):
            with open(os.path.join(directory, file_name), "w") as file:
                file.write(text)
        return judge(rkb, directory, kernel, os.path.join(folder, "kernel.cu"), 300)


def hold(described):
    """Prints a line for each (description, verdict found, verdict wanted), as they come; 1 if one is another than wanted."""
    failed = 0
    for description, found, wanted in described:
        fine = found.split()[0] == wanted
        failed += not fine
        print("%s %s: %s" % ("ok    " if fine else "FAILED", description, found))
    return 1 if failed else 0
