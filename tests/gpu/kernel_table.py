#!/usr/bin/env python3
"""Times exported kernels beside PyTorch's variants, for a table of all tasks: eager, torch.compile and max-autotune, each also under a
CUDA graph, and what a task's own variants add (attention's back ends).

usage: kernel_table.py TASKS FOLDER OUT [--gpus N] [--at-once N] [--for SECONDS] [--first WORD,...] [--timed TABLE,...]
       kernel_table.py --show|--figures OUT/times.tsv...

FOLDER has NAME.cu and NAME.h as `rkb export --c --out` writes them, each named TASK.DIRECTION.LABEL.  Each bench case of a task and direction
is a row, for a process of its own; rows of tasks that --first names, or whose precision it names, come first.  The processes share the GPUs,
as many at once as memory holds.  They compile side by side and take turns to run something: a GPU has a lock, which PyTorch's own choosing of
kernels takes too.  A row is timed twice: `early`, our kernels and eager code; and `full`, everything that
compiled, our kernels among it, in one sitting, in a random order anew in each round, each run behind an emptied second-level cache; a sitting
that something disturbed is made again.
OUT/times.tsv gets a line as soon as something is timed: task, direction, case, sitting, label, us (the median), the largest difference
from eager PyTorch as a share of its mean magnitude, and the GPU.

These are medians of one process and one set of buffers.  `rkb bench` measures with intervals (docs/timing.md)."""

import argparse
import concurrent.futures
import fcntl
import math
import os
import pathlib
import random
import subprocess
import sys
import time

import table_text
from task_sizes import bytes_of

ROUNDS = 15
FLUSH_BYTES = 256 << 20  # reads more than the second-level cache holds
SITTINGS, DISTURBED = 3, 0.04  # how often a row is timed in full at most, and the difference of a logarithm that is too much
END_SECONDS = 20  # after the limit, for rows that are being timed
MODES = {"compile": "default", "max_autotune": "max-autotune-no-cudagraphs"}


class Lock:
    """The right to run something on one GPU; whoever has it may take it again."""

    def __init__(self, path):
        self.file, self.depth = open(path, "w", encoding="utf-8"), 0

    def __enter__(self):
        if self.depth == 0:
            fcntl.flock(self.file, fcntl.LOCK_EX)
        self.depth += 1

    def __exit__(self, *_):
        self.depth -= 1
        if self.depth == 0:
            fcntl.flock(self.file, fcntl.LOCK_UN)


