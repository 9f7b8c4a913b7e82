#!/usr/bin/env python3
"""Fails when object files call each other in a circle.  A circle means that none of its files can be read, tested or
replaced without the others.  Two files stand in one circle when each needs, directly or through others, a symbol that the
other defines.  The symbols come from nm, so calls through a function pointer are not seen: those are how a lower file
reports to a higher one.

usage: circles.py [--folders] [--only NAME,NAME...] [--known NAME,NAME...]... OBJECT_OR_FOLDER...
  a folder stands for every *.o below it
  --folders  folders of the objects must not call each other in a circle either
  --only   of the objects, those of these source files alone: run.c,groups.c
  --known  the files of a circle that is left: it may shrink, and then this list has to; a file that is not in the list fails
Prints each circle with the symbols that close it."""
import argparse
import os
import subprocess
import sys


def objects_below(paths):
    """Every object file that the arguments name, once, in a stable order."""
    found = {}
    for path in paths:
        if not os.path.isdir(path):
            found[os.path.abspath(path)] = True
            continue
        for directory, folders, files in os.walk(path):
            folders.sort()
            for name in sorted(files):
                if name.endswith(".o"):
                    found[os.path.abspath(os.path.join(directory, name))] = True
    return sorted(found)


def source_of(path):
    """'.../rkb_engine.dir/run.c.o' is the object of run.c."""
    return os.path.basename(path)[:-len(".o")]


def symbols(paths):
    """For each object the global symbols that it defines, and those that it needs from elsewhere."""
    nm = subprocess.run(["nm", "-gA", *paths], capture_output=True, text=True, check=False)
    if nm.returncode:
        sys.exit(nm.stderr.strip() or "nm cannot read the objects")
    tables = {path: (set(), set()) for path in paths}
    for line in nm.stdout.splitlines():
        path, _, rest = line.rpartition(":")
        fields = rest.split()
        if len(fields) >= 2:
            tables[path][fields[-2] in "Uwv"].add(fields[-1])
    return tables


def calls(paths):
    """For each object the objects it needs: {caller: {callee: {symbol, ...}}}."""
    tables = symbols(paths)
    home = {symbol: path for path, (defined, _) in tables.items() for symbol in defined}
    graph = {path: {} for path in paths}
    for path, (_, needed) in tables.items():
        for symbol in needed:
            callee = home.get(symbol, path)
            if callee != path:
                graph[path].setdefault(callee, set()).add(symbol)
    return graph


def by_folder(graph):
    """The calls between the folders of the objects."""
    merged = {os.path.dirname(path): {} for path in graph}
    for path, callees in graph.items():
        for callee, names in callees.items():
            caller, called = os.path.dirname(path), os.path.dirname(callee)
            if caller != called:
                merged[caller].setdefault(called, set()).update(names)
    return merged


def reachable(graph, start):
    seen, waiting = set(), [start]
    while waiting:
        for callee in graph[waiting.pop()]:
            if callee not in seen:
                seen.add(callee)
                waiting.append(callee)
    return seen


def circles(graph):
    """The sets of objects that all reach each other, largest first."""
    reach = {path: reachable(graph, path) for path in graph}
    found = {frozenset({path} | {other for other in reach[path] if path in reach[other]})
             for path in graph if path in reach[path]}
    return sorted(found, key=lambda circle: (-len(circle), sorted(circle)))


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--folders", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--known", action="append", default=[], type=lambda names: set(names.split(",")))
    parser.add_argument("paths", nargs="+")
    arguments = parser.parse_args()
    paths = objects_below(arguments.paths)
    if arguments.only:
        wanted = arguments.only.split(",")
        paths = [path for path in paths if source_of(path) in wanted]
        missing = sorted(set(wanted) - {source_of(path) for path in paths})
        if missing:
            print(f"no object of {', '.join(missing)}")
            return 1
    if not paths:
        print("no object files")
        return 1
    graph = calls(paths)
    found = circles(graph)
    for circle in found:
        print(f"a circle of {len(circle)} files:")
        for caller in sorted(circle):
            for callee in sorted(set(graph[caller]) & circle):
                print(f"  {source_of(caller)} -> {source_of(callee)}: {', '.join(sorted(graph[caller][callee]))}")
    folders = by_folder(graph) if arguments.folders else {}
    between = circles(folders)
    for circle in between:
        print(f"a circle of {len(circle)} folders:")
        for caller in sorted(circle):
            for callee in sorted(set(folders[caller]) & circle):
                print(f"  {os.path.basename(caller)}/ -> {os.path.basename(callee)}/: {', '.join(sorted(folders[caller][callee]))}")
    names = [{source_of(path) for path in circle} for circle in found]
    new = [circle for circle in names if circle not in arguments.known]
    gone = [known for known in arguments.known if known not in names]
    for known in gone:
        print(f"there is no such circle any more: {', '.join(sorted(known))}; shorten or remove its --known")
    largest = max((len(circle) for circle in found), default=1)
    print(f"{len(paths)} files, {sum(len(callees) for callees in graph.values())} calling pairs, "
          f"largest circle {largest}, {len(new)} circles that are not known")
    return 1 if new or gone or between else 0


if __name__ == "__main__":
    sys.exit(main())
