#!/usr/bin/env python3
"""Fails where two folders of core/ and plugins/ have a file of the same base name.  The same name is right for the same thing: an extension's
header and what is behind it, a stage's main file (plugins/<kind>/<name>/<name>.c) and the core's part of the same name, and what SAME lists.
usage: names.py TREE  (prints one line a name, exits 1 when there is any)"""
import os
import sys

# Base names that two folders have for one thing seen from two sides, with the reason.  An entry that is not needed fails.
SAME = {
    "bulk_copies": "the machine's bulk copies, and the instructions that start them",
    "bulk_operands": "the operands of those instructions: decoded, and used",
    "mbarriers": "the machine's mbarrier objects, and the instructions on them",
    "product": "matrix products of a graph: functions, operations, kernels",
    "run": "a run, in C and in Python",
    "sizes": "the sizes of a graph, where it is read and where it is imported",
    "structure": "structured inputs: of a task, and in an import",
}
# Base names that two folders have for two things, which are left: these may only become fewer.
LEFT = {
    "finding": "what is wrong with a candidate, and the campaign that finds kernels",
}
CODE = (".c", ".h", ".cc", ".cpp", ".py")


def files(tree):
    for root in ("core", "plugins"):
        for directory, folders, names in os.walk(os.path.join(tree, root)):
            folders[:] = sorted(folder for folder in folders if folder != "node_modules")
            for name in sorted(names):
                base, extension = os.path.splitext(name)
                if extension in CODE:
                    yield base, os.path.relpath(directory, tree).replace(os.sep, "/")


def counts(base, folder):
    """Whether a file of this name in this folder must be alone: public headers and main files of stages need not."""
    return not folder.startswith("core/include/rkb") and not (folder.startswith("plugins/") and folder.endswith("/" + base))


def main():
    folders = {}
    for base, folder in files(sys.argv[1]):
        if counts(base, folder):
            folders.setdefault(base, set()).add(folder)
    twice = {base: found for base, found in folders.items() if len(found) > 1 and base != "__init__"}
    known = SAME.keys() | LEFT.keys()
    for base in sorted(twice.keys() - known):
        print(f"{base}: in {', '.join(sorted(twice[base]))}; name each after what sets it apart")
    for base in sorted(known - twice.keys()):
        print(f"{base}: no longer in two folders; remove it from the table")
    print(f"{len(folders)} names, {len(twice)} in more than one folder")
    return 1 if twice.keys() != known or not folders else 0


if __name__ == "__main__":
    sys.exit(main())
