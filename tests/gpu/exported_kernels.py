#!/usr/bin/env python3
"""Times exported kernels beside each other and beside PyTorch on the task's bench cases, and compares what they write with PyTorch's.

usage: exported_kernels.py TASKS FOLDER OUT [--compile] [--repeat N]

FOLDER has NAME.cu and NAME.h as `rkb export --c --out` writes them, each named TASK.DIRECTION.LABEL.  All are compiled first, side by
side; then each case is run for all labels in turn, the second-level cache emptied before each timed run, and the median is printed.
OUT gets times.tsv: task, direction, case, label, us, TFLOP/s where the task is mostly products, and the largest difference from
PyTorch's result as a share of its mean magnitude.

These are times of one process, for choosing among schedules.  Published figures come from `rkb bench`."""

import concurrent.futures
import ctypes
import math
import pathlib
import re
import subprocess
import sys

import torch
import yaml
from task_sizes import evaluate, names_of, number

TYPES = {
    "float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16, "int64": torch.int64, "int32": torch.int32,
    "int8": torch.int8, "uint8": torch.uint8, "float8_e4m3fn": torch.float8_e4m3fn, "float8_e5m2": torch.float8_e5m2,
}


def compile_one(source):
    library = source.with_suffix(".so")
    command = ["nvcc", "-std=c++17", "-O3", "-gencode=arch=compute_90a,code=sm_90a", "-shared", "-Xcompiler", "-fPIC", "-o", library, "-x", "cu", source]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return library if done.returncode == 0 else done.stderr[-2000:]


class Kernel:
    """An exported launcher: its parameters by name, from the header."""

    def __init__(self, source, library):
        text = re.sub(r"\s+", " ", source.with_suffix(".h").read_text())
        prototype = re.search(r"cudaError_t (rkb_\w+)\((.*?)\);", text)
        sizes = re.search(r"int64_t (rkb_\w+_scratch_bytes)\((.*?)\);", text)
        loaded = ctypes.CDLL(str(library))
        self.call, self.scratch = getattr(loaded, prototype.group(1)), getattr(loaded, sizes.group(1))
        self.parameters = [self.parse(p) for p in prototype.group(2).split(",")]
        self.size_parameters = [self.parse(p) for p in sizes.group(2).split(",") if p.strip() != "void"]
        self.call.restype, self.scratch.restype = ctypes.c_int, ctypes.c_int64

    @staticmethod
    def parse(parameter):
        words = parameter.replace("*", " * ").split()
        return words[-1], "pointer" if "*" in words or "cudaStream_t" in words else "double" if "double" in words else "int"

    @staticmethod
    def value(kind, value):
        return {"pointer": ctypes.c_void_p, "double": ctypes.c_double, "int": ctypes.c_int64}[kind](value)

    def bind(self, tensors, numbers):
        bytes_wanted = self.scratch(*[self.value(kind, numbers[name]) for name, kind in self.size_parameters])
        self.memory = torch.empty(max(bytes_wanted, 256), dtype=torch.uint8, device="cuda")
        arguments = []
        for name, kind in self.parameters:
            if name == "scratch":
                arguments.append(ctypes.c_void_p(self.memory.data_ptr()))
            elif name == "stream":
                arguments.append(ctypes.c_void_p(torch.cuda.current_stream().cuda_stream))
            elif kind == "pointer":
                arguments.append(ctypes.c_void_p(tensors[name].data_ptr()))
            else:
                arguments.append(self.value(kind, numbers[name]))

        def run():
            status = self.call(*arguments)
            if status != 0:
                raise RuntimeError(f"CUDA error {status}")

        return run


