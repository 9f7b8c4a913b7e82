#!/usr/bin/env python3
"""Fails where two folders of core/ and plugins/ have a file of the same base name.  The same name is right for the same thing: an extension's
header and what is behind it, a stage's main file (plugins/<kind>/<name>/<name>.c) and the core's part of the same name, and what SAME lists.
usage: names.py TREE  (prints one line a name, exits 1 when there is any).  names_test.py tests it"""
import os
import sys

# Base names that several folders have for one thing seen from several sides: exactly these folders, with the reason.  A further folder fails, since
# its file may be another thing; so does an entry that is not needed.
SAME = {
    "arm_comparison": ({"core/cli/report", "core/cli/report/html"}, "the comparison of a sweep's arms, computed and shown"),
    "bulk_copies": ({"core/machine/async", "core/machine/lanes"}, "the machine's bulk copies, and the instructions that start them"),
    "bulk_operands": ({"core/machine/decode", "core/machine/lanes"}, "the operands of those instructions: decoded, and used"),
    "mbarriers": ({"core/machine/in_flight", "core/machine/lanes"}, "the machine's mbarrier objects, and the instructions on them"),
    "run": ({"core/python/rkb", "core/run"}, "a run, in C and in Python"),
}
CODE = (".c", ".h", ".cc", ".cpp", ".py", ".js")


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


def faults(folders, known):
    """One line for each name whose folders (name -> set) are not those that known (name -> (set, reason)) allows."""
    twice = {base: found for base, found in folders.items() if len(found) > 1 and base != "__init__"}
    lines = []
    for base in sorted(twice.keys() | known.keys()):
        found, allowed = twice.get(base, set()), known.get(base, (set(), ""))[0]
        if found - allowed:
            lines.append(f"{base}: in {', '.join(sorted(found))}; name each after what sets it apart")
        elif found != allowed:
            lines.append(f"{base}: no longer in {', '.join(sorted(allowed - found))}; correct the table")
    return lines


def main():
    folders = {}
    for base, folder in files(sys.argv[1]):
        if counts(base, folder):
            folders.setdefault(base, set()).add(folder)
    found = faults(folders, SAME)
    for line in found:
        print(line)
    print(f"{len(folders)} names, {len(SAME)} may be in more than one folder")
    return 1 if found or not folders else 0


if __name__ == "__main__":
    sys.exit(main())
