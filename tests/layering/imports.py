#!/usr/bin/env python3
"""Fails on an import that goes up.  ROOMS names every folder of core/ with the folders it may include from; a folder that is not in
the table, and a circle in the table or among the real imports, are errors too, and so is a folder that CONTRIBUTING.md or docs/architecture.md
does not name.  FOLDERS says the same of the folders inside a room.  Plugins see <rkb/...>, plugins/shared and their own
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

# The folders inside a room, in the same way.  Files beside them are the room's face: they may include from all of them, and none of them from there,
# but for a header that includes nothing of its room.
FOLDERS = {
    "generator": {
        "graph": [],
        "text": ["graph"],
        "element": ["text", "graph"],
        "row": ["text", "graph"],
        "layer": ["text", "graph"],
        "tile": ["text", "graph"],
        "convolution": ["tile", "text", "graph"],
        "online": ["tile", "text", "graph"],
        "decisions": ["online", "tile", "row", "element", "text", "graph"],
        "kernel": ["decisions", "online", "convolution", "tile", "layer", "row", "element", "text", "graph"],
        "start": ["kernel", "decisions", "online", "tile", "row", "element", "text", "graph"],
        "search": ["start", "kernel", "decisions", "row", "element", "text", "graph"],
    },
    "machine": {
        "ptx": [],
        "decode": ["ptx"],
        "state": ["decode", "ptx"],
        "memory": ["state", "decode", "ptx"],
        "counts": ["memory", "state", "decode", "ptx"],
        "maps": ["memory", "state", "decode", "ptx"],
        "clocks": ["memory", "state", "decode", "ptx"],
        "in_flight": ["clocks", "maps", "memory", "state", "decode", "ptx"],
        "races": ["in_flight", "clocks", "memory", "state", "decode", "ptx"],
        "access": ["races", "in_flight", "clocks", "memory", "state", "decode", "ptx"],
        "async": ["access", "races", "in_flight", "clocks", "maps", "counts", "memory", "state", "decode", "ptx"],
        "lanes": ["async", "access", "races", "in_flight", "clocks", "maps", "counts", "memory", "state", "decode", "ptx"],
        "execute": ["lanes", "async", "access", "races", "in_flight", "clocks", "maps", "counts", "memory", "state", "decode", "ptx"],
    },
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


def includes_own_room(tree, room, name):
    """Whether a header of the room's face stands on files of the room.  One that is not there counts as such."""
    path = os.path.join(tree, "core", name)
    return not os.path.exists(path) or any(quoted and other.startswith(room + "/") for _, quoted, other in includes(path))


def check_folder(tree, room, path, name, report):
    """The same for the folders inside a room."""
    table = FOLDERS.get(room, {})
    inside = os.path.relpath(path, os.path.join(tree, "core", room)).split(os.sep)[:-1]
    folder, other = inside[0] if inside else None, name.split("/")[1:-1][:1]
    if not table or not folder or not name.startswith(room + "/"):
        return
    if folder not in table:
        return  # said once, of the folder
    if not other and includes_own_room(tree, room, name):
        report(f"core/{room}/{folder} includes \"{name}\": files beside the folders are the room's face, and stand above them")
    elif other and other[0] != folder and other[0] not in table[folder]:
        report(f"core/{room}/{folder} includes \"{name}\": core/{room}/{folder} may include {', '.join(table[folder]) or 'no other folder'}")


def check_core(tree, room, path, name, quoted, report):
    if not quoted:
        for pattern, owners in OWNED:
            if pattern.match(name) and room not in owners:
                report(f"core/{room} includes <{name}>, which only {', '.join(sorted(owners))} may")
        return
    first = name.split("/")[0]
    check_folder(tree, room, path, name, report)
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
    for room, table in FOLDERS.items():
        violations += [f"core/{room}/{folder}:1: this folder is in no row of FOLDERS in tests/layering/imports.py: say what it may include"
                       for folder in folders_of(os.path.join(core, room)) if folder not in table]
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
    graphs = [("core", "the table of imports.py", ROOMS), ("core", "the imports of core/", edges)]
    graphs += [(f"core/{room}", "FOLDERS of imports.py", table) for room, table in FOLDERS.items()]
    for place, what, graph in graphs:
        found = circle(graph)
        if found:
            violations.append(f"{place}/{found[0]}:1: {what} has a circle: {' -> '.join(found)}")
    print("\n".join(violations) if violations else f"{files} files, no import goes up")
    return 1 if violations or files == 0 else 0


sys.exit(main())
