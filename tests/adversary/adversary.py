#!/usr/bin/env python3
"""Holds rkb to the adversary suite: every kernel below tests/adversary/<area>/<entry>/ that tries to pass though it is wrong, and the
honest twin that does the same work right.  README.md has the format of an entry.

All kernels of one task, one direction and one set of settings are the candidates of one rkb-run, so that many entries share a process.
A secret decides what the checking machine samples, so an entry may ask for several; each is a run of its own.

With --quick an entry whose every secret must be answered is tried under its first one alone, a twin that is a shipped seed is left to the tests of
correct kernels (tests/faults) if they judge it whole, an entry that says 'long: yes' is left out, and of the kernels that are compiled every twelfth is
taken of each area, stage and reason, unless the variable RKB_LONG is set.

usage: adversary.py SOURCE_DIRECTORY BINARY_DIRECTORY [--quick] [--list] [--table FILE] [--cache DIRECTORY] [AREA[/ENTRY]...]
"""

import argparse
import collections
import concurrent.futures
import fnmatch
import hashlib
import os
import pathlib
import re
import shlex
import sqlite3
import subprocess
import sys
import tempfile

MOST_FILES = 64  # that one request of rkb.translator.seed gives
SCRIPTS_AT_ONCE = 2  # they wait for processes more than they compute
APART = 12  # how far apart the entries are that --quick takes of one kind
TWIN_SECRETS = 2  # a right kernel must be accepted whatever is sampled; all secrets of an entry would cost too much
KEYS = {"tries", "known", "stage", "reason", "standing", "costs", "twin", "secrets", "least", "long", "set"}
STANDINGS = {"reject", "suspect", "unknown", "accept"}
COST = "model.predicted_us"  # over all bench cases


class Entry:
    """One folder: what is tried, and who must answer what."""

    def __init__(self, folder, root):
        self.folder = folder
        self.name = str(folder.relative_to(root))
        self.settings = []
        lines = {}
        for number, line in enumerate((folder / "entry.case").read_text().splitlines(), 1):
            if not line.strip() or line.startswith("#"):
                continue
            key, colon, value = line.partition(": ")
            if not colon or key not in KEYS or (key in lines and key != "set"):
                sys.exit(f"{folder}/entry.case:{number}: what is '{line}'?")
            lines[key] = value.strip()
            if key == "set":
                self.settings.append(value.strip())
        self.standing = lines.get("standing", "reject")
        if self.standing not in STANDINGS:
            sys.exit(f"{folder}/entry.case: standing is one of {', '.join(sorted(STANDINGS))}")
        for key in ("tries", "costs") if self.standing == "accept" else ("tries", "stage", "reason"):
            if key not in lines:
                sys.exit(f"{folder}/entry.case: lacks '{key}: ...'")
        self.tries, self.stage, self.reasons = lines["tries"], lines.get("stage", ""), lines.get("reason", "").split()
        self.twin = lines.get("twin", "twin.cu")
        self.costs, self.cost = float(lines.get("costs", "0")), {}
        self.secrets = int(lines.get("secrets", "1"))
        self.least = int(lines.get("least", self.secrets))
        if not 1 <= self.least <= self.secrets:
            sys.exit(f"{folder}/entry.case: least is between 1 and secrets")
        if lines.get("long", "yes") != "yes":
            sys.exit(f"{folder}/entry.case: long is 'yes' or not there")
        self.long = "long" in lines
        self.twin_is_held = False  # by another test
        self.answered, self.others, self.wrong = 0, [], []

    def shorten(self, held):
        """Under some secrets an attack may pass; only all of them together say whether it passes too often.  held: kernels that another test
        judges whole."""
        if self.least == self.secrets:
            self.secrets = self.least = 1
        self.twin_is_held = not self.costs and (self.folder / self.twin).resolve() in held

    def kind(self):
        """Entries of one kind are thinned.  Attacks, and what is answered before anything is compiled, cost little: each is a kind of its own."""
        if self.script() or self.stage not in ("", "build", "machine"):
            return self.name
        return " ".join([self.name.split("/")[0], self.standing, self.stage, *self.reasons])

    def script(self):
        """An attack that is no kernel: a script that ends with 0 when rkb withstood it."""
        path = self.folder / "attack.sh"
        return path if path.exists() else None

    def kernel(self, name):
        path = self.folder / (self.twin if name == "twin.cu" else name)
        if not path.exists():
            sys.exit(f"{path} is not there")
        return path

    def verdict(self, which, secret, found):
        """Takes what a run found about kernel.cu or twin.cu."""
        standing, stage, reason, message, cost = found
        self.cost[which, secret] = cost
        if which == "twin.cu":
            if standing != "accept":
                self.wrong.append(f"{self.name}: its twin is {standing} {reason} ({stage}) with secret {secret}: {message}")
        elif self.standing == "accept":
            self.answered += standing == "accept"
            if standing != "accept":
                self.others.append(f"{standing} {reason} ({stage}) with secret {secret}: {message}")
        elif standing == self.standing and stage == self.stage and any(fnmatch.fnmatchcase(reason, r) for r in self.reasons):
            self.answered += 1
        else:
            self.others.append(f"{standing} {reason} ({stage}) with secret {secret}: {message}")

    def problems(self):
        problems = list(self.wrong)
        for (which, secret), cost in self.cost.items():
            twin = self.cost.get(("twin.cu", secret))
            if self.costs and which == "kernel.cu" and cost and twin and cost < self.costs * twin:
                problems.append(f"{self.name}: predicted {cost:.4g} us with secret {secret}, and its twin {twin:.4g}")
        if self.answered < self.least:
            problems.append(f"{self.name}: {self.standing} {' or '.join(self.reasons)} ({self.stage}) {self.answered} times of "
                            f"{self.secrets}, not {self.least}; otherwise:\n  " + "\n  ".join(self.others))
        return problems


