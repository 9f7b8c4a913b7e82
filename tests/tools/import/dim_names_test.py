"""The names of the sizes that a file writes: each file of names/ says in its first line which, in order.

    /usr/bin/python3 dim_names_test.py
"""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(HERE, "..", "..", "..", "core", "tools", "import"))

from user_file import UserFile  # noqa: E402


def main():
    folder, failed = os.path.join(HERE, "names"), 0
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        with open(path) as file:
            wanted = file.readline()[1:].split()
        found = ["%s=%d" % (literal.name, literal.value) for literal in UserFile(path).literals if literal.node]
        failed += found != wanted
        print("%s %s%s" % (("ok    ", name, "") if found == wanted else ("FAILED", name, ": found " + " ".join(found))))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
