#!/usr/bin/env python3
"""Fails where tests/ does not mirror core/ and plugins/: each folder directly under tests/ is a room of core/, or plugins, or one of OTHERS; each room and
plugins has tests; and a test's name begins with the folder that it lies in, so that `ctest -R '^cli'` takes all of core/cli.
usage: mirror.py TREE  (prints one line a fault, exits 1 when there is any).  mirror_test.py tests it"""
import os
import re
import sys

# Folders beside those of the rooms, and why nothing of core/ has their name.
OTHERS = {
    "adversary": "kernels that cheat, against the whole judge",
    "campaigns": "checks of the whole program that take hours",
    "conformance": "what instructions compute on an H200, against the whole machine",
    "faults": "kernels that are wrong by construction, against the whole judge",
    "fuzz": "the readers of every room",
    "layering": "the tree itself",
    "package": "what is installed",
}
TEST = re.compile(r"^\s*(?:add_test\(NAME\s+|rkb_add_(?:run_)?test\()([^\s)]+)", re.M)
# rkb_add_plugin_test makes plugins_<name> of its word by itself.
ADDS = re.compile(r"^\s*(?:add_test|rkb_add_(?:run_|plugin_)?test)\(", re.M)


def folders_of(path):
    """Its folders that hold a file; what a Python leaves behind is none."""
    found = set()
    for name in sorted(os.listdir(path)):
        for directory, folders, names in os.walk(os.path.join(path, name)):
            folders[:] = [folder for folder in folders if folder not in ("__pycache__", "node_modules")]
            if names and not directory.endswith("__pycache__"):
                found.add(name)
                break
    return found


def lists_of(tests):
    """{folder: {path of a CMakeLists.txt below it: its text}}"""
    lists = {}
    for folder in folders_of(tests):
        for directory, _, names in os.walk(os.path.join(tests, folder)):
            if "CMakeLists.txt" in names:
                path = os.path.join(directory, "CMakeLists.txt")
                with open(path, encoding="utf-8") as file:
                    lists.setdefault(folder, {})["tests/" + os.path.relpath(path, tests).replace(os.sep, "/")] = file.read()
    return lists


def faults(rooms, folders, lists, others):
    """One line for each folder that mirrors nothing, each room without tests, and each name that does not begin with its folder's."""
    mirrored = rooms | {"plugins"}
    lines = [f"tests/{folder}: neither a folder of core/ nor in tests/layering/mirror.py: put it beside the room that it tests"
             for folder in sorted(folders - mirrored - others.keys())]
    lines += [f"tests/{folder}: there is no such folder; correct OTHERS in tests/layering/mirror.py" for folder in sorted(others.keys() - folders)]
    lines += [f"tests/{folder}: a room of core/ has this name; take it out of OTHERS in tests/layering/mirror.py" for folder in sorted(others.keys() & mirrored)]
    for room in sorted(mirrored):
        if not any(ADDS.search(text) for text in lists.get(room, {}).values()):
            lines.append(f"tests/{room}: {'core/' if room in rooms else ''}{room} has no test there")
    for folder, texts in sorted(lists.items()):
        for path, text in sorted(texts.items()):
            for match in TEST.finditer(text):
                if not re.match(rf"{folder}(_|$)", match[1]) and not match[1].startswith("${"):
                    lines.append(f"{path}:{text.count(chr(10), 0, match.start(1)) + 1}: call the test '{match[1]}' {folder}_...")
    return lines


def main():
    tree = sys.argv[1]
    tests = os.path.join(tree, "tests")
    rooms, folders = folders_of(os.path.join(tree, "core")), folders_of(tests)
    found = faults(rooms, folders, lists_of(tests), OTHERS)
    for line in found:
        print(line)
    print(f"{len(rooms)} rooms, {len(folders)} folders of tests, {len(found)} faults")
    return 1 if found or not rooms else 0


if __name__ == "__main__":
    sys.exit(main())
