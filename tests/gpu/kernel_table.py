#!/usr/bin/env python3
"""Times exported kernels beside PyTorch's variants, for a table of all tasks: eager, torch.compile and max-autotune, each also under a
CUDA graph, and what a task's own variants add (attention's back ends).

usage: kernel_table.py TASKS FOLDER OUT [--gpus N] [--at-once N] [--for SECONDS] [--first TASK,...]
       kernel_table.py --show|--figures OUT/times.tsv...

FOLDER has NAME.cu and NAME.h as `rkb export --c --out` writes them, each named TASK.DIRECTION.LABEL.  Each task and direction is a row of
work for a process of its own; the processes share the GPUs.  They compile side by side and take turns to run something: a GPU has a lock,
which PyTorch's own choosing of kernels takes too.  A row is timed twice: `early`, our kernels and eager code; and `full`, everything that
compiled, our kernels among it, in one sitting, in a random order anew in each round, each run behind an emptied second-level cache.
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

ROUNDS = 15
FLUSH_BYTES = 256 << 20  # reads more than the second-level cache holds
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
            with torch.cuda.graph(graph, stream=self.stream):
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
        if self.name == "bf16_attention" and names["window"] >= tensors["q"].shape[2]:
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
            self.write(bench["name"], "early", self.timed({**runs, **ours}), errors)
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
            self.write(bench["name"], "full", self.timed({**runs, **ours}), errors)


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
    row = Row(given, *given.row.split(":"), torch, exported_kernels, lock)
    for bench in row.task["cases"]["bench"]:
        if row.out_of_time():
            break
        try:
            row.case(bench)
        except Exception as problem:
            row.say(f"{bench['name']}: {type(problem).__name__}: {str(problem)[:300]}")
        torch.cuda.empty_cache()


def build(given, source):
    library = pathlib.Path(given.out) / "built" / (source.stem + ".so")
    made = library.with_suffix(".part")
    command = ["nvcc", "-std=c++17", "-O3", "-gencode=arch=compute_90a,code=sm_90a", "-shared", "-Xcompiler", "-fPIC", "-o", made, "-x", "cu", source]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        made.rename(library)
    else:
        library.with_suffix(".failed").write_text(done.stderr[-2000:])


def everything(given):
    os.makedirs(os.path.join(given.out, "built"), exist_ok=True)
    sources = sorted(pathlib.Path(given.folder).glob("*.cu"))
    rows = sorted({tuple(source.stem.split(".")[:2]) for source in sources}, key=lambda row: (row[0] not in given.first, row))
    sources.sort(key=lambda source: rows.index(tuple(source.stem.split(".")[:2])))

    def run(number):
        name, direction = rows[number]
        gpu = number % given.gpus
        left = given.limit + 20 - (time.monotonic() - given.began)
        environment = dict(os.environ, CUDA_VISIBLE_DEVICES=str(gpu), CUDA_MODULE_LOADING="EAGER", OMP_NUM_THREADS="2")
        command = [sys.executable, os.path.abspath(__file__), given.tasks, given.folder, given.out, "--row", f"{name}:{direction}", "--gpu", str(gpu),
                   "--for", str(given.limit), "--began", str(given.began)]
        try:
            with open(os.path.join(given.out, "errors.txt"), "a", encoding="utf-8") as errors:
                if left > 20:
                    subprocess.run(command, env=environment, stdout=errors, stderr=errors, timeout=left, check=False)
        except subprocess.TimeoutExpired:
            pass

    with concurrent.futures.ThreadPoolExecutor(given.at_once) as rows_pool, concurrent.futures.ThreadPoolExecutor(max(2, (os.cpu_count() or 2) - given.at_once)) as builds:
        built = [builds.submit(build, given, source) for source in sources]
        for done in [rows_pool.submit(run, number) for number in range(len(rows))]:
            done.result()
        for future in built:
            future.cancel()


def is_pytorch(label):
    return label.startswith(("eager", "compile", "max_autotune", "sdpa"))


def read_times(paths):
    """By task, direction and case: the times of the fullest sitting, of several files the last one's, and whether it is full."""
    cases = {}
    for path in paths:
        own = {}
        for line in pathlib.Path(path).read_text().splitlines():
            task, direction, case, sitting, label, us, error, _ = line.split("\t")
            own.setdefault((task, direction, case), {}).setdefault(sitting, {})[label] = (float(us), float(error))
        for case, sittings in own.items():
            if "full" in sittings or not cases.get(case, (None, False))[1]:
                cases[case] = (sittings.get("full") or sittings["early"], "full" in sittings)
    return sorted(cases.items())