class Row:
    """One task and direction, in a process that has one GPU."""

    def __init__(self, given, name, direction, torch, exported, lock):
        self.given, self.name, self.direction = given, name, direction
        self.torch, self.exported, self.lock = torch, exported, lock
        import yaml

        folder = pathlib.Path(given.tasks) / name
        self.task = yaml.safe_load((folder / "task.yaml").read_text())
        self.reference = exported.load_reference(folder)
        self.stream = torch.cuda.Stream()
        self.emptied = torch.empty(FLUSH_BYTES, dtype=torch.uint8, device="cuda")
        self.flush_us = None
        self.kept = []
        self.pool = torch.cuda.graph_pool_handle()  # graphs run one at a time and nobody reads what they leave

    def flush(self):
        return self.emptied.sum(dtype=self.torch.int64)

    def say(self, line):
        with open(os.path.join(self.given.out, "log.txt"), "a", encoding="utf-8") as file:
            file.write(f"{time.monotonic() - self.given.began:.0f} s {self.name} {self.direction}: {line}\n")

    def out_of_time(self):
        return time.monotonic() - self.given.began > self.given.limit

    def captured(self, run):
        """One call as a graph, so that the host's time does not count."""
        torch = self.torch
        with torch.cuda.stream(self.stream):
            for _ in range(2):
                run()
            torch.cuda.synchronize()
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, pool=self.pool, stream=self.stream):
                run()
        torch.cuda.synchronize()
        return graph.replay

    def with_graph(self, label, run, runs, both=True):
        """Adds a variant, and the same under a graph.  A failed capture leaves the variant."""
        if both:
            runs[label] = run
        try:
            runs[label + "_graph" if both else label] = self.captured(run)
        except Exception as problem:
            self.torch.cuda.synchronize()
            runs.setdefault(label, run)
            self.say(f"{label}: no graph: {str(problem)[:200]}")

    def ours(self, case, expected):
        """Our kernels, and how far each is from PyTorch."""
        names, tensors = case
        torch, runs, errors = self.torch, {}, {}
        for source in sorted(pathlib.Path(self.given.folder).glob(f"{self.name}.{self.direction}.*.cu")):
            label = source.stem.split(".", 2)[2]
            library = pathlib.Path(self.given.out) / "built" / (source.stem + ".so")
            while not library.exists() and not library.with_suffix(".failed").exists() and not self.out_of_time():
                time.sleep(0.5)
            if not library.exists():
                self.say(f"{label}: not built")
                continue
            try:
                for tensor in expected:
                    tensors[tensor].fill_(float("nan") if tensors[tensor].is_floating_point() else 0)
                with self.lock, torch.cuda.stream(self.stream):
                    torch.cuda.synchronize()
                    kernel = self.exported.Kernel(source, library)
                    run = kernel.bind(tensors, {**names})
                    self.kept.append(run)  # a graph does not keep the scratch memory that its launches use
                    run()
                    torch.cuda.synchronize()
                    errors[label] = max((self.exported.relative_error(tensors[n], e) for n, e in expected.items()), default=math.nan)
                    self.with_graph(label, run, runs, both=False)
            except Exception as problem:
                self.say(f"{label}: {str(problem)[:200]}")
        return runs, errors

    def others(self, case):
        """What PyTorch has for a task beside the code of the task."""
        torch, (names, tensors) = self.torch, case
        runs = {}
        if self.name == "bf16_attention" and self.direction == "forward" and names["window"] >= tensors["q"].shape[2]:
            from torch.nn.attention import SDPBackend, sdpa_kernel

            for label, backend in (("sdpa_cudnn", SDPBackend.CUDNN_ATTENTION), ("sdpa_flash", SDPBackend.FLASH_ATTENTION)):
                def attend(backend=backend):
                    with sdpa_kernel([backend]):
                        return torch.nn.functional.scaled_dot_product_attention(tensors["q"], tensors["k"], tensors["v"], is_causal=True,
                                                                                scale=names["scale"], enable_gqa=True)
                runs[label] = attend
        if self.name == "attention" and self.direction == "forward":
            runs["sdpa"] = lambda: torch.nn.functional.scaled_dot_product_attention(
                tensors["q"], tensors["k"], tensors["v"], is_causal=bool(names["causal"]), scale=names["scale"])
        return runs

    def timed(self, runs):
        """Medians of microseconds."""
        torch, times = self.torch, {label: [] for label in runs}
        hosts = {}
        with torch.cuda.stream(self.stream):
            for label, run in runs.items():
                run()
                torch.cuda.synchronize()
                began = time.perf_counter()
                run()
                hosts[label] = (time.perf_counter() - began) * 1e6
                torch.cuda.synchronize()
            if self.flush_us is None:
                begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
                self.flush()
                begin.record()
                self.flush()
                end.record()
                end.synchronize()
                self.flush_us = begin.elapsed_time(end) * 1e3
            for turn in range(ROUNDS + 1):
                order = list(runs)
                random.shuffle(order)
                for label in order:
                    for _ in range(min(20, 2 + int(2 * hosts[label] / self.flush_us))):  # the GPU is busy until the host has enqueued the run
                        self.flush()
                    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
                    begin.record()
                    runs[label]()
                    end.record()
                    end.synchronize()
                    if turn:
                        times[label].append(begin.elapsed_time(end) * 1e3)
                if turn >= 5 and sum(map(sum, times.values())) > 1.5e6:
                    break
        return {label: sorted(values)[len(values) // 2] for label, values in times.items()}

    def undisturbed(self, runs, early):
        """Times again where a variant took another time than before: another row's compiled code runs once outside the lock, as PyTorch
        compiles and runs in one call.  Of three sittings it keeps the one that took least in all."""
        sittings = []
        while len(sittings) < SITTINGS and not (sittings and self.out_of_time()):
            sittings.append(self.timed(runs))
            differs = max((abs(math.log(sittings[-1][label] / us)) for label, us in early.items()), default=0)
            if differs < DISTURBED:
                break
            self.say(f"sitting {len(sittings)}: a variant differs by {math.expm1(differs):.0%} from before")
        return min(sittings, key=lambda times: sum(times.values()))

    def write(self, case, sitting, times, errors):
        with open(os.path.join(self.given.out, "times.tsv"), "a", encoding="utf-8") as file:
            file.write("".join(f"{self.name}\t{self.direction}\t{case}\t{sitting}\t{label}\t{us:.2f}\t{errors.get(label, 0):.2e}\t{self.given.gpu}\n"
                               for label, us in times.items()))

    def case(self, bench):
        torch = self.torch
        torch.manual_seed(1)
        with self.lock:
            case = self.exported.case_of(self.task, self.direction, bench)
            torch.cuda.synchronize()  # it was made on another stream
            with torch.cuda.stream(self.stream):  # backward passes run where the forward pass did
                eager = self.exported.pytorch_of(self.task, self.direction, self.reference, *case)
                expected = {n: t.detach().clone() for n, t in eager().items()}
            torch.cuda.synchronize()
        ours, errors = self.ours(case, expected)
        del expected
        runs = {}
        with self.lock:
            self.with_graph("eager", eager, runs)
            for label, run in self.others(case).items():
                try:
                    run()
                    self.with_graph(label, run, runs, both=False)
                except Exception as problem:
                    self.say(f"{label}: {str(problem)[:200]}")
            early = self.timed({**runs, **ours})
            self.write(bench["name"], "early", early, errors)
        for label, mode in MODES.items():
            if self.out_of_time():
                return
            try:
                torch._dynamo.reset()
                compiled = torch.compile(self.reference, mode=mode, dynamic=False)
                began = time.monotonic()
                with torch.cuda.stream(self.stream):
                    run = self.exported.pytorch_of(self.task, self.direction, compiled, *case, self.reference)
                    run()
                    torch.cuda.synchronize()
                self.say(f"{bench['name']} {label}: {time.monotonic() - began:.0f} s")
                with self.lock:
                    self.with_graph(label, run, runs)
            except Exception as problem:
                self.say(f"{label}: {type(problem).__name__}: {str(problem)[:200]}")
        with self.lock:
            self.write(bench["name"], "full", self.undisturbed({**runs, **ours}, early), errors)


def work(given):
    """The child's part: one row."""
    import torch
    import torch._functorch.config
    import torch._inductor.config
    import torch._inductor.runtime.benchmarking as benchmarking

    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "core", "tools", "baseline"))
    import exported_kernels
    import tuning

    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
    torch._functorch.config.donated_buffer = False  # the backward pass is run again and again
    torch._inductor.config.compile_threads = 2
    lock = Lock(os.path.join(given.out, f"gpu{given.gpu}.lock"))
    tuning.Tuning(benchmarking, lock, rough=True)  # max-autotune's full look at a product's kernels takes up to 40 s
    name, direction, case = given.row.split(":")
    row = Row(given, name, direction, torch, exported_kernels, lock)
    try:
        row.case(next(bench for bench in row.task["cases"]["bench"] if bench["name"] == case))
        row.say(f"{case}: done, {torch.cuda.max_memory_reserved() / 1e9:.1f} GB where {given.need / 1e9:.1f} were expected")
    except Exception as problem:
        row.say(f"{case}: {type(problem).__name__}: {str(problem)[:300]}")


