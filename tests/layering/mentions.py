#!/usr/bin/env python3
"""Fails where a comment of C, or a document, names a file that is not in the tree: the file was renamed or removed, and the reader looks for it in
vain.  Of documents, only paths in backquotes below the tree's own folders are asked, and results of a day (docs/results/<date>-*) are not: they
name what there was.
usage: mentions.py TREE  (prints one line a mention, exits 1 when there is any)"""
import os
import re
import sys

# Files of others, of a user or of a run, which comments name.  A name in double quotes is an example.
OUTSIDE = {"cuda.h", "nvml.h", "nvrtc.h", "driver_abi.h", "setup.py", "graph.yaml", "answer.sh", "killed.yaml", "b.c", "name.yaml"}
FOLDERS = ("core", "plugins", "tests", "pipelines", "tasks", "devices", "docs", "cmake", "packaging")
COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|(/\*.*?\*/)', re.DOTALL)
FILE = re.compile(r"(?<![\w<*.\"-])(?:[\w.-]+/)*([\w-]+\.(?:c|h|py|md|cuh|sh|yaml))\b(?!>)")
PATH = re.compile(r"`((?:" + "|".join(FOLDERS) + r")/[\w./-]*[\w/-])`")


def walk(tree):
    for folder in (".",) + FOLDERS:
        top = os.path.join(tree, folder)
        for directory, folders, names in os.walk(top):
            folders[:] = [] if folder == "." else sorted(name for name in folders if name != "node_modules")
            for name in sorted(names):
                yield os.path.join(directory, name)


def mentions(path, text):
    """(line, file) for every file that the text names."""
    if path.endswith((".c", ".h")):
        for comment in COMMENT.finditer(text):
            for match in FILE.finditer(comment.group(1) or ""):
                yield text.count("\n", 0, comment.start(1) + match.start()) + 1, match.group(1), False
    elif path.endswith(".md"):
        for match in PATH.finditer(text):
            yield text.count("\n", 0, match.start()) + 1, match.group(1), True


def main():
    tree, wrong, read = sys.argv[1], 0, 0
    paths = list(walk(tree))
    names = {os.path.basename(path) for path in paths}
    for path in paths:
        place = os.path.relpath(path, tree).replace(os.sep, "/")
        if not path.endswith((".c", ".h", ".md")) or re.match(r"docs/results/\d", place):
            continue
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read()
        read += 1
        for line, name, whole in mentions(path, text):
            there = os.path.exists(os.path.join(tree, name)) if whole else name in names or name in OUTSIDE or name.split(".")[0].isupper()
            if not there:
                print(f"{place}:{line}: there is no {name}")
                wrong += 1
    print(f"{read} files, {wrong} mentions of files that are not there")
    return 1 if wrong or not read else 0


if __name__ == "__main__":
    sys.exit(main())