def figures(paths):
    """One line a case, tab-separated."""
    variants = ["eager", "eager_graph", "compile", "compile_graph", "max_autotune", "max_autotune_graph"]
    print("\t".join(["task", "direction", "case", *variants, "others", "ours"]))
    for key, (times, _) in read_times(paths):
        others = [label for label in times if is_pytorch(label) and label not in variants]
        ours = [label for label in times if not is_pytorch(label)]
        print("\t".join([*key, *(f"{times[v][0]:.5g}" if v in times else "" for v in variants),
                         *(", ".join(f"{label} {times[label][0]:.5g}" for label in sorted(group, key=times.get)) for group in (others, ours))]))


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def show(paths):
    """The table."""
    print("| task | direction | case | ours us | which | difference | PyTorch us | which | PyTorch / ours | from the graph us |\n"
          "|---|---|---|--:|---|--:|--:|---|--:|--:|")
    ratios = []
    for (task, direction, case), (times, full) in read_times(paths):
        ours = min(((us, label, error) for label, (us, error) in times.items() if not is_pytorch(label)), default=None)
        theirs = min(((us, label) for label, (us, _) in times.items() if is_pytorch(label)), default=None)
        if not ours or not theirs:
            continue
        graph = f"{times['suited'][0]:.5g}" if "suited" in times else ""
        difference = "" if math.isnan(ours[2]) else f"{ours[2]:.0e}"
        ratios.append((task, full, theirs[0] / ours[0]))
        print(f"| {task} | {direction} | {case} | {ours[0]:.5g} | {ours[1]} | {difference} | {theirs[0]:.5g} | {theirs[1]}{'' if full else ' *'} | "
              f"{theirs[0] / ours[0]:.2f} | {graph} |")
    narrow = ("bf16_", "fp16_", "fp8_", "w4a16", "w8a8", "top_k", "sample_")
    for name, wanted in (("float32", False), ("narrow", True)):
        chosen = [ratio for task, full, ratio in ratios if full and task.startswith(narrow) == wanted]
        if chosen:
            print(f"\n{name}: geometric mean {geometric_mean(chosen):.3f} over {len(chosen)} cases, least {min(chosen):.2f}, below 0.85: "
                  f"{sum(ratio < 0.85 for ratio in chosen)}")
    print("\n*: eager code alone was timed, its graph included; such cases are in no mean.")


def main():
    for option, what in (("--show", show), ("--figures", figures)):
        if option in sys.argv:
            return what(sys.argv[sys.argv.index(option) + 1 :])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("tasks", "folder", "out"):
        parser.add_argument(name)
    parser.add_argument("--gpus", type=int, default=1)
    parser.add_argument("--at-once", type=int, default=16, help="rows side by side")
    parser.add_argument("--for", dest="limit", type=float, default=1e9, metavar="SECONDS", help="begin nothing new after so long")
    parser.add_argument("--first", default=[], type=lambda text: text.split(","), metavar="TASK,...", help="tasks that come before the others")
    parser.add_argument("--row", help=argparse.SUPPRESS)
    parser.add_argument("--gpu", type=int, default=0, help=argparse.SUPPRESS)
    parser.add_argument("--began", type=float, default=time.monotonic(), help=argparse.SUPPRESS)
    given = parser.parse_args()
    return work(given) if given.row else everything(given)


if __name__ == "__main__":
    main()
