#!/usr/bin/env python3
"""Fails where a shell script pipes into a program that stops reading early: head, and grep with -q, -m or /dev/null (GNU grep then stops at
the first match).  The writer may get SIGPIPE, and under 'set -o pipefail' the pipe then fails: once in a hundred runs, on a busy machine.
'grep -q WORDS < <(program)' and 'sed -n 1p' say the same and cannot.
usage: pipes.py TREE  (prints one line a place, exits 1 when there is any)"""
import os
import re
import sys

SCRIPTS = (".sh", ".bash")
FOLDERS = (".", ".ci", "core", "docs", "packaging", "plugins", "tests")
SKIPPED = ("build", "node_modules")
STOPS_EARLY = re.compile(r"(?<!\|)\|(?!\|)\s*(?:[A-Z_]+=\S+\s+)?(?:head\b|grep\s+(?:-\S+\s+)*(?:-\w*[qm]|[^|;]*>\s*/dev/null))")


def scripts(tree):
    for top in FOLDERS:
        for directory, folders, names in os.walk(os.path.join(tree, top)):
            folders[:] = [] if top == "." else sorted(f for f in folders if not f.startswith(SKIPPED))
            yield from (os.path.join(directory, name) for name in sorted(names) if name.endswith(SCRIPTS))


def main():
    found = read = 0
    for path in scripts(sys.argv[1]):
        read += 1
        with open(path, encoding="utf-8") as text:
            for number, line in enumerate(text, 1):
                if STOPS_EARLY.search(line):
                    print(f"{os.path.relpath(path, sys.argv[1])}:{number}: {line.strip()}")
                    found += 1
    if not read:
        print(f"{sys.argv[1]} has no scripts")
    return 1 if found or not read else 0


if __name__ == "__main__":
    sys.exit(main())
