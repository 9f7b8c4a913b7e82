"""Small sweeps for the tests of executors, what they give on this machine, and ways to start, follow and compare them."""
import os
import re
import sqlite3
import subprocess
import tempfile
import time

HANG = 600  # seconds; ends a hang and nothing else


class Runs:
    def __init__(self, source, binary, folder):
        self.rkb_run, self.rkb = (os.path.join(binary, "bin", name) for name in ("rkb-run", "rkb"))
        os.environ["RKB_PLUGIN_PATH"] = os.path.join(binary, "tests/stage/plugins")
        self.secret = "07" * 32
        self.single = os.path.join(source, "tests/run/climb.yaml")
        self.quick = os.path.join(source, "tests/sweep/sweep.yaml")
        # Screening that lasts, so that what is killed is at work.
        self.slow = os.path.join(folder, "slow.yaml")
        with open(self.slow, "w", encoding="utf-8") as file:
            file.write(f"rkb: 1\nextends: {self.quick}\nname: sweep\nset: {{screen.divide.with.hold_us: 8000}}\n")
        self.local_slow = os.path.join(folder, "local")
        self.call("--sweep", self.slow, "--out", self.local_slow, "--secret", self.secret, "--cells", "3", "--quiet")

    def call(self, *arguments, code=0, timeout=HANG):
        done = subprocess.run([self.rkb_run, *arguments], capture_output=True, text=True, timeout=timeout, stdin=subprocess.DEVNULL)
        assert done.returncode == code, (arguments, done.returncode, done.stdout, done.stderr)
        return done

    def start(self, *arguments):
        """What it says goes into files, so that it can be read while it runs."""
        out, said = tempfile.TemporaryFile("w+"), tempfile.NamedTemporaryFile("w+")
        process = subprocess.Popen([self.rkb_run, *arguments], stdout=out, stderr=said, text=True, stdin=subprocess.DEVNULL)
        process.files = out, said
        return process

    @staticmethod
    def end(process):
        code = process.wait(timeout=HANG)
        out, said = process.files
        out.seek(0)
        said.seek(0)
        return code, out.read(), said.read()

    @staticmethod
    def said(process):
        with open(process.files[1].name, encoding="utf-8") as file:
            return file.read()

    def running_on(self, process):
        """A machine on which a cell has begun."""
        assert process.poll() is None, self.end(process)
        found = re.search(r"^(?:begins|goes on:) .* on ([^,\n]+)", self.said(process), re.MULTILINE)
        return found and found.group(1)

    @staticmethod
    def wait_for(what):
        limit = time.monotonic() + HANG
        while time.monotonic() < limit:
            found = what()
            if found:
                return found
            time.sleep(0.01)
        raise AssertionError("it does not come")

    @staticmethod
    def cells(sweep):
        return sorted(name for name in os.listdir(sweep) if os.path.exists(os.path.join(sweep, name, "pipeline.yaml")))

    @staticmethod
    def stored(sweep, cell):
        """Candidates in a cell's archive so far."""
        try:
            with sqlite3.connect(f"file:{os.path.join(sweep, cell, 'run.sqlite')}?mode=ro", uri=True) as archive:
                return archive.execute("SELECT count(*) FROM candidate").fetchone()[0]
        except sqlite3.Error:
            return 0  # not made yet

    def archives(self, sweep):
        found = []
        for cell in self.cells(sweep):
            with open(os.path.join(sweep, cell, "run.sqlite"), "rb") as file:
                found.append(file.read())
        return found

    def equal_runs(self, one, other):
        done = subprocess.run([self.rkb, "diff", one, other], capture_output=True, text=True, timeout=HANG)
        assert done.returncode == 0, (one, other, done.stdout, done.stderr)

    def equal(self, one, other):
        assert self.cells(one) == self.cells(other) and self.cells(one), (self.cells(one), self.cells(other))
        for cell in self.cells(one):
            self.equal_runs(os.path.join(one, cell), os.path.join(other, cell))