def draw(spec, shape, names):
    init, dtype = spec.get("init", {"kind": "normal"}), TYPES[spec["dtype"]]
    kind = init["kind"]
    if kind == "integers":
        values = torch.randint(evaluate(init["low"], names), evaluate(init["high"], names), shape, device="cuda")
        return values.to(dtype)
    if kind == "uniform":
        values = torch.rand(shape, device="cuda") * (number(init["high"]) - number(init["low"])) + number(init["low"])
    elif kind == "kaiming":
        values = (torch.rand(shape, device="cuda") * 2 - 1) * math.sqrt(1 / max(1, evaluate(init["fan_in"], names)))
    elif kind == "positive":
        values = torch.rand(shape, device="cuda") * number(init.get("std", 0.5)) + 0.5
    else:
        values = torch.randn(shape, device="cuda") * number(init.get("std", 1)) + number(init.get("mean", 0))
    return values.to(dtype)


def load_reference(folder):
    names = {}
    exec(compile((folder / "reference.py").read_text(), str(folder / "reference.py"), "exec"), names)
    return names["forward_fn"]


def case_of(task, direction, bench):
    names = names_of(task, bench)
    tensors = {}
    for name, spec in task["tensors"].items():
        shape = evaluate(f"({spec['shape']},)", names) if spec["shape"] else ()
        empty = spec["role"] == "out"
        tensors[name] = torch.empty(shape, dtype=TYPES[spec["dtype"]], device="cuda") if empty else draw(spec, shape, names)
        if empty and direction == "backward":
            tensors[f"grad_{name}"] = torch.randn(shape, device="cuda").to(TYPES[spec["dtype"]])
    if direction == "backward":
        for name in task["wants_grad"]:
            tensors[f"grad_{name}"] = torch.empty_like(tensors[name])
    return names, tensors


def pytorch_of(task, direction, reference, names, tensors, plain=None):
    """A call of the reference, which returns its results by name.  plain: the function that a compiled reference was made of."""
    inputs = [n for n, s in task["tensors"].items() if s["role"] != "out"]
    outputs = [n for n, s in task["tensors"].items() if s["role"] == "out"]
    code = (plain or reference).__code__
    others = {n: names[n] for n in code.co_varnames[: code.co_argcount] if n not in tensors and n in names}
    if direction == "forward":
        def run():
            result = reference(**{n: tensors[n] for n in inputs}, **others)
            return dict(zip(outputs, result if isinstance(result, (tuple, list)) else [result]))
        return run
    wanted = task["wants_grad"]
    leaves = {n: tensors[n].detach().requires_grad_(n in wanted) for n in inputs}
    result = reference(**leaves, **others)

    given = [tensors[f"grad_{name}"] for name in outputs]

    def backward():
        grads = torch.autograd.grad(result, [leaves[n] for n in wanted], given if len(given) > 1 else given[0], retain_graph=True)
        return {f"grad_{n}": g for n, g in zip(wanted, grads)}
    return backward


