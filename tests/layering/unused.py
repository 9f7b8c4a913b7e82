#!/usr/bin/env python3
"""Fails on a function that a header of core/ or plugins/ declares and nobody calls: its name stands in the code of core/, plugins/ and tests/
only where it is declared and defined.  A use by a test alone passes.  Of names that a macro makes, those of machine/execute's two variants
are declared too; they are left out.
usage: unused.py TREE  (prints one line a function, exits 1 when there is any)"""
import collections
import os
import re
import sys

CODE = (".c", ".h", ".cc", ".cpp", ".cu", ".cuh", ".py", ".inc", ".def", ".in", ".cmake", "CMakeLists.txt")
# Strings are matched too, since one may hold the beginning of a comment.
COMMENTS = re.compile(r'("(?:\\.|[^"\\\n])*")|/\*.*?\*/', re.DOTALL)
VARIANTS = ("_portable", "_v3")
WORDS = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# A declaration at the beginning of a line, up to its semicolon.
DECLARATION = re.compile(r"^(?!typedef|static|#|extern \"C\"|struct \w+ \{)[A-Za-z_][\w \t*]*?\b(\w+)\((?:[^;{}]*)\)[^;{}]*;", re.MULTILINE)


def texts(tree, folders):
    for folder in folders:
        for directory, inner, files in os.walk(os.path.join(tree, folder)):
            inner[:] = sorted(name for name in inner if name != "node_modules")
            for name in sorted(files):
                if name.endswith(CODE):
                    path = os.path.join(directory, name)
                    with open(path, encoding="utf-8", errors="replace") as file:
                        text = file.read()
                    yield os.path.relpath(path, tree), text if name.endswith(".py") else COMMENTS.sub(lambda match: match.group(1) or " ", text)


def main():
    counts, declared = collections.Counter(), {}
    for path, text in texts(sys.argv[1], ("core", "plugins", "tests")):
        counts.update(WORDS.findall(text))
        if path.endswith(".h") and not path.startswith(("tests", os.path.join("core", "include"))):
            for match in DECLARATION.finditer(text):
                declared.setdefault(match.group(1), path)
    unused = sorted((path, name) for name, path in declared.items() if counts[name] <= 2 and not name.endswith(VARIANTS))
    for path, name in unused:
        print(f"{path}: nobody calls {name}")
    print(f"{len(declared)} functions, {len(unused)} that nobody calls")
    return 1 if unused or not declared else 0


if __name__ == "__main__":
    sys.exit(main())
