#!/usr/bin/env python3
"""Compares the plugin interface and the archive's schema with docs/decisions/frozen-interfaces.md.
usage: frozen.py [--print] ROOT      --print: the table's lines as the tree has them now"""
import hashlib
import os
import re
import sys

PAGE = "docs/decisions/frozen-interfaces.md"
SCHEMA = "core/archive/schema.c"
ROW = re.compile(r"^\| (?:`([^`]+)`|(archive schema, step \d+)) \| `([0-9a-f]*)` \|$", re.MULTILINE)
# static const char version_1[] = "..." "...";   The text ends with the first semicolon outside quotes.
STEP = re.compile(r'static const char version_(\d+)\[\] =((?:\s*"(?:[^"\\]|\\.)*")+)\s*;')


def read(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as file:
        return file.read()


def digest(text):
    return hashlib.sha256(" ".join(text.split()).encode()).hexdigest()


def steps(root):
    """The steps that the program applies, in their order; what the array lists and the pattern misses is an error."""
    source = read(root, SCHEMA)
    texts = {number: "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', body)) for number, body in STEP.findall(source)}
    listed = re.search(r"rkb_archive_steps\[\] = \{([^}]*)\}", source)
    names = re.findall(r"version_(\d+)", listed.group(1)) if listed else []
    if not names or set(names) != set(texts):
        sys.exit(f"{SCHEMA}: rkb_archive_steps lists {names}, and the texts found are {sorted(texts)}")
    return {f"archive schema, step {number}": digest(texts[number]) for number in names}


def main():
    printing = sys.argv[1:2] == ["--print"]
    root = sys.argv[-1]
    table = {file or step: known for file, step, known in ROW.findall(read(root, PAGE))}
    files = [what for what in table if not what.startswith("archive schema")]
    if len(files) < 3:
        sys.exit(f"{PAGE}: its table lists {len(files)} headers")
    found = {path: digest(read(root, path)) for path in files}
    found.update(steps(root))
    if printing:
        for what, now in found.items():
            print(f"| {what if what.startswith('archive') else f'`{what}`'} | `{now}` |")
        return 0
    wrong = 0
    for what in sorted(set(found) | set(table)):
        if found.get(what) == table.get(what):
            continue
        wrong += 1
        if what not in table:
            print(f"{what}: not in {PAGE}; add a row and say under 'Changes' why")
        elif what not in found:
            print(f"{what}: in {PAGE}, and no longer in the tree")
        else:
            print(f"{what}: changed; it is frozen. Say under 'Changes' of {PAGE} what and why, with the new hash {found[what]}")
    print(f"{len(found)} frozen texts, {wrong} changed")
    return 1 if wrong else 0


sys.exit(main())
