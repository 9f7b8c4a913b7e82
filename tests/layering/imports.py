#!/usr/bin/env python3
"""Fails on an import that goes up.

The rule.  Of two folders of core/ one stands above the other, or neither sees the other; and a folder stands above or below the files beside it.
ROOMS says so of the rooms of core/.  FOLDERS says it at every depth: for each folder that holds folders, which of them may include from which, with
"." for the files beside them.  An import is asked where the ways of the two files part: core/cli/serve/a.c with core/cli/report/html/page.h part in
core/cli, whose row for serve must name report.  So no import can close a circle of folders, however deep they lie, as long as no table has one.
A folder without a row, a row without a folder, a table with a circle, and a circle of the imports between all folders (each folder a node) are
errors, and so is a room that CONTRIBUTING.md or docs/architecture.md does not name.

Plugins see <rkb/...>, plugins/shared, plugins/<kind>/shared and their own folder, and nothing of another plugin.  The stage over the checking
machine sees core/machine besides.

The public headers are frozen with strategy.h and ext/ each including from the other, so they are one node, and their files must have no circle.
They do not include drafts.  PUBLIC says which of them only some rooms may include, and MACHINE what the checking machine knows of them.

Python files count too, with the modules of core/ that they import.

usage: imports.py [--part] TREE  (prints one line a violation, exits 1 when there is any; --part: the tree need not have all that the tables name)
imports_test.py tests it"""
import os
import re
import sys

from source_tree import Tree, folders_in

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
    "cli": ["library", "sweep", "executor", "statistics", "run", "stage", "pipeline", "plugin", "gpu", "generator", "lift", "llm", "archive", "prompt",
            "kernel", "task", "system", "base"],
    "tools": ["cli", "run", "stage", "plugin", "gpu", "machine", "lift", "kernel", "task", "system", "base"],
    "bench": ["cli", "run", "stage", "pipeline", "plugin", "archive", "machine", "kernel", "task", "system", "base", "tools"],
}

# The same of the folders in a folder, from the bottom up; "." is the files beside them.
FOLDERS = {
    "core/reference": {
        ".": [],
        "operations": ["."],
        "rewrites": ["operations", "."],
        "functions": ["operations", "."],
    },
    "core/task": {".": [], "expected": ["."]},
    "core/generator": {
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
        ".": ["search", "start", "kernel", "decisions", "graph"],
    },
    "core/kernel": {".": [], "compiler": ["."]},
    "core/machine": {
        ".": [],
        "ptx": ["."],
        "decode": ["ptx", "."],
        "state": ["decode", "ptx", "."],
        "memory": ["state", "decode", "ptx", "."],
        "counts": ["memory", "state", "decode", "ptx", "."],
        "maps": ["memory", "state", "decode", "ptx", "."],
        "clocks": ["memory", "state", "decode", "ptx", "."],
        "in_flight": ["clocks", "maps", "memory", "state", "decode", "ptx", "."],
        "races": ["in_flight", "clocks", "memory", "state", "decode", "ptx", "."],
        "access": ["races", "in_flight", "clocks", "memory", "state", "decode", "ptx", "."],
        "async": ["access", "races", "in_flight", "clocks", "maps", "counts", "memory", "state", "decode", "ptx", "."],
        "lanes": ["async", "access", "races", "in_flight", "clocks", "maps", "counts", "memory", "state", "decode", "ptx", "."],
        "execute": ["lanes", "async", "access", "races", "in_flight", "clocks", "maps", "counts", "memory", "state", "decode", "ptx", "."],
    },
    "core/lift": {".": [], "parser": ["."]},
    "core/gpu": {".": [], "worker": ["."]},
    "core/stage": {
        "confined": [],
        "screen": ["confined"],
        ".": ["screen", "confined"],
        "screen_worker": [".", "screen", "confined"],
    },
    "core/cli": {
        "shared": [],
        "bench": ["shared"],
        "judge": ["shared"],
        "report": ["shared"],
        "serve": ["report", "shared"],
        ".": ["serve", "report", "judge", "bench", "shared"],
    },
    "core/cli/report": {".": [], "html": ["."]},
    "core/tools": {"baseline": [], "import": [], "faults": [], "plugin_test": [], ".": []},
    "core/tools/faults": {
        "operators": [],
        "corpus": ["operators"],
        "label": ["corpus", "operators"],
        "verify": ["corpus", "operators"],
        ".": ["corpus", "operators"],
    },
    "core/bench": {".": [], "fp32_gemm": []},
    "core/python": {"rkb": [], "backend": [], "examples": ["rkb"]},
    "plugins/shared": {
        "source": [],
        "prediction": [],
        "reply": [],
        "tuner": [],
        "device_values": [],
        "seed_files": [],
        "process_stage": [],
        "asking": ["reply", "source"],
        "peer": ["seed_files"],
    },
}
KINDS = ("mutator", "profiler", "strategy", "translator", "verifier")