def kernels_held_elsewhere(source):
    """The seeds that tests/faults accepts whole in each run of ctest: all but those that it leaves to long-tests."""
    names = (line.strip() for line in (source / "tests/faults/long_kernels.txt").read_text().splitlines())
    long = {source / "tasks" / task / "seeds" / direction / f"{seed}.cu"
            for task, direction, seed in (name.split("/") for name in names if name.count("/") == 2 and not name.startswith("#"))}
    return set(source.glob("tasks/*/seeds/*/*.cu")) - long


def thinned(entries, source):
    """The first entry of each kind, and every twelfth after it."""
    lines = "".join(f"{entry.kind()}\t{entry.name}\n" for entry in entries)
    taken = subprocess.run([source / "tests/thin.sh", str(APART)], input=lines, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
    return [entry for entry in entries if entry.name in taken]


def secret_of(number):
    """Any will do, if it is the same one tomorrow."""
    return hashlib.sha256(f"adversary {number}".encode()).hexdigest()


def subject_of(kernel):
    """Task and direction, as the manifest says."""
    text = kernel.read_text(errors="replace")
    task = re.search(r"^task: *(\S+)", text, re.M)
    direction = re.search(r"^direction: *(\S+)", text, re.M)
    if not task:
        sys.exit(f"{kernel}: its manifest names no task")
    return task.group(1), direction.group(1) if direction else "forward"


def task_folder(source, task):
    """A shipped task, or one that is there for tests of single operations."""
    shipped = source / "tasks" / task
    return shipped if shipped.exists() else source / "tests/generator/tasks" / task


def groups_of(entries):
    """Runs to make: (task, direction, settings, number of the secret) -> [(entry, file name)]."""
    groups = {}
    for entry in entries:
        if entry.script():
            continue
        for which in ("kernel.cu", "twin.cu"):
            if which == "twin.cu" and entry.twin_is_held:
                continue
            task, direction = subject_of(entry.kernel(which))
            twins = entry.secrets if entry.costs else min(entry.secrets, TWIN_SECRETS)
            for secret in range(entry.secrets if which == "kernel.cu" else twins):
                groups.setdefault((task, direction, tuple(entry.settings), secret), []).append((entry, which))
    return groups


def found_about(archive):
    """Of each child of the one request: standing, deciding stage, reason, message, predicted cost."""
    rows = archive.execute("SELECT child, id, standing, reason, duplicate_of FROM candidate").fetchall()
    by_number = {row[1]: row for row in rows}
    found = {}
    for child, number, _, _, duplicate in rows:
        _, number, standing, reason, _ = by_number[duplicate or number]
        decided = archive.execute(
            "SELECT stage, message FROM verdict WHERE candidate = ? AND standing = ? AND reason = ? AND NOT shadow ORDER BY executes DESC, position",
            (number, standing, reason)).fetchone() or ("none", "")
        cost = archive.execute("SELECT value FROM measurement WHERE candidate = ? AND name = ? AND task_case = ''", (number, COST)).fetchone()
        found[child] = (standing, decided[0], reason, decided[1], cost and cost[0])
    return found


def run_group(arguments, key, members, work):
    task, direction, settings, secret = key
    paths = [str(entry.kernel(which)) for entry, which in members]
    command = [str(arguments.binary / "bin/rkb-run"), str(arguments.source / "tests/adversary/pipeline.yaml"), "--quiet",
               "--task", str(task_folder(arguments.source, task)), "--direction", direction, "--out", str(work)]
    command += ["--set", "propose.seed.with.files=[" + ", ".join(paths) + "]"]
    for setting in settings:
        command += ["--set", setting]
    if arguments.secret_option:
        command += ["--secret", secret_of(secret)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode not in (0, 1):  # 1: nothing was accepted
        sys.exit(f"{shlex.join(command)}\nended with {done.returncode}:\n{done.stdout}")
    archive = sqlite3.connect(f"file:{work}/run.sqlite?mode=ro", uri=True)
    found = found_about(archive)
    archive.close()
    for child, (entry, which) in enumerate(members):
        if child not in found:
            sys.exit(f"{shlex.join(command)}\nhas no candidate of {paths[child]}:\n{done.stdout}")
        entry.verdict(which, secret, found[child])


def run_script(arguments, entry):
    done = subprocess.run(["bash", str(entry.script()), str(arguments.source), str(arguments.binary)], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    if done.returncode == 0:
        entry.answered = entry.secrets
    else:
        entry.others.append(f"attack.sh ended with {done.returncode}: {done.stdout.strip()}")


def write_table(path, entries):
    with open(path, "w") as out:
        out.write("entry\tstage\tstanding\treason\tanswered\tsecrets\ttwin\ttries\n")
        for e in entries:
            twin = "none" if e.script() else "wrong" if e.wrong else "accepted"
            out.write(f"{e.name}\t{e.stage}\t{e.standing}\t{' '.join(e.reasons)}\t{e.answered}\t{e.secrets}\t{twin}\t{e.tries}\n")


def list_of(entries):
    """The table of README.md."""
    counts = collections.Counter((entry.name.split("/")[0], entry.script() is None) for entry in entries)
    areas = sorted({area for area, _ in counts})
    rows = [f"| {area} | {counts[area, True]} | {counts[area, False]} |" for area in areas]
    total = f"| all | {sum(counts[a, True] for a in areas)} | {sum(counts[a, False] for a in areas)} |"
    return "\n".join(["| area | kernels | attacks |", "|---|---|---|", *rows, total])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("binary", type=pathlib.Path)
    parser.add_argument("only", nargs="*", help="areas, or entries of them")
    parser.add_argument("--quick", action="store_true", help="one secret an entry, no entry that is long, and a part of the others")
    parser.add_argument("--list", action="store_true", help="print how many entries each area has, as in README.md, and run nothing")
    parser.add_argument("--table", help="a TSV file for what was answered")
    parser.add_argument("--cache", help="where builds are kept from one call to the next")
    arguments = parser.parse_intermixed_args()
    arguments.source, arguments.binary = arguments.source.resolve(), arguments.binary.resolve()
    root = arguments.source / "tests/adversary"
    os.environ.pop("RKB_PLUGIN_PATH", None)
    if arguments.cache:
        os.environ["XDG_CACHE_HOME"] = os.path.abspath(arguments.cache)
    usage = subprocess.run([str(arguments.binary / "bin/rkb-run"), "--help"], stdout=subprocess.PIPE, text=True).stdout
    arguments.secret_option = "--secret" in usage
    entries = [Entry(path.parent, root) for path in sorted(root.glob("*/*/entry.case"))]
    listed = (root / "README.md").read_text()
    if not arguments.list and list_of(entries) not in listed:
        sys.exit("README.md has another table than adversary.py --list prints")
    if arguments.only:
        entries = [e for e in entries if e.name in arguments.only or e.name.split("/")[0] in arguments.only]
    if arguments.quick and not arguments.list and "RKB_LONG" not in os.environ:
        entries = thinned([e for e in entries if not e.long], arguments.source)
        held = kernels_held_elsewhere(arguments.source)
        for entry in entries:
            entry.shorten(held)
    if not entries:
        sys.exit("no entry is there to be run")
    if arguments.list:
        print(list_of(entries))
        return 0
    with concurrent.futures.ThreadPoolExecutor(SCRIPTS_AT_ONCE) as threads:
        list(threads.map(lambda entry: run_script(arguments, entry), [entry for entry in entries if entry.script()]))
    with tempfile.TemporaryDirectory() as work:
        for number, (key, members) in enumerate(sorted(groups_of(entries).items(), key=lambda group: group[0])):
            for first in range(0, len(members), MOST_FILES):
                run_group(arguments, key, members[first:first + MOST_FILES], f"{work}/{number}-{first}")
    if arguments.table:
        write_table(arguments.table, entries)
    problems = [problem for entry in entries for problem in entry.problems()]
    print("\n".join(problems) if problems else f"{len(entries)} entries answered as they must be")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
