"""rkb-run --on slurm, with Debian's Slurm on this machine: a sweep gives what it gives here, also when a node is lost on the way; one that
is interrupted or left goes on with nothing repeated; what is wrong is said.
usage: slurm_test.py SOURCE_DIRECTORY BINARY_DIRECTORY"""
import hashlib
import os
import sys
import tempfile
import time

import executor_runs as runs
import slurm_cluster


def test_node_lost(runs, cluster, folder):
    """Every cell runs on some node.  One node dies with a cell at work, and the cell ends on another."""
    there = os.path.join(folder, "there")
    process = runs.start("--sweep", runs.slow, "--out", there, "--secret", runs.secret, "--on", "slurm", "--jobs", "1")
    node = runs.wait_for(lambda: runs.running_on(process))
    runs.wait_for(lambda: sum(runs.stored(there, cell) for cell in runs.cells(there)) > 10)
    cluster.kill_node(node)
    cluster.mark_down(node)  # Slurm would notice too, after SlurmdTimeout
    code, out, said = runs.end(process)
    cluster.start_node(node)
    cluster.resume_nodes()
    assert code == 0 and "6 of 6 cells ended" in out, (code, out, said)
    runs.equal(runs.local_slow, there)


def test_left_and_interrupted(runs, cluster, folder):
    """--detach returns at once; the next process finds the jobs, ^C takes them out of the queue, and --resume goes on."""
    there = os.path.join(folder, "left")
    done = runs.call("--sweep", runs.slow, "--out", there, "--secret", runs.secret, "--on", "slurm", "--cells", "2", "--detach", "--jobs", "1")
    assert "6 of 6 are in the queue" in done.stderr and f"--resume {there} --on slurm" in done.stderr, done.stderr
    name = f"rkb-{hashlib.sha256(there.encode()).hexdigest()[:16]}-0"

    def queue(*states):
        return cluster.call("squeue", "--noheader", "--array", "--name", name, *states).splitlines()

    assert len(queue("--states=all")) == 6, queue("--states=all")
    process = runs.start("--resume", there, "--on", "slurm", "--cells", "2")
    runs.wait_for(lambda: runs.running_on(process))
    process.terminate()
    code, out, said = runs.end(process)
    assert code == 130 and "cut short" in said, (code, out, said)
    assert len({line.split()[0].split("_")[0] for line in queue("--states=all")}) == 1, ("jobs were handed over twice", queue("--states=all"))
    assert not queue(), ("jobs are still in the queue", queue())
    # What a person takes out of the queue is not put there again.
    process = runs.start("--resume", there, "--on", "slurm", "--cells", "1", "--jobs", "1")
    runs.wait_for(lambda: runs.running_on(process))
    cluster.call("scancel", "--name", name)
    code, out, said = runs.end(process)
    assert code == 0 and said.count("removed from the queue") == 6 - int(out.split()[0]) >= 4, (code, out, said)
    done = runs.call("--resume", there, "--on", "slurm", "--jobs", "1")
    assert "6 of 6 cells ended" in done.stdout, done.stdout
    runs.equal(runs.local_slow, there)
    before = runs.archives(there)
    runs.call("--resume", there, "--on", "slurm")
    assert before == runs.archives(there), "an ended sweep was written again"


def test_controller_restarts(runs, cluster, folder):
    there = os.path.join(folder, "restart")
    process = runs.start("--sweep", runs.slow, "--out", there, "--secret", runs.secret, "--on", "slurm", "--jobs", "1")
    runs.wait_for(lambda: runs.running_on(process))
    cluster.kill_controller()
    cluster.start_controller()
    while process.poll() is None:
        cluster.resume_nodes()
        time.sleep(0.5)
    code, out, said = runs.end(process)
    assert code == 0, (code, out, said)
    runs.equal(runs.local_slow, there)


def test_one_run(runs, cluster, folder):
    alone, here = os.path.join(folder, "alone"), os.path.join(folder, "here")
    done = runs.call(runs.single, "--out", alone, "--secret", runs.secret, "--on", "slurm", "--jobs", "1")
    assert "best: candidate" in done.stdout, (done.stdout, done.stderr)
    runs.call(runs.single, "--out", here, "--secret", runs.secret)
    runs.equal_runs(here, alone)


def test_refused(runs, cluster, folder):
    out = os.path.join(folder, "refused")
    done = runs.call("--sweep", runs.quick, "--out", out, "--on", "slurm", "--sbatch=--partition=nosuch", code=3)
    assert "sbatch does not take the jobs" in done.stderr and "nosuch" in done.stderr, done.stderr
    assert f"--resume {out} --on slurm" in done.stderr, done.stderr
    done = runs.call("--sweep", runs.quick, "--out", out + "2", "--sbatch=--partition=work", code=2)
    assert "--sbatch is for --on slurm" in done.stderr, done.stderr
    done = runs.call("--sweep", runs.quick, "--out", out + "3", "--on", "sulrm", code=2)
    assert "--on wants local, slurm, or ssh:HOST,HOST" in done.stderr, done.stderr


def main():
    if not slurm_cluster.present():
        assert not os.environ.get("CI"), "Slurm is not installed (slurmctld, slurmd, slurm-client)"
        print("skipped: Slurm is not installed (slurmctld, slurmd, slurm-client)")
        return 77
    with tempfile.TemporaryDirectory() as work:
        cluster = slurm_cluster.Cluster(work)
        try:
            cluster.start()
            os.environ.update(cluster.environment)
            local = runs.Runs(*sys.argv[1:3], work)
            for name, test in sorted(globals().items()):
                if name.startswith("test_"):
                    folder = os.path.join(work, name)
                    os.mkdir(folder)
                    test(local, cluster, folder)
                    print(name, "passed", flush=True)
        finally:
            cluster.stop()
    return 0


sys.exit(main())
