#!/usr/bin/env python3
"""Fails on an import that goes up.  ROOMS names every folder of core/ with the folders it may include from; a folder that is not in
the table, and a circle in the table or among the real imports, are errors too, and so is a folder that CONTRIBUTING.md or docs/architecture.md
does not name.  Plugins see <rkb/...>, plugins/shared and their own
folder; the stage over the checking machine sees core/machine besides.
usage: imports.py TREE  (prints one line a violation, exits 1 when there is any)"""
import os
import re
import sys

# Each room of core/ with the rooms it may include from, from the bottom up.
ROOMS = {
    "base": [],
    "system": ["base"],
    "reference": ["base"],
    "task": ["reference", "system", "base"],
    "generator": ["task", "reference", "base"],
    "kernel": ["system", "base"],
    "machine": [],
    "lift": ["kernel", "system", "base"],
    "prompt": ["base"],
    "web": [],
    "python": [],
    "statistics": ["base"],
    "archive": ["system", "base"],
    "llm": ["archive", "system", "base"],
    "library": ["base"],
    "gpu": ["kernel", "system", "base"],
    "plugin": ["prompt", "base"],
    "pipeline": ["plugin", "llm", "kernel", "task", "base"],
    "stage": ["library", "generator", "lift", "pipeline", "plugin", "gpu", "llm", "archive", "prompt", "kernel", "task", "system", "base"],
    "run": ["library", "stage", "pipeline", "llm", "archive", "kernel", "task", "system", "base"],
    "executor": ["system", "base"],
    "sweep": ["executor", "pipeline", "archive", "system", "base"],
    "cli": ["library", "sweep", "executor", "statistics", "run", "stage", "pipeline", "plugin", "gpu", "lift", "llm", "archive", "prompt", "kernel", "task", "system", "base"],
    "tools": ["cli", "run", "stage", "plugin", "gpu", "machine", "lift", "kernel", "task", "system", "base"],
    "bench": ["cli", "run", "stage", "pipeline", "plugin", "archive", "machine", "kernel", "task", "system", "base", "tools"],
}

# Libraries that belong to one part: (pattern of the header, rooms that may use it).  Plugins may use none of them: two copies of an
# event loop or of curl in one process do not work together.
OWNED = [
    (re.compile(r"^uv\.h$"), {"system", "stage", "run", "executor", "sweep", "llm", "gpu", "cli", "bench"}),
    (re.compile(r"^curl/"), {"system"}),
    (re.compile(r"^sqlite3\.h$"), {"archive"}),
    (re.compile(r"^yaml\.h$"), {"base"}),
    (re.compile(r"^clang-c/"), {"lift"}),
    (re.compile(r"^microhttpd\.h$"), {"cli"}),
]

