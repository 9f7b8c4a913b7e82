#!/usr/bin/env python3
"""Every check that is too long for CTest, side by side over the cores of one machine, within a given time.

    campaigns.py --build DIR --out DIR [--sanitized DIR] [--fuzz DIR] [--cores N] [--seconds S] [--estimates FILE] [--label-cores N] [--first PART]...
           [--without PART/JOB]... [--only PART/JOB]... [--plan] [PART...]

Parts: bounds      rkb-bounds at 100 seeds, four jobs a task and direction
       families    single precision in PyTorch inside both bounds, all input families, 100 seeds, a job a task and direction
       bench       4,096 sampled elements of the bench cases against PyTorch in double precision
       label       labels of faults that have none yet; needs a GPU
       table       the fault corpus through the checking machine; after label
       sanitized   the same in a build with the sanitizers; after table
       tune        every tune setting of every correct kernel
       idioms      correct but delicate kernels and their broken twins
       stock       what stock.yaml promises, tests/campaigns/stock_claims.sh, a directory of runs a task and direction
       accepted    what those runs accepted, against the fault corpus; after stock
       fuzz        every fuzz target, --fuzz-seconds each
All when none is named; without --sanitized or --fuzz, and label without a GPU, those are left out and said to be.

What takes longest, with what waits for it, begins first; --first puts parts before the others, in their order; --without and --only choose jobs by
how their names begin.  OUT/jobs.tsv has a line for each job as it ends, OUT/<part>/<job>.txt what
it printed.  A job that ended by itself is not run again by the next call.  At the end of the time everything is stopped; what did
not run is said.  Exit: 0 when every job ran and held, 1 when one failed, 2 when one did not run.

--plan prints the schedule that the estimates give and runs nothing.  Estimates are seconds of a job with the cores that it gets;
--estimates takes an earlier jobs.tsv.
"""

import argparse
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field

PARTS = ("bounds", "families", "bench", "label", "table", "sanitized", "tune", "idioms", "stock", "accepted", "fuzz")
SEEDS = 100
PORTION = 25  # of them in one job of rkb-bounds
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
NOT_RUN, FAILED = 2, 1
# Workers of stock's run, of the one it is compared with, and of the exhaustive grid.  Directions whose candidates take seconds each
# get as many as let all of them end together.
LIGHT = (1, 4, 2)
FIRST = 1e6
PATIENCE = 30
STOCK_WORKERS = {
    "attention-backward": (10, 5, 2), "attention-forward": (6, 3, 2), "gelu_mlp-backward": (6, 3, 2), "gelu_mlp-forward": (6, 3, 2),
    "groupnorm-forward": (3, 2, 2), "layernorm-backward": (4, 2, 2), "layernorm-forward": (5, 3, 2), "llama_ffw-backward": (7, 4, 2),
    "llama_ffw-forward": (7, 4, 2), "mnist_conv_relu_pool-backward": (4, 2, 2), "resnet_block-backward": (12, 6, 4),
    "resnet_block-forward": (4, 2, 2), "resnet_block_downsample-backward": (12, 6, 4), "resnet_block_downsample-forward": (4, 2, 2),
    "unet_conv2d-backward": (6, 3, 4), "unet_conv2d-forward": (3, 2, 2),
}
# Processes, or for what is evaluated whole threads, of the bench comparison, where two would take minutes.
BENCH_THREADS = {"attention-backward": 12, "attention-forward": 4, "gelu_mlp-backward": 4, "gelu_mlp-forward": 4, "groupnorm-backward": 4,
                 "llama_ffw-backward": 6, "llama_ffw-forward": 6, "resnet_block-backward": 6, "resnet_block_downsample-backward": 6}


@dataclass
class Job:
    part: str
    name: str
    command: list
    cores: int = 1
    seconds: float = 60
    after: list = field(default_factory=list)
    environment: dict = field(default_factory=lambda: dict(ONE_THREAD))
    path: float = 0  # seconds until all that waits for it has ended
    able: object = None  # when it came first and lacked nothing but cores
    process: object = None
    began: float = 0
    ended: bool = False

    @property
    def key(self):
        return self.part + "/" + self.name


def source_directory():
    return os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def directions_of(tasks):
    """(task, direction) of every seeds folder."""
    for task in sorted(os.listdir(tasks)):
        for direction in ("forward", "backward"):
            if os.path.isdir(os.path.join(tasks, task, "seeds", direction)):
                yield task, direction