# The folders of the public headers.
HEADERS = ("core/include", "core/include/rkb", "core/include/rkb/ext", "core/include/rkb/draft")
# Public headers that only some rooms may include: those that speak with strategies, read what stages emit, or offer a draft.
PUBLIC = {
    "rkb/strategy.h": {"plugin", "stage", "run", "tools"},
    "rkb/items.h": {"archive", "plugin", "pipeline", "stage", "run", "sweep", "cli", "tools", "bench"},
    "rkb/draft/": {"system", "stage", "tools"},
}
# The checking machine knows plans, counters and statuses, and nothing of stages.
MACHINE = ("rkb/plugin.h", "rkb/ext/kernel.h", "rkb/ext/counters.h")

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

# Headers that the build writes.
WRITTEN = ("task/evaluator_identity.h",)

# Rooms that a plugin may see besides the public headers.
LENT = {"plugins/verifier/machine": {"machine"}}


def part(file, other):
    """Where the ways of two files part: the folder that holds both, and the next folder on the way to each, "." for a file of that folder."""
    here, there = file.split("/"), other.split("/")
    depth = 0
    while depth < min(len(here), len(there)) - 1 and here[depth] == there[depth]:
        depth += 1
    return "/".join(here[:depth]), *("." if len(way) == depth + 1 else way[depth] for way in (here, there))


def may_include(folder, names):
    said = ["the files beside them" if name == "." else name for name in names]
    return f"{folder} may include {', '.join(said) or 'nothing of the others'}"


def check_tables(file, name, report):
    """An include of one file of core/, or of plugins/shared, by another."""
    folder, here, there = part(file, name)
    table = ROOMS if folder == "core" else FOLDERS.get(folder, {})
    if here == there or here not in table or there in table[here]:
        return  # a folder in no row is reported once, as such
    if folder == "core":
        report(f"core/{here} includes \"{name[len('core/'):]}\": core/{here} may include {', '.join(table[here]) or 'no other room'}")
    else:
        place = f"the files of {folder} beside its folders" if here == "." else f"{folder}/{here}"
        report(f"{os.path.dirname(file)} includes {name}: {may_include(place, table[here])}")


def fixture(tree, name):
    """The header of tests/ or of plugins/shared that a benchmark includes by this name, or None."""
    tests = os.path.join(tree.root, "tests")
    there = os.path.exists(os.path.join(tests, name)) or any(os.path.exists(os.path.join(tests, folder, name)) for folder in folders_in(tests))
    return "tests" if there else f"plugins/shared/{name}" if f"plugins/shared/{name}" in tree.known else None


