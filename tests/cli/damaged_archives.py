#!/usr/bin/env python3
"""Archives that were damaged or made by somebody else: every command that reads one says so, or shows what is left; none crashes, hangs
or sends orders to the terminal.  The damage is the same in every run.  With STEP, and without RKB_LONG in the environment, a part of the wrong values
is tried (../thin.sh).  usage: damaged_archives.py FOLDER_OF_PROGRAMS SOURCE_DIRECTORY [STEP]"""
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile

PROGRAMS, SOURCE = sys.argv[1:3]
STEP = (sys.argv[3:] or ["1"])[0]
WORK = tempfile.mkdtemp(prefix="rkb-damage-")
ENVIRONMENT = {**os.environ, "XDG_CACHE_HOME": os.path.join(WORK, "cache"), "LC_ALL": "C.UTF-8"}
ORDERS = "\x1b]0;title\x07\x1b[2J\x9b31m"
failures = []
tried = 0


def run(*words):
    return subprocess.run([os.path.join(PROGRAMS, words[0]), *words[1:]], cwd=WORK, env=ENVIRONMENT, capture_output=True, timeout=120, check=False)


def read(what, commands):
    """Runs the commands on the archive 'bad'; an exit code above 3, or a signal, is a failure, and so is nothing said of a failure."""
    global tried
    for words in commands:
        tried += 1
        try:
            result = run(*words)
        except subprocess.TimeoutExpired:
            failures.append(f"{what}: {' '.join(words)}: does not end")
            continue
        if result.returncode not in (0, 1, 2, 3):
            failures.append(f"{what}: {' '.join(words)}: {result.returncode}: {result.stderr[-300:]!r}")
        elif result.returncode in (2, 3) and not result.stderr:
            failures.append(f"{what}: {' '.join(words)}: {result.returncode} without a word")
        if b"Sanitizer" in result.stderr:
            failures.append(f"{what}: {' '.join(words)}: {result.stderr[:600]!r}")


ALL = (("rkb", "report", "bad"), ("rkb", "show", "bad"), ("rkb", "show", "bad", "2"), ("rkb", "best", "bad", "--out", "best.cu"),
       ("rkb", "diff", "good", "bad"), ("rkb", "report", "bad", "--json"), ("rkb", "report", "bad", "--html", "bad.html"), ("rkb", "report", "bad", "good"))
FEW = (("rkb", "report", "bad"), ("rkb", "show", "bad", "2"))


def fresh():
    shutil.rmtree(os.path.join(WORK, "bad"), ignore_errors=True)
    shutil.copytree(os.path.join(WORK, "good"), os.path.join(WORK, "bad"))
    return os.path.join(WORK, "bad", "run.sqlite")


