"""Sweeps from outside: all runs end and are what single runs are; what is killed or interrupted goes on with nothing lost or repeated; one
process at a time; a wrong cell is named before anything runs; a cell that cannot run does not stop the others.
usage: sweeps.py SOURCE_DIRECTORY BINARY_DIRECTORY"""
import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

source, binary = sys.argv[1:3]
rkb_run, rkb = (os.path.join(binary, "bin", name) for name in ("rkb-run", "rkb"))
os.environ["RKB_PLUGIN_PATH"] = os.path.join(binary, "tests/stage/plugins")
pipeline = os.path.join(source, "tests/sweep/sweep.yaml")
secret = "07" * 32
HANG = 600  # seconds; ends a hang and nothing else


def call(*arguments, code=0):
    done = subprocess.run([rkb_run, *arguments], capture_output=True, text=True, timeout=HANG, stdin=subprocess.DEVNULL)
    assert done.returncode == code, (arguments, done.returncode, done.stdout, done.stderr)
    return done


def cells(sweep):
    return sorted(name for name in os.listdir(sweep) if os.path.isdir(os.path.join(sweep, name)))


def archive_bytes(sweep, cell):
    with open(os.path.join(sweep, cell, "run.sqlite"), "rb") as file:
        return file.read()


def equal(one, other):
    assert cells(one) == cells(other) and len(cells(one)) == 6, (cells(one), cells(other))
    for cell in cells(one):
        done = subprocess.run([rkb, "diff", os.path.join(one, cell), os.path.join(other, cell)], capture_output=True, text=True)
        assert done.returncode == 0, (cell, done.stdout, done.stderr)


def stored(sweep, cell):
    """Candidates in a cell's archive so far."""
    try:
        with sqlite3.connect(f"file:{os.path.join(sweep, cell, 'run.sqlite')}?mode=ro", uri=True) as archive:
            return archive.execute("SELECT count(*) FROM candidate").fetchone()[0]
    except sqlite3.Error:
        return 0  # not made yet


def start_and_wait(sweep, arguments, cell, candidates):
    """Starts a sweep and returns when this cell has so many candidates."""
    process = subprocess.Popen([rkb_run, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               stdin=subprocess.DEVNULL)
    limit = time.monotonic() + HANG
    while process.poll() is None and time.monotonic() < limit:
        folders = cells(sweep) if os.path.isdir(sweep) else []
        if len(folders) > cell and stored(sweep, folders[cell]) >= candidates:
            return process
        time.sleep(0.002)
    raise AssertionError((process.poll(), process.communicate()))


def slow(folder):
    """The same sweep with screening that lasts, so that a signal finds it at work."""
    path = os.path.join(folder, "slow.yaml")
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"rkb: 1\nextends: {pipeline}\nname: sweep\nset: {{screen.divide.with.hold_us: 1500}}\n")
    return path


def test_all_cells(folder):
    whole = os.path.join(folder, "whole")
    done = call("--sweep", pipeline, "--out", whole, "--secret", secret, "--json")
    result = json.loads(done.stdout)
    assert (result["cells"], result["ended"], result["failed"], result["left"]) == (6, 6, 0, 0), result
    # A cell is the run that the same settings give by themselves.
    call(os.path.join(source, "tests/run/climb.yaml"), "--set", "name=sweep", "--set", "limits.candidates=60", "--set", "seed=8",
         "--set", "search.operators.step.with.high=20", "--out", os.path.join(folder, "single"), "--secret", secret)
    low_8 = next(cell for cell in cells(whole) if "low-seed-8" in cell)
    done = subprocess.run([rkb, "diff", os.path.join(whole, low_8), os.path.join(folder, "single")], capture_output=True, text=True)
    # The hash of the pipeline depends on the order of its keys, which comes from the file.
    assert done.stdout.startswith("fact pipeline_hash") and "\n1 difference in" in done.stdout, done.stdout
    # Two at a time give the same.
    call("--sweep", pipeline, "--out", os.path.join(folder, "two"), "--secret", secret, "--cells", "2")
    equal(whole, os.path.join(folder, "two"))
    # An ended sweep has nothing left to do.
    before = [archive_bytes(whole, cell) for cell in cells(whole)]
    done = call("--resume", whole)
    assert "begins" not in done.stderr and "goes on" not in done.stderr, done.stderr
    assert before == [archive_bytes(whole, cell) for cell in cells(whole)]
    done = call("--sweep", pipeline, "--out", whole, code=2)
    assert "holds a sweep already" in done.stderr, done.stderr


