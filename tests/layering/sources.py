#!/usr/bin/env python3
"""Has another compiler read every source of the program as the build compiles it, without a warning asked for: what only one compiler
takes breaks the fuzz targets, which the tests do not build.
A source that the fuzz build beside it has compiled since it was changed needs no second reading.  Without RKB_LONG in the environment the first source
of each folder and every STEP-th after it is read (../thin.sh).
usage: sources.py [--compiled FUZZ_BUILD] [--step STEP] COMPILE_COMMANDS COMPILER FOLDER..."""
import argparse
import concurrent.futures
import json
import os
import shlex
import subprocess
import sys

parser = argparse.ArgumentParser(usage=__doc__)
parser.add_argument("--compiled", default="")
parser.add_argument("--step", default="1")
parser.add_argument("commands")
parser.add_argument("compiler")
parser.add_argument("folders", nargs="+")
arguments = parser.parse_args()
folders = tuple(os.path.join(os.path.realpath(folder), "") for folder in arguments.folders)


def entries_of(path):
    with open(path, encoding="utf-8") as file:
        return [entry for entry in json.load(file) if entry["file"].endswith(".c") and os.path.realpath(entry["file"]).startswith(folders)]


def object_of(entry):
    words = shlex.split(entry["command"])
    return os.path.join(entry["directory"], words[words.index("-o") + 1])


def compiled_elsewhere(folder):
    """Sources with an object newer than they are, from the same compiler."""
    path = os.path.join(folder, "compile_commands.json")
    if not folder or not os.path.exists(path):
        return set()
    return {entry["file"] for entry in entries_of(path) if f"/{arguments.compiler} " in entry["command"] and os.path.exists(object_of(entry))
            and os.path.exists(entry["file"])  # a build before a file was renamed still names it
            and os.path.getmtime(object_of(entry)) > os.path.getmtime(entry["file"])}


def thinned(files):
    lines = "".join(f"{os.path.dirname(name)}\t{name}\n" for name in sorted(files))
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../thin.sh")
    return set(subprocess.run([script, arguments.step], input=lines, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines())


def read(entry):
    words = shlex.split(entry["command"])
    at = words.index("-o")
    del words[at : at + 2]
    # The launcher and the compiler come first, then what is defined, included and asked for.
    first = next(i for i, word in enumerate(words) if word.startswith("-"))
    kept = [word for word in words[first:] if word != "-c" and not word.startswith("-W")]
    result = subprocess.run([arguments.compiler, *kept, "-w", "-fsyntax-only"], cwd=entry["directory"], capture_output=True, text=True, check=False)
    return entry["file"], result.returncode, result.stderr


entries = entries_of(arguments.commands)
known = compiled_elsewhere(arguments.compiled)
taken = thinned({entry["file"] for entry in entries} - known)
with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    failures = [(name, text) for name, code, text in pool.map(read, [entry for entry in entries if entry["file"] in taken]) if code]
for name, text in failures:
    print(f"{name} with {arguments.compiler}:\n{text}")
print(f"{len(entries)} sources, {len(failures)} failures; the fuzz build compiled {len(known & {entry['file'] for entry in entries})} of them, {len(taken)} were read")
sys.exit(1 if failures or not entries else 0)