def check_core(tree, file, quoted, name, report):
    """What a file of a room includes; returns the file of the tree that this is, or None."""
    room, first = file.split("/")[1], name.split("/")[0]
    if not quoted:
        for pattern, owners in OWNED:
            if pattern.match(name) and room not in owners:
                report(f"core/{room} includes <{name}>, which only {', '.join(sorted(owners))} may")
        for header, rooms in PUBLIC.items():
            if name.startswith(header) and room not in rooms and room != "machine":
                report(f"core/{room} includes <{name}>, which only {', '.join(sorted(rooms))} may")
        if room == "machine" and name.startswith("rkb/") and name not in MACHINE:
            report(f"core/machine includes <{name}>: of the public headers it may include {', '.join(MACHINE)}")
        if first in ROOMS and "/" in name:
            report(f"core/{room} includes <{name}>: includes of core are quoted")
        return f"core/include/{name}" if name.startswith("rkb/") else None
    there = f"core/{name}" in tree.known
    if room == "bench" and not there and fixture(tree, name):
        return fixture(tree, name)
    if "/" in name and ".." not in name.split("/") and first in ROOMS and (there or not tree.whole or name in WRITTEN):
        check_tables(file, f"core/{name}", report)
        return f"core/{name}"
    if "/" not in name or ".." in name.split("/"):
        report(f"\"{name}\": includes of core are written from core/, as \"base/text.h\"")
    else:
        report(f"\"{name}\" is no header of core/")
    return None


def check_public(tree, file, quoted, name, report):
    if quoted or (not name.startswith("rkb/") and ("/" in name or not name.endswith(".h"))):
        report(f"a public header includes {name}: only <rkb/...> and standard C headers")
    if any(pattern.match(name) for pattern, _ in OWNED):
        report(f"a public header includes <{name}>")
    if name.startswith("rkb/draft/") and not file.startswith("core/include/rkb/draft/"):
        report(f"a public header includes <{name}>: a draft may change, and only drafts include drafts")
    return f"core/include/{name}" if name.startswith("rkb/") else None


def check_plugin(tree, file, quoted, name, report):
    kind, plugin = file.split("/")[1], "/".join(file.split("/")[:3])
    of_kind = "" if kind == "shared" else f", plugins/{kind}/shared"
    allowed = f"only <rkb/...>, plugins/shared{of_kind} and files of its own folder"
    if not quoted:
        if any(pattern.match(name) for pattern, _ in OWNED):
            report(f"a plugin includes <{name}>, which is the core's")
        elif name.startswith("rkb/draft/"):
            report(f"a shipped plugin includes <{name}>: what shipped plugins use is no draft")
        elif name.split("/")[0] in ROOMS and "/" in name or any(header.endswith("/" + name) for header in tree.known if header.startswith("plugins/")):
            report(f"a plugin includes <{name}>: {allowed}")
        return f"core/include/{name}" if name.startswith("rkb/") else None
    beside = os.path.normpath(os.path.join(os.path.dirname(file), name))
    own = next((path for path in (beside, os.path.normpath(f"{plugin}/{name}")) if path.startswith(plugin + "/") and path in tree.known), None)
    straight = ".." not in name.split("/") and "/" in name
    if own:
        check_tables(file, own, report)
        return own
    if straight and name.startswith("shared/") and kind != "shared" and f"plugins/{kind}/{name}" in tree.known:
        return f"plugins/{kind}/{name}"
    if straight and f"plugins/shared/{name}" in tree.known:
        if kind == "shared":
            check_tables(file, f"plugins/shared/{name}", report)
        return f"plugins/shared/{name}"
    if straight and name.split("/")[0] in LENT.get(plugin, ()):
        return f"core/{name}"
    report(f"a plugin includes \"{name}\": {allowed}")
    return None


