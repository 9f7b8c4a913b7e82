#!/usr/bin/env python3
"""Has another compiler read every source of the program as the build compiles it, without a warning asked for: what only one compiler
takes breaks the fuzz targets, which the tests do not build.
usage: sources.py COMPILE_COMMANDS COMPILER FOLDER..."""
import concurrent.futures
import json
import os
import shlex
import subprocess
import sys

commands, compiler = sys.argv[1:3]
folders = tuple(os.path.join(os.path.realpath(folder), "") for folder in sys.argv[3:])


def read(entry):
    words = shlex.split(entry["command"])
    at = words.index("-o")
    del words[at : at + 2]
    # The launcher and the compiler come first, then what is defined, included and asked for.
    first = next(i for i, word in enumerate(words) if word.startswith("-"))
    kept = [word for word in words[first:] if word != "-c" and not word.startswith("-W")]
    result = subprocess.run([compiler, *kept, "-w", "-fsyntax-only"], cwd=entry["directory"], capture_output=True, text=True, check=False)
    return entry["file"], result.returncode, result.stderr


with open(commands, encoding="utf-8") as file:
    entries = [entry for entry in json.load(file) if entry["file"].endswith(".c") and os.path.realpath(entry["file"]).startswith(folders)]
with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    failures = [(name, text) for name, code, text in pool.map(read, entries) if code]
for name, text in failures:
    print(f"{name} with {compiler}:\n{text}")
print(f"{len(entries)} sources, {len(failures)} failures")
sys.exit(1 if failures or not entries else 0)
