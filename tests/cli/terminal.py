#!/usr/bin/env python3
"""What programs write to a terminal never holds orders to it, whoever wrote the words: a file's name, an archive, a pipeline.  Into a pipe
the bytes go as they are.  usage: terminal.py FOLDER_OF_PROGRAMS SOURCE_DIRECTORY"""
import os
import pty
import shutil
import sqlite3
import subprocess
import sys
import tempfile

PROGRAMS, SOURCE = sys.argv[1:]
WORK = tempfile.mkdtemp(prefix="rkb-terminal-")
ENVIRONMENT = {**os.environ, "XDG_CACHE_HOME": os.path.join(WORK, "cache"), "LC_ALL": "C.UTF-8", "TERM": "xterm"}
ORDERS = "\x1b]0;title\x07 \x1b[2J \u009b31m \x08 κ"
SHOWN = "\\u001b]0;title\\u0007 \\u001b[2J \\u009b31m \\u0008 κ"


def on_terminal(*words):
    """All that the program sends to a terminal that is its standard output and error."""
    main, side = pty.openpty()
    child = subprocess.Popen([os.path.join(PROGRAMS, words[0]), *words[1:]], cwd=WORK, env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=side, stderr=side)
    os.close(side)
    sent = b""
    while True:
        try:
            part = os.read(main, 65536)
        except OSError:  # EIO: the other end is closed
            break
        if not part:
            break
        sent += part
    os.close(main)
    child.wait()
    return sent


def plain(*words):
    return subprocess.run([os.path.join(PROGRAMS, words[0]), *words[1:]], cwd=WORK, env=ENVIRONMENT, capture_output=True, check=False).stdout


def orders_in(sent):
    text = sent.decode("utf-8", errors="strict")
    return [c for c in text if (ord(c) < 32 and c not in "\r\n\t") or 127 <= ord(c) < 160]


def main():
    failures = []
    subprocess.run([os.path.join(PROGRAMS, "rkb-run"), os.path.join(SOURCE, "tests/run/climb.yaml"), "--out", "run", "--jobs", "1", "--quiet"],
                   cwd=WORK, env=ENVIRONMENT, check=True, stdout=subprocess.DEVNULL)
    database = sqlite3.connect(os.path.join(WORK, "run", "run.sqlite"))
    database.execute("UPDATE candidate SET note = ?, operator = ?", (ORDERS, ORDERS))
    database.execute("UPDATE verdict SET message = ?", (ORDERS,))
    database.execute("UPDATE source SET text = ?", (ORDERS,))
    database.commit()
    database.close()
    cases = [("rkb", "show", "run", "1"), ("rkb", "show", "run"), ("rkb", "report", "run"), ("rkb", "check", ORDERS + ".cu"),
             ("rkb", "validate", ORDERS + ".yaml"), ("rkb-run", ORDERS), ("rkb", "help", ORDERS)]
    seen = 0
    for words in cases:
        sent = on_terminal(*words)
        if orders_in(sent):
            failures.append(f"{words}: {sent!r}")
        seen += SHOWN.encode() in sent
    if seen < 4:
        failures.append(f"only {seen} of {len(cases)} commands showed the words at all")
    if ORDERS.encode() not in plain("rkb", "show", "run", "1"):
        failures.append("into a pipe the bytes were changed")
    shutil.rmtree(WORK)
    for failure in failures:
        print(failure)
    print(f"{len(cases)} commands, {len(failures)} failures")
    return 1 if failures else 0


sys.exit(main())