def check_rows(tree):
    """Folders without a row, and, of a whole tree, rows without a folder."""
    for folder in tree.folders:
        parent, name = os.path.split(folder)
        if folder.startswith("core/include"):
            if folder not in HEADERS:
                yield f"{folder}:1: this folder is in no row of HEADERS in tests/layering/imports.py: say what it holds"
        elif parent == "core" and name not in ROOMS:
            yield f"{folder}:1: this folder is in no row of tests/layering/imports.py: say what it may include"
        elif parent == "plugins" and name not in KINDS + ("shared",):
            yield f"{folder}:1: this folder is no kind of plugins"
        elif (parent.startswith(("core/", "plugins/shared")) or folder.count("/") > 2) and name not in FOLDERS.get(parent, {}):
            yield f"{folder}:1: this folder is in no row of FOLDERS in tests/layering/imports.py: say what it may include"
        if folder in FOLDERS and "." not in FOLDERS[folder] and any(os.path.dirname(file) == folder for file in tree.files):
            yield f"{folder}:1: its own files are in no row of FOLDERS in tests/layering/imports.py: say what \".\" may include"
    rows = [f"core/{room}" for room in ROOMS] + [f"{folder}/{name}" for folder, table in FOLDERS.items() for name in table if name != "."]
    if tree.whole:
        yield from (f"{row}:1: tests/layering/imports.py has a row for this folder, and there is none" for row in rows if row not in tree.folders)
    for folder, table in [("core", ROOMS), *FOLDERS.items()]:
        yield from (f"{folder}/{name}:1: it may include {other}, which has no row" for name, others in table.items() for other in others if other not in table)


def circle(edges):
    """The nodes of one circle of the graph, the first again at the end, or None."""
    done, way = set(), []

    def visit(node):
        if node in way:
            return way[way.index(node):] + [node]
        if node in done:
            return None
        way.append(node)
        for other in sorted(edges.get(node, ())):
            found = visit(other)
            if found:
                return found
        way.pop()
        done.add(node)
        return None

    return next((found for found in map(visit, sorted(edges)) if found), None)


def node_of(file):
    """The node of a file in the graph of all folders."""
    folder = os.path.dirname(file)
    return "core/include/rkb" if folder == "core/include/rkb/ext" else folder


def check(root, whole):
    """The violations, and how many files were read."""
    tree, violations, folders, headers = Tree(root, whole), [], {}, {}
    for file in tree.files:
        public, plugin = file.startswith("core/include/"), file.startswith("plugins/")
        for line, mark, name in tree.includes(file):
            def report(what, place=f"{file}:{line}"):
                violations.append(f"{place}: {what}")
            if not mark:
                report(f"#include {name}: write the header's name out")
                continue
            if plugin and file.count("/") < 3 or not plugin and file.count("/") < 2:
                report("this file lies in no folder of the layout")
                continue
            other = (check_public if public else check_plugin if plugin else check_core)(tree, file, mark == '"', name, report)
            if other and node_of(other) != node_of(file) and other != "tests":
                folders.setdefault(node_of(file), set()).add(node_of(other))
            if other and public:
                headers.setdefault(file, set()).add(other)
    violations += check_rows(tree)
    for page in ("CONTRIBUTING.md", "docs/architecture.md"):
        if os.path.exists(os.path.join(root, page)):
            with open(os.path.join(root, page), encoding="utf-8") as opened:
                text = opened.read()
            rooms = [folder for folder in tree.folders if folder.count("/") == 1 and folder.startswith("core/")]
            violations += [f"{page}:1: names no {room}/: say what belongs there" for room in rooms if f"{room}/" not in text]
    graphs = [("core", "the table of imports.py", ROOMS), ("core", "the imports between folders", folders), ("core", "the public headers", headers)]
    graphs += [(folder, "FOLDERS of imports.py", table) for folder, table in FOLDERS.items()]
    for place, what, graph in graphs:
        found = circle(graph)
        if found:
            violations.append(f"{found[0] if '/' in found[0] else place + '/' + found[0]}:1: {what} has a circle: {' -> '.join(found)}")
    return violations, len(tree.files), len(tree.folders)


def main():
    whole = sys.argv[1] != "--part"
    violations, files, folders = check(os.path.abspath(sys.argv[-1]), whole)
    print("\n".join(violations) if violations else f"{files} files in {folders} folders, no import goes up")
    return 1 if violations or files == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