def build(given, source):
    library = pathlib.Path(given.out) / "built" / (source.stem + ".so")
    made = library.with_suffix(".part")
    command = ["nvcc", "-std=c++17", "-O3", "-gencode=arch=compute_90a,code=sm_90a", "-shared", "-Xcompiler", "-fPIC", "-o", made, "-x", "cu", source]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        made.rename(library)
    else:
        library.with_suffix(".failed").write_text(done.stderr[-2000:])


def timed_rows(tables):
    """The rows that other tables have: their first three columns are task, direction and case."""
    return {tuple(line.split("\t")[:3]) for table in tables for line in pathlib.Path(table).read_text().splitlines()}


def rows_of(given, sources):
    """What there is to time: (need, task, direction, case), the first ones first."""
    import yaml

    rows, timed = [], timed_rows(given.timed)
    for name, direction in sorted({tuple(source.stem.split(".")[:2]) for source in sources}):
        folder = pathlib.Path(given.tasks) / name
        task = yaml.safe_load((folder / "task.yaml").read_text())
        first = min((given.first.index(word) for word in (name, task["precision"]) if word in given.first), default=len(given.first))
        for bench in task["cases"]["bench"]:
            if direction in bench.get("directions", task["directions"]) and (name, direction, bench["name"]) not in timed:
                rows.append((first, -min(bytes_of(task, folder, direction, bench), given.memory * 5e8), name, direction, bench["name"]))
    return [(-need, *rest) for _, need, *rest in sorted(rows)]


