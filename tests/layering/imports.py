#!/usr/bin/env python3
"""Fails on an import that goes up: cli > engine > services > kernel, task > system > base; plugins see <rkb/...> and
their own folder alone.  usage: imports.py TREE  (prints one line a violation, exits 1 when there is any)"""
import os
import re
import sys

# What each folder of core/ may include from core/, besides the public headers.
ALLOWED = {
    "base": {"base"},
    "system": {"system", "base"},
    "task": {"task", "system", "base"},
    "kernel": {"kernel", "system", "base"},
    "services": {"services", "kernel", "task", "system", "base"},
    "engine": {"engine", "services", "kernel", "task", "system", "base"},
    "cli": {"cli", "engine", "services", "kernel", "task", "system", "base"},
}

# Libraries that belong to one part: (pattern of the header, folders that may use it).  Plugins may use none of them:
# two copies of an event loop or of curl in one process do not work together.
OWNED = [
    (re.compile(r"^uv\.h$"), {"system", "services", "engine", "cli"}),
    (re.compile(r"^curl/"), {"system"}),
    (re.compile(r"^sqlite3\.h$"), {"services"}),
    (re.compile(r"^yaml\.h$"), {"base"}),
]

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


def check_core(tree, folder, name, quoted, report):
    if not quoted:
        for pattern, owners in OWNED:
            if pattern.match(name) and folder not in owners:
                report(f"core/{folder} includes <{name}>, which only {', '.join(sorted(owners))} may")
        return
    first = name.split("/")[0]
    if first in ALLOWED and first not in ALLOWED[folder]:
        report(f"core/{folder} includes \"{name}\": imports run cli > engine > services > kernel, task > system > base")
    elif "/" not in name or ".." in name.split("/"):
        report(f"\"{name}\": includes of core are written from core/, as \"base/text.h\"")
    elif not os.path.exists(os.path.join(tree, "core", name)):
        # A header that the build writes is not in the tree; its folder must still be one of core's.
        if first not in ALLOWED:
            report(f"\"{name}\" is no header of core/")


def check_public(name, quoted, report):
    if quoted or (name.startswith("rkb/") is False and ("/" in name or not name.endswith(".h"))):
        report(f"a public header includes {name}: only <rkb/...> and standard C headers")
    for pattern, _ in OWNED:
        if pattern.match(name):
            report(f"a public header includes <{name}>")


def check_plugin(plugin, path, name, quoted, report):
    if quoted:
        found = os.path.normpath(os.path.join(os.path.dirname(path), name))
        at_root = os.path.normpath(os.path.join(plugin, name))
        own = any(p.startswith(plugin + os.sep) and os.path.exists(p) for p in (found, at_root))
        if not own and (".." in name.split("/") or name.split("/")[0] in ALLOWED):
            report(f"a plugin includes \"{name}\": only <rkb/...> and files of its own folder")
        return
    for pattern, _ in OWNED:
        if pattern.match(name):
            report(f"a plugin includes <{name}>, which is the core's")
    if name.split("/")[0] in ALLOWED and "/" in name:
        report(f"a plugin includes <{name}>: only <rkb/...> and files of its own folder")


def main():
    tree = os.path.abspath(sys.argv[1])
    violations = []
    files = 0

    def walk(folder, check):
        nonlocal files
        for path in sources(folder):
            files += 1
            for line, quoted, name in includes(path):
                place = f"{os.path.relpath(path, tree)}:{line}"
                check(path, name, quoted, lambda what, place=place: violations.append(f"{place}: {what}"))

    for folder in ALLOWED:
        walk(os.path.join(tree, "core", folder),
             lambda path, name, quoted, report, folder=folder: check_core(tree, folder, name, quoted, report))
    walk(os.path.join(tree, "core", "include"), lambda path, name, quoted, report: check_public(name, quoted, report))
    plugins = os.path.join(tree, "plugins")
    for kind in sorted(os.listdir(plugins)):
        for plugin in sorted(os.listdir(os.path.join(plugins, kind))) if os.path.isdir(os.path.join(plugins, kind)) else []:
            folder = os.path.join(plugins, kind, plugin)
            walk(folder, lambda path, name, quoted, report, folder=folder: check_plugin(folder, path, name, quoted, report))
    print("\n".join(violations) if violations else f"{files} files, no import goes up")
    return 1 if violations or files == 0 else 0


sys.exit(main())
