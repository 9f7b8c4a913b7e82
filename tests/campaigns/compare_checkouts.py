#!/usr/bin/env python3
"""What two builds of rkb say of the shipped pipelines, tasks and seeds, compared byte by byte: for a change that should change nothing, such as files
that move or get other names.

    compare_checkouts.py BEFORE[:BUILD] AFTER[:BUILD] --out DIR [--tasks TASK,TASK...] [--parts PART,PART...] [--seeds N] [--candidates N]
                         [--cores N] [--limit SECONDS] [--most LINES]

BEFORE and AFTER are checkouts, BUILD is the build folder of each, seen from there ("build" when it is not said).  Each checkout is asked about its own
files, in its own folder, with an empty cache of its own.

Parts: validate  every file in pipelines/ and pipelines/experiments/: its problems, and what it is with everything filled in
       check     the first N seeds of each direction (all when --seeds is not said) with --json, and the first seed of each without
       run       stock.yaml with few candidates, each direction of each task; then report, best and show of that run, as text and as JSON, and every
                 table of its archive, and its pipeline

The published secret decides what is sampled.  Where a program lacks --secret, neither gets it: old ones drew the same samples at each call.
What may differ is replaced by a name before the comparison: RENAMED below lists all of it, and LEFT_OUT what is not read from an archive.

Each difference is printed as a unified diff below the commands that show it, as soon as both sides have said it.  OUT/before and OUT/after keep what
was compared, so that diff -r shows it again.  Exit: 0 all is identical, 1 something differs, 2 nothing was compared or a program did not end.
"""

import argparse
import concurrent.futures
import difflib
import glob
import os
import re
import shlex
import shutil
import sqlite3
import subprocess
import sys
from dataclasses import dataclass

IDENTICAL, DIFFERENT, NOT_COMPARED = 0, 1, 2
PARTS = ("validate", "check", "run")
SECRET = "65766572796f6e65206b6e6f7773207468697320736563726574000000000000"
# A run without these takes minutes for some tasks.  What they leave out, "check" compares.
FEW = ("screen.machine.with.families=1", "screen.machine.with.shapes=0")
DURATION = r"(?:\d+ h \d+ m|\d+ m \d+ s|\d[\d.e+-]* (?:ns|us|ms|s))\b"  # as core/base/units.c writes it
# Whose output, what in it, and what stands there when it is compared.  Predicted times are results: no line replaces them.
RENAMED = (
    (r"", r'"(seconds|elapsed|longest|mean|total)":[\d.e+-]+', r'"\1":SECONDS'),
    (r"", r'"created_ms":"\d+"', r'"created_ms":"DATE"'),
    (r"check|show|best", r"(?m)^(  \S+ +(?:accept|suspect|unknown|reject)) +" + DURATION, r"\1 SECONDS"),
    (r"run", r"(?<= candidates in )" + DURATION, r"SECONDS"),
    (r"report", r"(?<!=) +" + DURATION, r" SECONDS"),
)
# Of an archive: when and how long; where plugins lie, and the bytes that the compiler made of them; the hash of a pipeline that names the task's folder
# (the pipeline itself is compared).
LEFT_OUT = (r"\w+\.(seconds|\w+_ms)", r"plugin\.(path|hash)", r"fact\.(created_ms|times|pipeline_hash)")
LONG = 200


@dataclass
class Checkout:
    """One side."""
    name: str
    folder: str
    build: str
    out: str
    secret: tuple = ()

    def begin(self):
        for folder in (self.out, self.work()):
            shutil.rmtree(folder, ignore_errors=True)
            os.makedirs(folder)
        self.environment = {key: value for key, value in os.environ.items() if key != "RKB_PLUGIN_PATH"}
        self.environment["XDG_CACHE_HOME"] = self.work("cache")

    def work(self, *names):
        return os.path.join(self.out + "-work", *names)

    def program(self, name):
        return os.path.join(self.folder, self.build, "bin", name)

    def files(self, pattern):
        return sorted(os.path.relpath(path, self.folder) for path in glob.glob(os.path.join(self.folder, pattern)))

    def named(self, text):
        """The text without the folders of this side."""
        for path, name in ((self.work(), "WORK"), (os.path.join(self.folder, self.build), "BUILD"), (self.folder, "CHECKOUT")):
            text = text.replace(path, name)
        return text

    def run(self, command, limit):
        """(exit code, standard output, standard error); the code is None when the program did not end."""
        try:
            done = subprocess.run([self.program(command[0])] + command[1:], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                                  capture_output=True, timeout=limit, check=False)
        except subprocess.TimeoutExpired:
            return None, "", ""
        return done.returncode, done.stdout.decode(errors="backslashreplace"), done.stderr.decode(errors="backslashreplace")

    def offers(self, command, option):
        return option in self.run(["rkb-run" if command == "run" else "rkb", *([] if command == "run" else [command]), "--help"], 600)[1]

    def say(self, command, limit):
        """(what is the key of the command on both sides, whether the program ended well, what is compared of it)."""
        code, output, error = self.run(command, limit)
        texts = [renamed(self.named(text), command[0].replace("rkb-", "") if len(command) < 2 or command[0] != "rkb" else command[1])
                 for text in (output, error)]
        return self.named(" ".join(command)), code, "exit code %s\nstandard output:\n%s\nstandard error:\n%s\n" % (code, *texts)


