#!/usr/bin/env python3
"""Compiles each public header alone, without a warning, in every language that a plugin may be written in.
usage: headers.py INCLUDE_DIR C_COMPILER CXX_COMPILER"""
import os
import subprocess
import sys

LANGUAGES = [("c", "c11"), ("c", "c17"), ("c++", "c++11"), ("c++", "c++17")]
WARNINGS = ["-Wall", "-Wextra", "-Werror", "-Wpedantic", "-Wshadow", "-Wundef"]

include, c_compiler, cxx_compiler = sys.argv[1:]
failures = headers = 0
for directory, _, files in sorted(os.walk(include)):
    for name in sorted(files):
        header = os.path.relpath(os.path.join(directory, name), include)
        headers += 1
        for language, standard in LANGUAGES:
            compiler = c_compiler if language == "c" else cxx_compiler
            # Twice, so that a missing guard is seen; used from a source, as clang warns of unused static functions in one.
            source = f"#include <{header}>\n#include <{header}>\nint rkb_unused;\n"
            result = subprocess.run(
                [compiler, "-x", language, f"-std={standard}", *WARNINGS, "-I", include, "-fsyntax-only", "-"],
                input=source, capture_output=True, text=True, check=False)
            if result.returncode:
                failures += 1
                print(f"{header} as {standard} with {compiler}:\n{result.stderr}")
print(f"{headers} headers, {failures} failures")
sys.exit(1 if failures or not headers else 0)