def truncated_and_flipped():
    with open(os.path.join(WORK, "good", "run.sqlite"), "rb") as file:
        whole = file.read()
    for size in [0, 16, 100, 4096, 4097, *(len(whole) * i // 4 for i in range(1, 4)), len(whole) - 1]:
        with open(fresh(), "wb") as file:
            file.write(whole[:size])
        read(f"cut at {size}", FEW)
    state = 12345
    for flip in range(16):
        state = (state * 1103515245 + 12345) % 2 ** 31  # the C standard's example of a generator
        at = state % (len(whole) if flip % 3 else 4096)
        with open(fresh(), "wb") as file:
            file.write(whole[:at] + bytes([whole[at] ^ 1 << state // 65536 % 8]) + whole[at + 1:])
        read(f"bit flipped in byte {at}", FEW)


def columns(database):
    for (table,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'").fetchall():
        yield table, [row[1] for row in database.execute(f"PRAGMA table_info({table})")]


def forget_constraints(database):
    """A file's schema is its maker's: a damaged one keeps no NOT NULL."""
    database.execute("PRAGMA writable_schema = ON")
    database.execute("UPDATE sqlite_master SET sql = replace(sql, ' NOT NULL', '') WHERE type = 'table'")
    database.commit()


VALUES = {"null": "NULL", "a blob": "X'00ff1b80'", "the least integer": "-9223372036854775808",
          "orders": "?1", "a long text": "?2", "deep JSON": "?3"}


def change(statement):
    database = sqlite3.connect(fresh())
    forget_constraints(database)
    database.close()
    database = sqlite3.connect(os.path.join(WORK, "bad", "run.sqlite"))
    database.execute("PRAGMA synchronous = OFF")
    parameters = {"?1": ORDERS, "?2": "x" * 300_000, "?3": "[" * 100_000}
    for mark, value in parameters.items():
        if mark in statement:
            database.execute(statement.replace(mark, "?"), [value] * statement.count(mark))
            break
    else:
        database.execute(statement)
    database.commit()
    database.close()


def wrong_values():
    """What is tried, its kind, the change, and the commands that read it."""
    database = sqlite3.connect(os.path.join(WORK, "good", "run.sqlite"))
    tables = list(columns(database))
    database.close()
    for table, names in tables:
        for kind, value in VALUES.items():
            # Not the whole of a key, which would leave one row: the columns after the first.
            later = names[1:] or names
            # What is large, in a few rows: in every row the archive has hundreds of megabytes, and copying them is most of the test.
            rows = f' WHERE "{names[0]}" IN (SELECT DISTINCT "{names[0]}" FROM {table} ORDER BY 1 LIMIT 4)' if value in ("?2", "?3") else ""
            yield f"{kind} in {table}", "tables", f"UPDATE OR IGNORE {table} SET " + ", ".join(f'"{name}" = {value}' for name in later) + rows, FEW
        for name in names if table in ("candidate", "verdict", "measurement", "request") else ():
            yield f"null in {table}.{name}", "columns", f'UPDATE OR IGNORE {table} SET "{name}" = NULL', FEW[:1]


def try_wrong_values():
    cases = {what: rest for what, *rest in wrong_values()}
    lines = "".join(f"{kind}\t{what}\n" for what, (kind, _, _) in cases.items())
    taken = subprocess.run([os.path.join(SOURCE, "tests/thin.sh"), STEP], input=lines, stdout=subprocess.PIPE, text=True, check=True).stdout
    for what in taken.splitlines():
        _, statement, commands = cases[what]
        try:
            change(statement)
        except sqlite3.IntegrityError:
            continue  # a row's number cannot be null
        read(what, commands)


def wrong_numbers():
    """Of candidates, by which lists are made."""
    for what, number in {"below 0": "-id", "0": "0", "far above the others": "4000000000", "the greatest": "9223372036854775807"}.items():
        where = "" if what == "below 0" else " WHERE id = (SELECT max(id) FROM candidate)"
        change(f"UPDATE candidate SET id = {number}{where}")
        read(f"a candidate's number is {what}", ALL)
        if b"damaged" not in run("rkb", "report", "bad").stderr:
            failures.append(f"a candidate's number is {what}: was not told")


def write_schema(old, new):
    """A statement as its author wrote it, not as SQLite would."""
    return ("PRAGMA writable_schema = ON", f"UPDATE sqlite_master SET sql = replace(sql, '{old}', '{new}')")


SLOW = "(hex(zeroblob(3000000)) LIKE ''%0%0%0%0%0%0%0%2'')"
FOREIGN = {"a view": ("CREATE VIEW looked AS SELECT * FROM candidate",),
           "a trigger": ("CREATE TRIGGER t AFTER INSERT ON event BEGIN DELETE FROM candidate; END",),
           "a computed column": ("ALTER TABLE event ADD COLUMN more GENERATED ALWAYS AS (1) VIRTUAL",),
           "a computed column in few words": ("ALTER TABLE event ADD COLUMN more AS (1)",),
           "a virtual table": ("CREATE VIRTUAL TABLE words USING rtree(a, b, c)",),
           "a virtual table with a comment": ("CREATE VIRTUAL TABLE words USING rtree(a, b, c)", *write_schema("CREATE VIRTUAL", "CREATE /**/ VIRTUAL")),
           "a check": write_schema("standing TEXT NOT NULL", f"standing TEXT NOT NULL CHECK{SLOW}"),
           "a computed default": write_schema("data TEXT)", f"data TEXT DEFAULT {SLOW})"),
           "an index over an expression": ("CREATE INDEX other ON event(abs(time_ms))",),
           "a partial index": ("CREATE INDEX other ON event(time_ms) WHERE time_ms > 1",)}


def foreign_schemas():
    change("DROP TABLE verdict")
    read("no table of verdicts", ALL)
    for what, statements in FOREIGN.items():
        database = sqlite3.connect(fresh())
        for statement in statements:
            database.execute(statement)
        database.commit()
        database.close()
        read(what, ALL)
        for command in (("rkb", "report", "bad"), ("rkb-run", "--resume", "bad")):
            if b"views, triggers" not in run(*command).stderr:
                failures.append(f"{what}: {command[0]} does not refuse it")


def main():
    made = run("rkb-run", os.path.join(SOURCE, "tests/run/climb.yaml"), "--out", "good", "--jobs", "1", "--quiet")
    if made.returncode:
        sys.exit(f"the run to damage was not made: {made.stderr.decode()}")
    truncated_and_flipped()
    try_wrong_values()
    wrong_numbers()
    foreign_schemas()
    shutil.rmtree(WORK)
    for failure in failures[:40]:
        print(failure)
    print(f"{tried} readings of damaged archives, {len(failures)} failures")
    return 1 if failures else 0


sys.exit(main())
