#!/usr/bin/env python3
"""Fails where core/ asks for memory without base/memory.h (docs/decisions/out-of-memory.md).  The checking machine counts its bytes by itself,
and the compiler's heap is the allocator.  Plugins see only core/include, and are not asked.
usage: allocation.py TREE  (prints one line a place, exits 1 when there is any)"""
import os
import re
import sys

FREE = ("core/base/memory.c", "core/kernel/compiler/heap.c")
FREE_FOLDERS = ("core/machine/", "core/include/", "core/web/")
CALL = re.compile(r"\b(malloc|calloc|realloc|reallocarray|strdup|strndup|asprintf|vasprintf|open_memstream|getline|getdelim)\(")
QUIET = re.compile(r'"(?:\\.|[^"\\\n])*"|/\*.*?\*/', re.DOTALL)


def main():
    tree, read, found = sys.argv[1], 0, 0
    for directory, folders, names in os.walk(os.path.join(tree, "core")):
        folders[:] = sorted(folder for folder in folders if folder != "node_modules")
        for name in sorted(names):
            path = os.path.relpath(os.path.join(directory, name), tree).replace(os.sep, "/")
            if not name.endswith((".c", ".h")) or path in FREE or path.startswith(FREE_FOLDERS):
                continue
            with open(os.path.join(tree, path), encoding="utf-8") as file:
                text = QUIET.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), file.read())
            read += 1
            for match in CALL.finditer(text):
                print(f"{path}:{text.count(chr(10), 0, match.start()) + 1}: {match.group(1)}: ask base/memory.h for memory")
                found += 1
    print(f"{read} files, {found} places that ask for memory in another way")
    return 1 if found or not read else 0


if __name__ == "__main__":
    sys.exit(main())