def renamed(text, command):
    for whose, what, name in RENAMED:
        if re.fullmatch(whose, command) or not whose:
            text = re.sub(what, name, text)
    return text


def archive(path):
    """Every row of every table, a line each, in an order that no clock decides."""
    lines = []
    connection = sqlite3.connect("file:%s?mode=ro" % path, uri=True)
    try:
        tables = [name for name, in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
        for table in tables:
            rows = connection.execute('SELECT * FROM "%s"' % table)
            names = [column[0] for column in rows.description]
            for row in rows:
                if table == "fact" and left_out("fact.%s" % row[0]):
                    continue
                lines.append("%s: %s" % (table, ", ".join("%s=%r" % pair for pair in zip(names, row) if not left_out("%s.%s" % (table, pair[0])))))
    finally:
        connection.close()
    return "\n".join(sorted(lines)) + "\n"


def files_of(side, run):
    """What a run's folder holds, as commands would show it."""
    database, pipeline = os.path.join(run, "run.sqlite"), os.path.join(run, "pipeline.yaml")
    if os.path.exists(database):
        yield side.named("sqlite3 %s .dump" % database), 0, side.named(archive(database))
    if os.path.exists(pipeline):
        with open(pipeline) as file:
            yield side.named("cat " + pipeline), 0, side.named(file.read())


def left_out(column):
    return any(re.fullmatch(pattern, column) for pattern in LEFT_OUT)


def directions(side, tasks):
    """(task, direction, its seeds) of the shipped tasks, or of those that were named."""
    for folder in side.files("tasks/*/seeds/*"):
        _, task, _, direction = folder.split("/")
        seeds = side.files(folder + "/*.cu")
        if seeds and (not tasks or task in tasks):
            yield task, direction, seeds


def validations(side, options):
    first = next(directions(side, options.tasks), None)
    where = ["--task", "tasks/" + first[0], "--direction", first[1]] if first else []
    for path in side.files("pipelines/*.yaml") + side.files("pipelines/experiments/*.yaml"):
        yield [["rkb", "validate", path]]
        yield [["rkb", "validate", "--resolved"] + where + [path]]


def checks(side, options):
    for task, direction, seeds in directions(side, options.tasks):
        common = ["--task", "tasks/" + task, "--direction", direction, "--target", "h200"] + list(side.secret)
        for seed in seeds[:options.seeds]:
            yield [["rkb", "check", "--json"] + common + [seed]]
        yield [["rkb", "check"] + common + [seeds[0]]]


def runs(side, options):
    for task, direction, _ in directions(side, options.tasks):
        out = side.work("runs", task + "-" + direction)
        settings = ["seed=1", "limits.candidates=%d" % options.candidates, "limits.wall=6h"] + list(FEW)
        begin = ["rkb-run", "pipelines/stock.yaml", "--task", "tasks/" + task, "--direction", direction, "--target", "h200", "--jobs", "1", "--quiet",
                 "--out", out] + list(side.secret)
        for setting in settings:
            begin += ["--set", setting]
        yield [begin] + [["rkb", command] + more + [out] for command in ("report", "best", "show") for more in ([], ["--json"])]


def units(side, options):
    """{key on both sides: (part, commands that run one after another)}."""
    makers = {"validate": validations, "check": checks, "run": runs}
    return {side.named(" ".join(commands[0])): (part, commands) for part in PARTS if part in options.parts for commands in makers[part](side, options)}


def said_of(side, unit, limit):
    """{key: (exit code, what is compared)} of each command of a unit, kept in the folder of the side too."""
    part, commands = unit
    said = {key: (code, text) for key, code, text in (side.say(command, limit) for command in commands)}
    if part == "run":
        said.update({key: (code, text) for key, code, text in files_of(side, commands[0][commands[0].index("--out") + 1])})
    for key, (_, text) in said.items():
        name = re.sub(r"[^\w.=-]+", "_", key.replace(SECRET, "SECRET"))
        with open(os.path.join(side.out, name[:LONG] + ".txt"), "w") as file:
            file.write("%s\n%s" % (key, text))
    return said


def lines_of(text):
    """Lines to show: a long one, as JSON is, is broken where a member begins."""
    lines = []
    for line in text.splitlines():
        lines += re.split(r"(?<=[,{\[])(?=[\"{ ])", line) if len(line) > LONG else [line]
    return lines


def command_of(side, key):
    words = key.replace("WORK", side.work()).replace("CHECKOUT", side.folder).split(" ")
    return "cd %s && %s" % (shlex.quote(side.folder), shlex.join([side.program(words[0]) if words[0].startswith("rkb") else words[0]] + words[1:]))


def compare(sides, said, count, most):
    """Prints where two sides differ; adds to count: commands, different ones, those that ended with the same error on both, those without an end."""
    before, after = said
    for key in list(before) + [key for key in after if key not in before]:
        codes = [one[key][0] if key in one else 0 for one in said]
        count[0] += 1
        count[3] += None in codes
        if key in before and key in after and before[key] == after[key]:
            count[2] += codes[0] not in (0, 1, None)
            continue
        count[1] += 1
        print("\n# differs: " + key)
        for side in sides:
            print("#   %s: %s" % (side.name, command_of(side, key)))
        texts = [lines_of(one[key][1]) if key in one else ["(this side has no such file or archive)"] for one in said]
        difference = list(difflib.unified_diff(*texts, "before", "after", n=1, lineterm=""))
        print("\n".join(difference[:most]))
        if len(difference) > most:
            print("# and %d lines more" % (len(difference) - most))
        sys.stdout.flush()


def read_options(arguments):
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("--out", required=True)
    parser.add_argument("--tasks", type=lambda text: text.split(","), default=[])
    parser.add_argument("--parts", type=lambda text: text.split(","), default=list(PARTS))
    parser.add_argument("--seeds", type=int)
    parser.add_argument("--candidates", type=int, default=6)
    parser.add_argument("--cores", type=int, default=os.cpu_count())
    parser.add_argument("--limit", type=float, default=3600)
    parser.add_argument("--most", type=int, default=40)
    options = parser.parse_args(arguments)
    if not set(options.parts) <= set(PARTS):
        parser.error("--parts: " + ", ".join(PARTS))
    return options


def main(arguments):
    options = read_options(arguments)
    sides = []
    for name, text in (("before", options.before), ("after", options.after)):
        folder, _, build = text.partition(":")
        sides.append(Checkout(name, os.path.realpath(folder), build or "build", os.path.join(os.path.realpath(options.out), name)))
    for side in sides:
        for program in ("rkb", "rkb-run"):
            if not os.access(side.program(program), os.X_OK):
                print("no program: " + side.program(program), file=sys.stderr)
                return NOT_COMPARED
        side.begin()
    if all(side.offers(command, "--secret") for side in sides for command in ("check", "run")):
        for side in sides:
            side.secret = ("--secret", SECRET)
    asked = [units(side, options) for side in sides]
    counts = {part: [0, 0, 0, 0] for part in options.parts}
    with concurrent.futures.ThreadPoolExecutor(options.cores) as pool:
        futures = [(next(each[key][0] for each in asked if key in each),
                    [pool.submit(said_of, side, each[key], options.limit) if key in each else None for side, each in zip(sides, asked)])
                   for key in list(asked[0]) + [key for key in asked[1] if key not in asked[0]]]
        for place, (part, pair) in enumerate(futures):
            compare(sides, [future.result() if future else {} for future in pair], counts[part], options.most)
            print("%d of %d" % (place + 1, len(futures)), file=sys.stderr)
    print("\npart\tcommands\tdifferent\tsame error\tno end")
    for part in options.parts:
        print("%s\t%d\t%d\t%d\t%d" % (part, *counts[part]))
    if any(not count[0] or count[3] for count in counts.values()):
        print("a part compared nothing, or a program did not end within the limit")
        return NOT_COMPARED
    return DIFFERENT if any(count[1] for count in counts.values()) else IDENTICAL


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
