"""200 runs on a Slurm of four nodes while nodes, slurmd alone, the controller and rkb-run are killed and runs are preempted: nothing is lost, and
nothing that has ended is written again.  Prints what was done and what came of it; exits with 1 when an archive differs.
usage: slurm_campaign.py SOURCE_DIRECTORY BINARY_DIRECTORY [CELLS [SEED]]"""
import hashlib
import os
import random
import sqlite3
import sys
import tempfile
import time
from collections import Counter

import executor_runs
import slurm_cluster

BETWEEN = 4  # seconds from one disturbance to the next


class Campaign:
    def __init__(self, runs, cluster, folder, cells, seed):
        self.runs, self.cluster, self.there = runs, cluster, os.path.join(folder, "there")
        self.random = random.Random(seed)
        self.done = Counter()
        self.digests = {}  # of archives that had ended when they were looked at
        self.arguments = ["--on", "slurm", "--jobs", "1"]
        self.down = {}     # node -> when it comes back
        self.sweep = os.path.join(folder, "campaign.yaml")
        with open(self.sweep, "w", encoding="utf-8") as file:
            file.write(f"rkb: 1\nextends: {runs.quick}\nname: sweep\nseeds: {cells // 2}\nset: {{screen.divide.with.hold_us: 8000}}\n")

    def start(self):
        new = not os.path.isdir(self.there)
        self.process = self.runs.start(*(["--sweep", self.sweep, "--out", self.there, "--secret", self.runs.secret] if new
                                         else ["--resume", self.there]), *self.arguments)

    def ended(self, cell):
        path = os.path.join(self.there, cell, "run.sqlite")
        try:
            with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as archive:
                found = archive.execute("SELECT value FROM fact WHERE key = 'ended'").fetchone()
                if found and found[0] != "interrupted":
                    return hashlib.sha256("\n".join(archive.iterdump()).encode()).hexdigest()
        except sqlite3.Error:
            pass  # not made yet
        return None

    def look(self):
        for cell in self.runs.cells(self.there) if os.path.isdir(self.there) else []:
            if cell not in self.digests:
                digest = self.ended(cell)
                if digest:
                    self.digests[cell] = digest

    def disturb(self):
        what = self.random.choice(["node", "node", "slurmd", "controller", "rkb-run", "preemption"])
        up = sorted(set(self.cluster.daemons) - set(self.down))
        if what == "node" and len(up) > 2:
            node = self.random.choice(up)
            self.cluster.kill_node(node)
            self.down[node] = time.monotonic() + 3 * BETWEEN
        elif what == "slurmd":
            node = self.random.choice(up)
            self.cluster.kill_daemon(node)
            self.cluster.start_node(node)
        elif what == "controller":
            self.cluster.kill_controller()
            self.cluster.start_controller()
        elif what == "rkb-run":
            self.process.kill()
            self.runs.end(self.process)
            self.start()
        elif what == "preemption":
            self.cluster.call("sbatch", "--partition=urgent", "--nodes=1", "--exclusive", "--output=/dev/null", "--wrap", "sleep 1", check=False)
        else:
            return
        self.done[what] += 1

    def repair(self):
        """What an administrator does: starts nodes again and takes a drain back."""
        for node, when in list(self.down.items()):
            if time.monotonic() > when:
                self.cluster.start_node(node, rebooted=True)
                del self.down[node]
        self.cluster.resume_nodes()

    def run(self):
        began = last = time.monotonic()
        self.start()
        while self.process.poll() is None and time.monotonic() - began < 1200:
            self.look()
            self.repair()
            if time.monotonic() - last > BETWEEN:
                self.disturb()
                last = time.monotonic()
            time.sleep(0.5)
        code, out, said = self.runs.end(self.process)
        print(f"{out.strip()}\nexit {code} after {time.monotonic() - began:.0f} s; " +
              ", ".join(f"{what}: {count}" for what, count in sorted(self.done.items())))
        print(f"of the last rkb-run: {said.count('goes on:')} cells went on, {said.count('started again')} were lost and started again")
        return code

    def compare(self, local):
        self.look()
        wrong = 0
        for cell in self.runs.cells(local):
            try:
                self.runs.equal_runs(os.path.join(local, cell), os.path.join(self.there, cell))
            except AssertionError as error:
                wrong += 1
                print(f"{cell}: {error}")
        written = sum(self.ended(cell) != digest for cell, digest in self.digests.items())
        print(f"{len(self.runs.cells(local))} cells: {wrong} differ from the undisturbed sweep; of {len(self.digests)} seen ended, {written} were written again")
        return wrong + written


def main():
    cells, seed = (int(argument) for argument in (sys.argv[3:] + ["200", "1"][len(sys.argv) - 3:]))
    with tempfile.TemporaryDirectory() as work:
        cluster = slurm_cluster.Cluster(work)
        try:
            cluster.start()
            os.environ.update(cluster.environment)
            runs = executor_runs.Runs(*sys.argv[1:3], work)
            campaign = Campaign(runs, cluster, work, cells, seed)
            code = campaign.run()
            local = os.path.join(work, "undisturbed")
            runs.call("--sweep", campaign.sweep, "--out", local, "--secret", runs.secret, "--cells", "4", "--quiet", timeout=3000)
            return 1 if code or campaign.compare(local) else 0
        finally:
            cluster.stop()


sys.exit(main())