def median_us(run, flush, repeat):
    times = []
    for _ in range(repeat + 2):
        flush()
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        run()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) * 1e3)
    return sorted(times[2:])[repeat // 2]


def graph_of(run):
    """One call captured, so that the host's time does not count."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(2):
            run()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        run()
    return graph.replay


PRODUCTS = {
    "bf16_gemm": lambda d: 2 * d["M"] * d["N"] * d["K"], "w8a8_gemm": lambda d: 2 * d["M"] * d["N"] * d["K"],
    "w4a16_gemm": lambda d: 2 * d["M"] * d["N"] * d["K"], "fp8_gemm": lambda d: 2 * d["M"] * d["N"] * d["K"],
    "bf16_swiglu_ffw": lambda d: 6 * d["M"] * d["D"] * d["F"], "llama_ffw": lambda d: 6 * d["B"] * d["T"] * d["D"] * d["F"],
    "unet_linear": lambda d: 2 * d["N"] * d["T"] * d["I"] * d["O"], "unet_conv2d": lambda d: 18 * d["N"] * d["C"] * d["K"] * d["P"] * d["Q"],
    "resnet_block": lambda d: 36 * d["N"] * d["C"] * d["C"] * d["H"] * d["W"],
    "gelu_mlp": lambda d: 4 * d["B"] * d["T"] * d["D"] * d["F"], "bf16_linear_cross_entropy": lambda d: 2 * d["R"] * d["V"] * d["D"],
}


def relative_error(mine, theirs):
    mine, theirs = mine.double(), theirs.double()
    scale = theirs.abs().mean().item() or 1
    return ((mine - theirs).abs().max().item() / scale) if torch.isfinite(mine).all() else math.inf


def main():
    arguments = [a for a in sys.argv[1:] if not a.startswith("--")]
    if len(arguments) < 3:
        sys.exit(__doc__)
    tasks, folder, out = map(pathlib.Path, arguments[:3])
    repeat = int(sys.argv[sys.argv.index("--repeat") + 1]) if "--repeat" in sys.argv else 15
    out.mkdir(parents=True, exist_ok=True)
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    sources = sorted(folder.glob("*.cu"))
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        built = dict(zip(sources, pool.map(compile_one, sources)))
    groups = {}
    for source, library in built.items():
        if isinstance(library, str):
            print(f"{source.name} does not compile: {library}")
            continue
        task, direction, label = source.stem.split(".", 2)
        groups.setdefault((task, direction), []).append((label, source, library))
    emptied = torch.empty(256 << 20, dtype=torch.uint8, device="cuda")
    flush = lambda: emptied.sum(dtype=torch.int64)  # reads more than the second-level cache holds
    with (out / "times.tsv").open("w") as table:
        print("task\tdirection\tcase\tlabel\tus\ttflops\terror", file=table)
        for (name, direction), kernels in groups.items():
            task = yaml.safe_load((tasks / name / "task.yaml").read_text())
            reference = load_reference(tasks / name)
            for bench in task["cases"]["bench"]:
                torch.manual_seed(1)
                names, tensors = case_of(task, direction, bench)
                numbers = {**names}
                rows = []
                expected = None
                try:
                    eager = pytorch_of(task, direction, reference, names, tensors)
                    expected = {n: t.clone() for n, t in eager().items()}
                    try:
                        rows.append(("pytorch", median_us(graph_of(eager), flush, repeat), 0.0))
                    except RuntimeError:
                        torch.cuda.synchronize()
                        rows.append(("pytorch (eager)", median_us(eager, flush, repeat), 0.0))
                    if "--compile" in sys.argv and direction == "forward":
                        compiled = torch.compile(eager, mode="max-autotune-no-cudagraphs")
                        compiled()
                        rows.append(("pytorch (compiled)", median_us(graph_of(compiled), flush, repeat), 0.0))
                except Exception as error:  # a reference that does not run is no reason to time nothing
                    print(f"{name} {direction} {bench['name']}: PyTorch: {error}")
                for label, source, library in kernels:
                    try:
                        for tensor in (expected or {}):
                            tensors[tensor].fill_(float("nan") if tensors[tensor].is_floating_point() else 0)
                        kernel = Kernel(source, library)
                        run = kernel.bind(tensors, numbers)
                        run()
                        torch.cuda.synchronize()
                        error = max((relative_error(tensors[n], e) for n, e in (expected or {}).items()), default=math.nan)
                        rows.append((label, median_us(run, flush, repeat), error))
                        del kernel, run
                    except Exception as error:
                        print(f"{name} {direction} {bench['name']} {label}: {error}")
                flops = PRODUCTS.get(name, lambda d: 0)(names) * (2 if direction == "backward" else 1)
                for label, us, error in sorted(rows, key=lambda r: r[1]):
                    line = f"{name}\t{direction}\t{bench['name']}\t{label}\t{us:.2f}\t{flops / us / 1e6:.1f}\t{error:.2e}"
                    print(line, flush=True)
                    print(line, file=table, flush=True)
                del tensors, expected
                torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
