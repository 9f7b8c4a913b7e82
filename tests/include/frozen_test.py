#!/usr/bin/env python3
"""Changes one frozen text at a time in a copy, and expects frozen.py to name it.  usage: frozen_test.py ROOT"""
import os
import shutil
import subprocess
import sys
import tempfile

ROOT = sys.argv[1]
CHECK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "frozen.py")
SCHEMA = "core/archive/schema.c"
TEXTS = ["docs/decisions/frozen-interfaces.md", SCHEMA, "core/include/rkb/plugin.h", "core/include/rkb/items.h",
         "core/include/rkb/strategy.h", "core/include/rkb/ext/random.h"]

# file, text in it, what stands there instead, what is named (None: nothing, for the change is free)
CASES = [
    ("core/include/rkb/plugin.h", "uint16_t abi_major;", "uint32_t abi_major;", "core/include/rkb/plugin.h: changed"),
    ("core/include/rkb/plugin.h", "May block.", "May not block.", "core/include/rkb/plugin.h: changed"),
    ("core/include/rkb/items.h", '"candidate"', '"candidates"', "core/include/rkb/items.h: changed"),
    ("core/include/rkb/strategy.h", "RKB_MAX_PARENTS 8", "RKB_MAX_PARENTS 9", "core/include/rkb/strategy.h: changed"),
    ("core/include/rkb/ext/random.h", "#ifndef", "#ifdef", "core/include/rkb/ext/random.h: changed"),
    (SCHEMA, "spread REAL", "spread INTEGER", "archive schema, step 1: changed"),
    (SCHEMA, "ADD COLUMN draw INTEGER", "ADD COLUMN draw REAL", "archive schema, step 2: changed"),
    (SCHEMA, "hash_function", "hashing", "archive schema, step 3: changed"),
    (SCHEMA, "{version_1, version_2, version_3}", "{version_1, version_2}", "rkb_archive_steps lists"),
    ("docs/decisions/frozen-interfaces.md", "| archive schema, step 3 |", "| archive schema, step 4 |", "archive schema, step 3: not in"),
    ("docs/decisions/frozen-interfaces.md", "| archive schema, step 3 |", "| archive schema, step 4 |", "archive schema, step 4: in"),
    ("core/include/rkb/plugin.h", "\n", "\n\n", None),
    (SCHEMA, "   \"  key TEXT", "      \"  key TEXT", None),
]


def judge(path, old, new):
    with tempfile.TemporaryDirectory() as tree:
        for name in TEXTS:
            os.makedirs(os.path.dirname(os.path.join(tree, name)), exist_ok=True)
            shutil.copy(os.path.join(ROOT, name), os.path.join(tree, name))
        with open(os.path.join(tree, path), encoding="utf-8") as file:
            text = file.read()
        if old not in text:
            sys.exit(f"{path} does not hold {old!r}: the case is out of date")
        with open(os.path.join(tree, path), "w", encoding="utf-8") as file:
            file.write(text.replace(old, new))
        return subprocess.run([sys.executable, CHECK, tree], capture_output=True, text=True, check=False)


failures = 0
for path, old, new, named in CASES:
    result = judge(path, old, new)
    said = result.stdout + result.stderr
    if (result.returncode == 0) != (named is None) or (named and named not in said):
        print(f"{path}: {old!r} to {new!r} gave {result.returncode}: {said}")
        failures += 1
print(f"{len(CASES)} changes, {failures} misjudged")
sys.exit(1 if failures else 0)