class Campaign:
    """The jobs of the parts that were asked for."""

    def __init__(self, options):
        self.options = options
        self.source = source_directory()
        self.tests = os.path.join(self.source, "tests")
        self.tasks = os.path.join(self.source, "tasks")
        self.cache = os.path.join(options.out, "cache")
        self.labels = os.path.join(options.out, "labels.tsv")
        self.left_out = []
        self.jobs = []
        for part in options.parts or PARTS:
            getattr(self, part)()
        for word in options.without:
            self.jobs = [job for job in self.jobs if not job.key.startswith(word)]
            self.left_out.append(word + ": as asked")
        if options.only:
            self.jobs = [job for job in self.jobs if job.key.startswith(tuple(options.only))]

    def add(self, part, name, command, **more):
        self.jobs.append(Job(part, name, [str(word) for word in command], **more))

    def built(self, *names):
        return os.path.join(self.options.build, *names)

    def keys(self, part):
        return [job.key for job in self.jobs if job.part == part]

    def bounds(self):
        def job(folder, more, name):
            for first in range(0, SEEDS, PORTION):
                self.add("bounds", "%s-%d" % (name, first), [self.built("tests", "reference", "rkb-bounds"), "--seeds", PORTION, "--first", first,
                                                             "--verbose"] + more + [folder])

        for task, direction in directions_of(self.tasks):
            job(os.path.join(self.tasks, task), ["--direction", direction], task + "-" + direction)
        data = os.path.join(self.tests, "task", "data")
        for name in sorted(os.listdir(data)):
            if os.path.exists(os.path.join(data, name, "task.yaml")):
                job(os.path.join(data, name), [], name)

    def compare(self, part, task, direction, more, **settings):
        command = [self.options.python, "-B", os.path.join(self.tests, "reference", "compare.py"), "--dump",
                   self.built("tests", "reference", "rkb-reference-dump"), "--tasks", self.tasks, "--task", task, "--direction", direction]
        self.add(part, task + "-" + direction, command + more, **settings)

    def families(self):
        for task, direction in directions_of(self.tasks):
            self.compare("families", task, direction, ["--float32", "--families", "all", "--seeds", SEEDS, "--threads", 1])

    def bench(self):
        for task, direction in directions_of(self.tasks):
            threads = min(BENCH_THREADS.get(task + "-" + direction, 2), self.options.cores)
            self.compare("bench", task, direction, ["--bench", "--seeds", 1, "--threads", threads], cores=threads, environment={})

    def label(self):
        jobs = min(self.options.label_cores, self.options.cores)
        faults = os.path.join(self.tests, "faults")
        if subprocess.run(["nvidia-smi"], capture_output=True, check=False).returncode if self.on_path("nvidia-smi") else True:
            self.left_out.append("label: no GPU here; the labels are those of the source")
            return
        # label.sh takes every core it finds; the last --jobs counts.
        self.add("label", "label", ["sh", os.path.join(faults, "label.sh"), self.options.build, self.labels, "--jobs", jobs, "--cache", os.path.join(self.cache, "rkb", "build"),
                                    "--until", self.options.label_seconds], cores=jobs, seconds=self.options.label_seconds)

    @staticmethod
    def on_path(name):
        return any(os.access(os.path.join(folder, name), os.X_OK) for folder in os.environ.get("PATH", "").split(":"))

    def verify(self, build, part, more, after, cores):
        faults = os.path.join(self.tests, "faults")
        self.add(part, part, [os.path.join(build, "bin", "rkb-bench-verify"), "--tasks", self.tasks, "--bases", os.path.join(faults, "bases"),
                              "--pipeline", os.path.join(faults, "machine.yaml"), "--results", os.path.join(self.options.out, part, "results.tsv"),
                              "--jobs", cores] + more, cores=cores, after=after)

    def table(self):
        self.verify(self.options.build, "table", ["--labels", self.labels], self.keys("label"), max(1, self.options.cores // 2))

    def sanitized(self):
        if not self.options.sanitized:
            self.left_out.append("sanitized: no --sanitized build was given")
            return
        self.verify(self.options.sanitized, "sanitized", ["--labels", self.labels], self.keys("table"), max(1, self.options.cores // 2))

    def tune(self):
        self.verify(self.options.build, "tune", ["--kernels", "--every-tune"], [], max(1, self.options.cores // 4))

    def idioms(self):
        # The test loads the compiler by its name.
        toolkit = os.environ.get("CUDA_HOME") or os.environ.get("CUDA_PATH") or "/usr/local/cuda"
        self.add("idioms", "idioms", [self.built("tests", "machine", "test_machine_idioms")], seconds=20,
                 environment=dict(ONE_THREAD, LD_LIBRARY_PATH=os.path.join(toolkit, "lib64")))

    def stock(self):
        claims = os.path.join(self.tests, "campaigns", "stock_claims.sh")
        for task, direction in directions_of(self.tasks):
            name = task + "-" + direction
            runs = os.path.join(self.options.out, "runs", name)
            workers = [min(jobs, self.options.cores) for jobs in STOCK_WORKERS.get(name, LIGHT)]
            if workers[0] == workers[1]:
                workers[1] = 1 if workers[0] > 1 else 2
            for claim, cores in zip(("run", "equal", "search"), workers):
                self.add("stock", name + "-" + claim, ["bash", claims, "--jobs", ",".join(map(str, workers)), self.source, self.options.build, runs,
                                                       claim, task + "/" + direction], cores=cores,
                         after=[] if claim == "run" else ["stock/" + name + "-run"])

    def accepted(self):
        script = os.path.join(self.tests, "campaigns", "accepted_faults.sh")
        for task, direction in directions_of(self.tasks):
            name = task + "-" + direction
            self.add("accepted", name, ["bash", script, self.source, self.options.build, self.labels, os.path.join(self.options.out, "runs", name, "cold")],
                     after=self.keys("label") + ["stock/" + name + "-run"])

    def fuzz(self):
        if not self.options.fuzz:
            self.left_out.append("fuzz: no --fuzz build was given")
            return
        corpus = os.path.join(self.tests, "fuzz", "corpus")
        for folder, _, files in sorted(os.walk(os.path.join(self.options.fuzz, "tests"))):
            for target in sorted(name for name in files if name.startswith("fuzz_")):
                new = os.path.join(self.options.out, "fuzz", target)
                self.add("fuzz", target, ["sh", "-c", 'mkdir -p "$2" && cd "$2" && exec "$1" -max_total_time="$4" -timeout=20 -rss_limit_mb=4096 '
                                          '-print_final_stats=1 -close_fd_mask=1 "$2" "$3"', "-", os.path.join(folder, target), new,
                                          os.path.join(corpus, target[len("fuzz_"):]), self.options.fuzz_seconds],
                         seconds=self.options.fuzz_seconds + 5)


def read_estimates(path, jobs):
    """An earlier jobs.tsv: seconds of each, as far as it ended by itself."""
    known = {}
    with open(path) as file:
        for line in file:
            key, state, seconds = line.rstrip("\n").split("\t")[:3]
            if state not in ("state", "stopped"):
                known[key] = float(seconds)
    for job in jobs:
        job.seconds = known.get(job.key, job.seconds)


def lay_paths(jobs, first):
    """path: a job's seconds and those of the longest chain behind it; much more for the parts that go first."""
    by_key = {job.key: job for job in jobs}
    for job in jobs:
        job.after = [key for key in job.after if key in by_key]
    behind = {job.key: [] for job in jobs}
    for job in jobs:
        for key in job.after:
            behind[key].append(job)

    def path(job):
        if not job.path:
            job.path = job.seconds + max((path(other) for other in behind[job.key]), default=0)
        return job.path

    for job in jobs:
        path(job)
        job.path += FIRST * (len(first) - first.index(job.part)) if job.part in first else 0


def ready(waiting, done, cores, now):
    """The job to begin next on so many free cores, or None: the one with the longest path, or while it needs more cores than are
    free the longest that does not; but nothing else once it has waited for PATIENCE seconds, for narrow ones would keep it waiting
    for ever."""
    able = [job for job in waiting if all(key in done for key in job.after)]
    first = max(able, key=lambda job: job.path, default=None)
    if not first or first.cores <= cores:
        return first
    first.able = now if first.able is None else first.able
    if now - first.able > PATIENCE:
        return None
    return max((job for job in able if job.cores <= cores), key=lambda job: job.path, default=None)


def plan(jobs, cores):
    """Prints when each job would begin and end."""
    waiting, running, done, now = list(jobs), [], set(), 0.0
    while waiting or running:
        while True:
            job = ready(waiting, done, cores - sum(other.cores for _, other in running), now)
            if not job:
                break
            waiting.remove(job)
            running.append((now + job.seconds, job))
            print("%7.0f %7.0f  %3d cores  %s" % (now, now + job.seconds, job.cores, job.key))
        if not running:  # a job wants more cores than there are
            sys.exit("nothing can begin: %s" % ", ".join(job.key for job in waiting))
        running.sort(key=lambda pair: pair[0])
        now, job = running.pop(0)
        done.add(job.key)
    print("ends after %.0f s; %.0f core seconds on %d cores" % (now, sum(job.seconds * job.cores for job in jobs), cores))


class Runner:
    """Runs the jobs; one thread, which sleeps between looks."""

    def __init__(self, campaign, options):
        self.options = options
        self.waiting = list(campaign.jobs)
        self.running = []
        self.done = set()
        self.failed = []
        self.begin = time.monotonic()
        self.table = open(os.path.join(options.out, "jobs.tsv"), "a", buffering=1)
        self.cache = campaign.cache
        if self.table.tell() == 0:
            print("job\tstate\tseconds\tprocessor_seconds\tbegan\tcores", file=self.table)
        self.skip_done()

    def now(self):
        return time.monotonic() - self.begin

    def mark(self, job):
        return os.path.join(self.options.out, "done", job.key.replace("/", "."))

    def skip_done(self):
        for job in list(self.waiting):
            if os.path.exists(self.mark(job)):
                self.waiting.remove(job)
                self.done.add(job.key)

    def start(self, job):
        folder = os.path.join(self.options.out, job.part)
        os.makedirs(folder, exist_ok=True)
        environment = dict(os.environ, XDG_CACHE_HOME=self.cache, **job.environment)
        with open(os.path.join(folder, job.name + ".txt"), "w") as output:
            job.process = subprocess.Popen(job.command, stdout=output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, env=environment,
                                           start_new_session=True, cwd=folder)
        job.began = self.now()
        self.waiting.remove(job)
        self.running.append(job)

    def note(self, job, state, processor):
        print("%s\t%s\t%.1f\t%.1f\t%.1f\t%d" % (job.key, state, self.now() - job.began, processor, job.began, job.cores), file=self.table)

    def collect(self):
        for job in list(self.running):
            pid, status, usage = os.wait4(job.process.pid, os.WNOHANG)
            if not pid:
                continue
            job.process.returncode = code = os.waitstatus_to_exitcode(status)
            self.running.remove(job)
            self.done.add(job.key)
            self.note(job, "held" if code == 0 else "exit %d" % code, usage.ru_utime + usage.ru_stime)
            if code:
                self.failed.append(job.key)
                print("[%4.0f s] %s ended with %d" % (self.now(), job.key, code), flush=True)
            else:
                open(self.mark(job), "w").close()

    def stop(self):
        for job in self.running:
            os.killpg(job.process.pid, signal.SIGTERM)
        limit = time.monotonic() + 3
        while any(job.process.poll() is None for job in self.running) and time.monotonic() < limit:
            time.sleep(0.1)
        for job in self.running:
            if job.process.poll() is None:
                os.killpg(job.process.pid, signal.SIGKILL)
            self.note(job, "stopped", 0)
        stopped, self.running = self.running, []
        return stopped

    def run(self):
        os.makedirs(os.path.join(self.options.out, "done"), exist_ok=True)
        said = 0
        while (self.waiting or self.running) and self.now() < self.options.seconds:
            while True:
                job = ready(self.waiting, self.done, self.options.cores - sum(other.cores for other in self.running), self.now())
                if not job:
                    break
                self.start(job)
            time.sleep(0.2)
            self.collect()
            if self.now() - said >= 20:
                said = self.now()
                print("[%4.0f s] %d done, %d running, %d waiting; longest: %s" % (said, len(self.done), len(self.running), len(self.waiting),
                      ", ".join(job.key for job in sorted(self.running, key=lambda job: job.began)[:4])), flush=True)
        stopped = self.stop()
        for job in stopped + self.waiting:
            print("not run to its end: %s" % job.key)
        print("[%4.0f s] %d ended, %d of them failed: %s" % (self.now(), len(self.done), len(self.failed), ", ".join(self.failed) or "none"))
        self.table.close()
        return NOT_RUN if stopped or self.waiting else FAILED if self.failed else 0


def read_options():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("parts", nargs="*", choices=PARTS + ((),), default=())
    parser.add_argument("--build", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--sanitized")
    parser.add_argument("--fuzz")
    parser.add_argument("--cores", type=int, default=os.cpu_count())
    parser.add_argument("--seconds", type=float, default=86400)
    parser.add_argument("--fuzz-seconds", type=int, default=240)
    parser.add_argument("--label-seconds", type=int, default=120)
    parser.add_argument("--label-cores", type=int, default=16)
    parser.add_argument("--python", default="python3", help="one with PyTorch")
    parser.add_argument("--estimates")
    parser.add_argument("--first", action="append", default=[], choices=PARTS)
    parser.add_argument("--without", action="append", default=[], metavar="PART/JOB")
    parser.add_argument("--only", action="append", default=[], metavar="PART/JOB")
    parser.add_argument("--plan", action="store_true")
    options = parser.parse_args()
    for name in ("build", "out", "sanitized", "fuzz"):
        if getattr(options, name):
            setattr(options, name, os.path.abspath(getattr(options, name)))
    return options


def main():
    options = read_options()
    os.makedirs(options.out, exist_ok=True)
    campaign = Campaign(options)
    if options.estimates:
        read_estimates(options.estimates, campaign.jobs)
    lay_paths(campaign.jobs, options.first)
    for line in campaign.left_out:
        print("left out: " + line)
    if options.plan:
        plan(campaign.jobs, options.cores)
        return 0
    if not os.path.exists(campaign.labels):
        with open(os.path.join(campaign.tests, "faults", "labels.tsv")) as source, open(campaign.labels, "w") as copy:
            copy.write(source.read())
    return Runner(campaign, options).run()


if __name__ == "__main__":
    sys.exit(main())
