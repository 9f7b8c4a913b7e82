"""Imports a few samples and holds naive kernels against them: the right one is accepted, the one with a fault is not.

    naive_test.py RKB SAMPLE...
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


def problems_of(rkb, path, folder):
    made = import_task.build(path, "sample", [], ["forward", "backward"])
    directory = os.path.join(folder, "sample")
    import_task.write(directory, made)
    right = judge(rkb, directory, Graph(directory).kernel(), os.path.join(folder, "right.cu"), LIMIT)
    wrong = judge(rkb, directory, Graph(directory).kernel(1), os.path.join(folder, "wrong.cu"), LIMIT)
    found = [] if right == "accept" else ["the right kernel: %s" % right]
    return found + ([] if wrong.startswith("reject") else ["the kernel with a fault: %s" % wrong])


def main():
    failed = 0
    for path in sys.argv[2:]:
        with tempfile.TemporaryDirectory() as folder:
            problems = problems_of(sys.argv[1], path, folder)
        failed += bool(problems)
        print("%s %s" % ("FAILED" if problems else "ok    ", os.path.basename(path)))
        for problem in problems:
            print("    " + problem)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
