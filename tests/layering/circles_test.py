#!/usr/bin/env python3
"""Compiles small sets of files and expects circles.py to find the circles among them, and no others.
usage: circles_test.py [COMPILER]"""
import os
import subprocess
import sys
import tempfile

CHECK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "circles.py")
COMPILER = sys.argv[1] if len(sys.argv) > 1 else "cc"

CHAIN = {"a.c": "void b(void); void a(void) { b(); }", "b.c": "void c(void); void b(void) { c(); }",
         "c.c": "void c(void) {}"}
PAIR = {**CHAIN, "c.c": "void b(void); void c(void) { b(); }"}
THREE = {**CHAIN, "c.c": "void a(void); void c(void) { a(); }"}

# What it shows, the files, the arguments before the folder, the exit status, texts in the output, texts absent from it.
CASES = [
    ("a chain is no circle", CHAIN, [], 0, ["3 files", "largest circle 1"], ["a circle of"]),
    ("two files that call each other", PAIR, [], 1, ["a circle of 2 files", "b.c -> c.c: c", "c.c -> b.c: b"], ["a.c"]),
    ("three files, through one another", THREE, [], 1, ["a circle of 3 files", "c.c -> a.c: a"], []),
    ("a circle that is known", THREE, ["--known", "a.c,b.c,c.c"], 0, ["a circle of 3 files"], []),
    ("a known circle that has shrunk", PAIR, ["--known", "a.c,b.c,c.c"], 1, ["no such circle any more"], []),
    ("a known circle that has grown", THREE, ["--known", "b.c,c.c"], 1, ["1 circles that are not known"], []),
    ("a known circle that is gone", CHAIN, ["--known", "b.c,c.c"], 1, ["no such circle any more"], []),
    ("a circle outside the chosen files", PAIR, ["--only", "a.c,b.c"], 0, ["2 files", "largest circle 1"], []),
    ("a circle inside the chosen files", PAIR, ["--only", "b.c,c.c"], 1, ["a circle of 2 files"], []),
    ("a chosen file that is not there", CHAIN, ["--only", "a.c,x.c"], 1, ["no object of x.c"], []),
    ("two circles", {**PAIR, "d.c": "void e(void); void d(void) { e(); }", "e.c": "void d(void); void e(void) { d(); }"},
     [], 1, ["c.c -> b.c: b", "d.c -> e.c: e"], ["a circle of 3"]),
    ("one circle of two is known", {**PAIR, "d.c": "void e(void); void d(void) { e(); }", "e.c": "void d(void); void e(void) { d(); }"},
     ["--known", "b.c,c.c"], 1, ["1 circles that are not known"], []),
    ("data counts too", {"a.c": "extern int b; int a; int *f(void) { return &b; }", "b.c": "extern int a; int b; int *g(void) { return &a; }"},
     [], 1, ["a.c -> b.c: b"], []),
    ("static functions of one name are not calls", {"a.c": "static void f(void) {} void a(void) { f(); }",
                                                    "b.c": "void a(void); static void f(void) { a(); } void b(void) { f(); }"},
     [], 0, ["largest circle 1"], []),
    ("a report through a pointer goes up unseen", {"a.c": "void b(void (*)(void)); void up(void) {} void a(void) { b(up); }",
                                                   "b.c": "void b(void (*report)(void)) { report(); }"},
     [], 0, ["largest circle 1"], []),
    ("folders that call each other", {"low/a.c": "void b(void); void a(void) { b(); }", "high/b.c": "void c(void); void b(void) { c(); }",
                                      "low/c.c": "void c(void) {}"},
     ["--folders"], 1, ["largest circle 1", "a circle of 2 folders", "low/ -> high/: b", "high/ -> low/: c"], []),
    ("folders that call one way", {"low/a.c": "void a(void) {}", "high/b.c": "void a(void); void b(void) { a(); }"}, ["--folders"], 0,
     ["largest circle 1"], ["folders"]),
    ("no objects", {}, [], 1, ["no object files"], []),
    ("an object that is not there", CHAIN, ["absent.o"], 1, [], ["largest circle"]),
]


def run(files, arguments):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = os.path.join(folder, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text + "\n")
            subprocess.run([COMPILER, "-O0", "-c", path, "-o", path + ".o"], check=True)
        return subprocess.run([sys.executable, CHECK, *arguments, folder], capture_output=True, text=True, check=False)


failures = 0
for name, files, arguments, status, present, absent in CASES:
    result = run(files, arguments)
    wrong = [text for text in present if text not in result.stdout] + [text for text in absent if text in result.stdout]
    if result.returncode != status or wrong:
        print(f"{name}: status {result.returncode}, wrong about {wrong}: {result.stdout}{result.stderr}")
        failures += 1
print(f"{len(CASES)} sets of files, {failures} misjudged")
sys.exit(1 if failures else 0)