# Rooms that a plugin may see besides the public headers.
LENT = {"verifier/machine": {"machine"}}

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(["<])([^">]+)[">]', re.MULTILINE)
SOURCES = (".c", ".h", ".cc", ".cpp", ".hpp", ".inc", ".def")


def includes(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        text = file.read()
    for match in INCLUDE.finditer(text):
        yield text.count("\n", 0, match.start()) + 1, match.group(1) == '"', match.group(2)


def sources(folder):
    for directory, folders, files in os.walk(folder):
        folders.sort()
        for name in sorted(files):
            if name.endswith(SOURCES):
                yield os.path.join(directory, name)


def check_core(tree, room, path, name, quoted, report):
    if not quoted:
        for pattern, owners in OWNED:
            if pattern.match(name) and room not in owners:
                report(f"core/{room} includes <{name}>, which only {', '.join(sorted(owners))} may")
        return
    first = name.split("/")[0]
    if room in ("bench", "tools") and first not in ROOMS:
        return  # programs: fixtures of tests/, and files of their own folder
    if "/" not in name or ".." in name.split("/"):
        report(f"\"{name}\": includes of core are written from core/, as \"base/text.h\"")
    elif first != room and first in ROOMS and first not in ROOMS[room]:
        report(f"core/{room} includes \"{name}\": core/{room} may include {', '.join(ROOMS[room]) or 'no other room'}")
    elif not os.path.exists(os.path.join(tree, "core", name)) and first not in ROOMS:
        # A header that the build writes is not in the tree; its folder must still be one of core's.
        report(f"\"{name}\" is no header of core/")


def check_public(name, quoted, report):
    if quoted or (name.startswith("rkb/") is False and ("/" in name or not name.endswith(".h"))):
        report(f"a public header includes {name}: only <rkb/...> and standard C headers")
    for pattern, _ in OWNED:
        if pattern.match(name):
            report(f"a public header includes <{name}>")


def check_plugin(tree, plugin, path, name, quoted, report):
    first = name.split("/")[0]
    lent = LENT.get(os.path.relpath(plugin, os.path.join(tree, "plugins")).replace(os.sep, "/"), set())
    if quoted:
        beside = os.path.normpath(os.path.join(os.path.dirname(path), name))
        own = any(p.startswith(plugin + os.sep) and os.path.exists(p) for p in (beside, os.path.normpath(os.path.join(plugin, name))))
        if not own and first not in lent and (".." in name.split("/") or first in ROOMS):
            report(f"a plugin includes \"{name}\": only <rkb/...>, plugins/shared and files of its own folder")
        return
    for pattern, _ in OWNED:
        if pattern.match(name):
            report(f"a plugin includes <{name}>, which is the core's")
    if first in ROOMS and "/" in name:
        report(f"a plugin includes <{name}>: only <rkb/...>, plugins/shared and files of its own folder")


def circle(edges):
    """Rooms of one circle of the graph, or None."""
    done, way = set(), []

    def visit(room):
        if room in way:
            return way[way.index(room):] + [room]
        if room in done:
            return None
        way.append(room)
        for other in sorted(edges.get(room, ())):
            found = visit(other)
            if found:
                return found
        way.pop()
        done.add(room)
        return None

    return next((found for found in map(visit, sorted(edges)) if found), None)


def folders_of(path):
    return [name for name in sorted(os.listdir(path)) if os.path.isdir(os.path.join(path, name))] if os.path.isdir(path) else []


def main():
    tree = os.path.abspath(sys.argv[1])
    core, plugins = os.path.join(tree, "core"), os.path.join(tree, "plugins")
    violations, files, edges = [], 0, {}

    def walk(folder, check):
        nonlocal files
        for path in sources(folder):
            files += 1
            for line, quoted, name in includes(path):
                place = f"{os.path.relpath(path, tree)}:{line}"
                check(path, name, quoted, lambda what, place=place: violations.append(f"{place}: {what}"))

    def check_room(room):
        def check(path, name, quoted, report):
            first = name.split("/")[0]
            if quoted and first != room and first in ROOMS:
                edges.setdefault(room, set()).add(first)
            check_core(tree, room, path, name, quoted, report)
        return check

    for room in folders_of(core):
        if room == "include":
            walk(os.path.join(core, room), lambda path, name, quoted, report: check_public(name, quoted, report))
        elif room in ROOMS:
            walk(os.path.join(core, room), check_room(room))
        else:
            violations.append(f"core/{room}:1: this folder is in no row of tests/layering/imports.py: say what it may include")
    for page in ("CONTRIBUTING.md", "docs/architecture.md"):
        if not os.path.exists(os.path.join(tree, page)):
            continue
        with open(os.path.join(tree, page), encoding="utf-8") as file:
            text = file.read()
        violations += [f"{page}:1: names no core/{room}/: say what belongs there" for room in folders_of(core) if f"core/{room}/" not in text]
    for kind in folders_of(plugins):
        for plugin in folders_of(os.path.join(plugins, kind)):
            folder = os.path.join(plugins, kind, plugin)
            walk(folder, lambda path, name, quoted, report, folder=folder: check_plugin(tree, folder, path, name, quoted, report))
    for what, graph in (("the table of imports.py", ROOMS), ("the imports of core/", edges)):
        found = circle(graph)
        if found:
            violations.append(f"core/{found[0]}:1: {what} has a circle: {' -> '.join(found)}")
    print("\n".join(violations) if violations else f"{files} files, no import goes up")
    return 1 if violations or files == 0 else 0


sys.exit(main())