def start(given, gpu, need, row):
    seen = os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")  # which GPUs the caller lets it have
    environment = dict(os.environ, CUDA_VISIBLE_DEVICES=seen[gpu] if seen[0] else str(gpu), CUDA_MODULE_LOADING="EAGER", OMP_NUM_THREADS="2")
    command = [sys.executable, os.path.abspath(__file__), given.tasks, given.folder, given.out, "--row", ":".join(row), "--gpu", str(gpu),
               "--for", str(given.limit), "--began", str(given.began), "--need", str(need)]
    with open(os.path.join(given.out, "errors.txt"), "a", encoding="utf-8") as errors:
        return subprocess.Popen(command, env=environment, stdout=errors, stderr=errors)


def everything(given):
    os.makedirs(os.path.join(given.out, "built"), exist_ok=True)
    sources = sorted(pathlib.Path(given.folder).glob("*.cu"))
    waiting = rows_of(given, sources)
    order = [row[1:3] for row in waiting]
    sources = sorted((s for s in sources if tuple(s.stem.split(".")[:2]) in order), key=lambda s: order.index(tuple(s.stem.split(".")[:2])))
    running, free = [], [given.memory * 1e9] * given.gpus
    with concurrent.futures.ThreadPoolExecutor(max(2, len(os.sched_getaffinity(0)) - given.at_once // 2)) as builds:
        built = [builds.submit(build, given, source) for source in sources]
        while (waiting or running) and time.monotonic() - given.began < given.limit + END_SECONDS:
            for child, gpu, need in [entry for entry in running if entry[0].poll() is not None]:
                running.remove((child, gpu, need))
                free[gpu] += need
            gpu = max(range(given.gpus), key=free.__getitem__)
            fits = next((row for row in waiting if row[0] <= free[gpu] or free[gpu] == given.memory * 1e9), None)
            if fits and len(running) < given.at_once and time.monotonic() - given.began < given.limit:
                waiting.remove(fits)
                running.append((start(given, gpu, fits[0], fits[1:]), gpu, fits[0]))
                free[gpu] -= fits[0]
            else:
                time.sleep(0.1)
        for child, _, _ in running:
            child.kill()
            child.wait()
        for future in built:
            future.cancel()


def main():
    for option, what in (("--show", table_text.show), ("--figures", table_text.figures)):
        if option in sys.argv:
            return what(sys.argv[sys.argv.index(option) + 1 :])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("tasks", "folder", "out"):
        parser.add_argument(name)
    parser.add_argument("--gpus", type=int, default=1)
    parser.add_argument("--at-once", type=int, default=16, help="rows side by side, on all GPUs")
    parser.add_argument("--memory", type=float, default=72, metavar="GB", help="of a GPU that rows may need together")
    parser.add_argument("--for", dest="limit", type=float, default=1e9, metavar="SECONDS", help="begin nothing new after so long")
    parser.add_argument("--first", default=[], type=lambda text: text.split(","), metavar="WORD,...", help="tasks or precisions that come before the others")
    parser.add_argument("--timed", default=[], type=lambda text: text.split(","), metavar="TABLE,...", help="leave out the rows of these tables (as --figures prints)")
    parser.add_argument("--row", help=argparse.SUPPRESS)
    parser.add_argument("--need", type=float, default=0, help=argparse.SUPPRESS)
    parser.add_argument("--gpu", type=int, default=0, help=argparse.SUPPRESS)
    parser.add_argument("--began", type=float, default=time.monotonic(), help=argparse.SUPPRESS)
    given = parser.parse_args()
    return work(given) if given.row else everything(given)


if __name__ == "__main__":
    main()
