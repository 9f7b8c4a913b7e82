#!/usr/bin/env python3
"""Plants one pipe at a time in an empty tree and expects pipes.py to point at those whose writer may get SIGPIPE.  usage: pipes_test.py"""
import os
import subprocess
import sys
import tempfile

CHECK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "pipes.py")

BAD = [
    "find . | head -n 1",
    "ls | sort | head",
    "readelf -l a.out | grep -q INTERP",
    "readelf -l a.out | LC_ALL=C grep -qE 'a|b'",
    "rkb plugins | grep -v -q rkb",
    "rkb plugins | grep -m 1 rkb",
    "rkb plugins | grep rkb >/dev/null",
]
GOOD = [
    "find . -print -quit",
    "ls | sort | sed -n 1p",
    "grep -q INTERP < <(readelf -l a.out)",
    "rkb check a.cu || grep -q words said",
    "rkb check a.cu || head -c 2000 said",
    "rkb plugins | grep rkb >list",
    "grep rkb list >/dev/null",
]


def finds(line):
    with tempfile.TemporaryDirectory() as tree:
        os.mkdir(os.path.join(tree, "tests"))
        with open(os.path.join(tree, "tests", "a.sh"), "w", encoding="utf-8") as script:
            script.write(f"set -o pipefail\n{line}\n")
        done = subprocess.run([sys.executable, CHECK, tree], stdout=subprocess.PIPE, text=True)
        return done.returncode == 1 and done.stdout.startswith(f"tests/a.sh:2: {line}")


def main():
    wrong = [f"not found: {line}" for line in BAD if not finds(line)] + [f"found: {line}" for line in GOOD if finds(line)]
    with tempfile.TemporaryDirectory() as tree:
        if subprocess.run([sys.executable, CHECK, tree], stdout=subprocess.DEVNULL).returncode != 1:
            wrong.append("a tree without scripts passes")
    print("\n".join(wrong) or f"{len(BAD) + len(GOOD)} lines are told apart")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