def test_kills(folder):
    pipeline_slow, whole, killed = slow(folder), os.path.join(folder, "undisturbed"), os.path.join(folder, "killed")
    call("--sweep", pipeline_slow, "--out", whole, "--secret", secret, "--cells", "3", "--quiet")
    process = start_and_wait(killed, ["--sweep", pipeline_slow, "--out", killed, "--secret", secret], 0, 20)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    # Its child ends as by ^C, and the next process waits for that.
    process = start_and_wait(killed, ["--resume", killed], 2, 15)
    first = cells(killed)[0]
    kept = archive_bytes(killed, first)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=HANG)
    assert process.returncode == 130 and "continue with: rkb-run --resume" in said, (process.returncode, said)
    assert archive_bytes(killed, first) == kept, "an ended cell was written again"
    done = call("--resume", killed)
    assert "goes on: low seed=8" in done.stderr, done.stderr
    assert "low seed=7" not in done.stderr, done.stderr
    equal(whole, killed)


def test_one_process(folder):
    path, taken = slow(folder), os.path.join(folder, "taken")
    process = start_and_wait(taken, ["--sweep", path, "--out", taken], 0, 5)
    done = call("--resume", taken, code=3)
    assert str(process.pid) in done.stderr, done.stderr
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=HANG)
    done = call("--resume", taken, "--set", "limits.candidates=3", code=2)
    assert "--set cannot change a sweep" in done.stderr, done.stderr


def test_wrong_cells(folder):
    path, out = os.path.join(folder, "wrong.yaml"), os.path.join(folder, "wrong")
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"rkb: 1\nextends: {pipeline}\nmatrix: {{screen.divide.with.by: [7, many]}}\n")
    done = call("--sweep", path, "--out", out, code=2)
    assert "with low screen.divide.with.by=many seed=7" in done.stderr and not os.path.exists(out), done.stderr
    done = call("--sweep", os.path.join(source, "tests/run/climb.yaml"), "--out", out, code=2)
    assert "is one run" in done.stderr and not os.path.exists(out), done.stderr
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"rkb: 1\nextends: {pipeline}\nmatrix: {{task: [softmax, nosuch]}}\n")
    done = call("--sweep", path, "--out", out, code=2)
    assert "with low task=nosuch seed=7" in done.stderr and not os.path.exists(out), done.stderr


def test_failing_cell(folder):
    path, out = slow(folder), os.path.join(folder, "failing")
    process = start_and_wait(out, ["--sweep", path, "--out", out], 0, 5)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=HANG)
    with open(os.path.join(out, cells(out)[3], "pipeline.yaml"), "w", encoding="utf-8") as file:
        file.write("rkb: 9\n")
    done = call("--resume", out, "--cells", "2", code=3)
    assert "5 of 6 cells ended, 1 failed" in done.stdout, done.stdout
    assert "failed: plain seed=8" in done.stderr and "rkb: 9" in done.stderr, done.stderr
    for text in ("{}", "[", '{"sweep":1,"name":"a","cells":[{"folder":"../x"}]}', '{"sweep":2}'):
        with open(os.path.join(out, "sweep.json"), "w", encoding="utf-8") as file:
            file.write(text)
        call("--resume", out, code=2)


with tempfile.TemporaryDirectory() as work:
    for name, test in sorted(globals().items()):
        if name.startswith("test_"):
            os.mkdir(os.path.join(work, name))
            test(os.path.join(work, name))
            print(name, "passed")
