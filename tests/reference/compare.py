"""Holds the evaluator against PyTorch: reference.py in double precision, on the evaluator's own inputs.

    /usr/bin/python3 compare.py --dump PROGRAM --tasks FOLDER [--task NAME]... [--direction D] [--seeds N] [--threads 2]
                                [--bench [bench|whole]] [--differences] [--outside] [--float32 [--families all|NAME]]

Default: |evaluator - torch in double| <= max(1e-11 max|row|, 64 bounds at u = 2^-53), autograd for backward, outside ambiguous
elements; one seed, or three where RKB_LONG is set.  PROGRAM may be a folder of what it wrote (torch2.sh).
--float32      torch in single precision instead, as one more correct implementation, wanted inside both bounds
--stored       torch in the types that the task stores, PyTorch's own kernels, wanted inside both bounds: tasks with a narrow type
               alone.  On the processor, sums are in fp32 and rounded once, as devices do: torch 1.13 adds bfloat16 products in bfloat16
               there, and has no group norm in float16.  On a device, where the evaluator need not be:
                  compare.py --dump PROGRAM --tasks FOLDER --keep DUMPS [--families all] [--seeds 3]      here
                  compare.py --dump DUMPS --tasks FOLDER --stored --device cuda                           there
--differences  the gradients against central differences of the forward pass
--outside      a line for every output outside a bound: the element that is furthest out, and what the bounds are there
--bench        4,096 sampled elements of the bench cases, from as many processes as there are threads; "whole", and where one
               element takes it: of whole tensors, which takes tens of gigabytes
Prints the worst ratio of each task; 1 when one exceeds 1.
"""

import argparse
import contextlib
import glob
import importlib.util
import inspect
import json
import mmap
import os
import re
import subprocess
import sys
import tempfile

import numpy
import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

AMBIGUOUS, DONT_CARE = 1, 2
PORTION = 5  # seeds
# One element of a weight's gradient is a sum over batch and space of what the whole forward pass decides, one of a key's a sum
# over the softmax of every query: point by point they take hours.
WHOLE = {("attention", "backward"), ("bf16_attention", "backward"), ("resnet_block", "backward"), ("resnet_block_downsample", "backward")}
TO_DOUBLE = 2.0**-29  # from the unit of float32, 2^-24, to that of float64, 2^-53: bounds are linear in it
DTYPES = {"float32": numpy.float32, "float64": numpy.float64, "int64": numpy.int64, "int32": numpy.int32, "uint8": numpy.uint8,
          "int8": numpy.int8, "float16": numpy.float16, "bfloat16": numpy.uint16, "float8_e4m3fn": numpy.uint8, "float8_e5m2": numpy.uint8}
NARROW = {"float16", "bfloat16", "float8_e4m3fn", "float8_e5m2"}


def eighths(exponent_bits, fraction_bits, infinite):
    """The 256 numbers of an 8-bit float type."""
    numbers, bias = [], 2 ** (exponent_bits - 1) - 1
    for bits in range(256):
        exponent, fraction = bits >> fraction_bits & (1 << exponent_bits) - 1, bits & (1 << fraction_bits) - 1
        last = exponent == (1 << exponent_bits) - 1
        size = (fraction + (1 << fraction_bits if exponent else 0)) * 2.0 ** (max(exponent, 1) - bias - fraction_bits)
        if last and infinite:
            size = float("nan") if fraction else float("inf")
        elif last and fraction == (1 << fraction_bits) - 1:
            size = float("nan")
        numbers.append(-size if bits >> 7 else size)
    return numpy.array(numbers)


EIGHTHS = {"float8_e4m3fn": eighths(4, 3, False), "float8_e5m2": eighths(5, 2, True)}


def numbers_of(array, dtype):
    """A tensor of the numbers that the bytes of a type stand for; narrow ones as float32, which holds them."""
    if dtype == "bfloat16":
        return torch.from_numpy((array.astype(numpy.uint32) << 16).view(numpy.float32))
    if dtype in EIGHTHS:
        return torch.from_numpy(EIGHTHS[dtype][array].astype(numpy.float32))
    return torch.from_numpy(array.astype(numpy.float32) if dtype == "float16" else array.copy())


def rounded(tensor, dtype):
    """tensor rounded to a narrow type, in its own type; torch 1.13 has no 8-bit floats."""
    if hasattr(torch, dtype):
        return tensor.to(getattr(torch, dtype)).to(tensor.dtype)
    places = torch.from_numpy(numpy.unique(EIGHTHS[dtype][numpy.isfinite(EIGHTHS[dtype])])).to(tensor.dtype)
    above = torch.bucketize(tensor.contiguous(), places).clamp(1, len(places) - 1)
    low, high = places[above - 1], places[above]
    even = (above - 1) % 2 == len(places) // 2 % 2  # 0 is even, and so is every second number from it
    nearer_low = (tensor - low < high - tensor) | ((tensor - low == high - tensor) & even)
    return torch.where(nearer_low, low, high)


class Rounded(torch.autograd.Function):
    """A conversion as autograd has it: the gradient passes."""

    @staticmethod
    def forward(context, tensor, dtype):
        return rounded(tensor, dtype)

    @staticmethod
    def backward(context, gradient):
        return gradient, None


class OtherPrecision(TorchFunctionMode):
    """Runs code that converts between types in another precision, the type `real`.  A conversion to float32 or float64 gives it.
    A conversion to a narrow type rounds the numbers; they have the type `real` too."""

    def __init__(self, real, rounds=True):
        super().__init__()
        self.real, self.rounds = real, rounds

    def converted(self, tensor, dtype):
        name = str(dtype).split(".")[-1]
        if name in NARROW and tensor.is_floating_point():
            return Rounded.apply(tensor, name) if self.rounds else tensor
        return tensor.to(self.real if dtype.is_floating_point else dtype)

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        name = getattr(function, "__name__", "")
        if name in ("float", "half", "bfloat16", "to") and args and isinstance(args[0], torch.Tensor):
            named = {"float": torch.float32, "half": torch.float16, "bfloat16": torch.bfloat16}
            wanted = kwargs.pop("dtype", None) or (args[1] if name == "to" and len(args) > 1 else named.get(name))
            if isinstance(wanted, torch.Tensor):
                wanted = wanted.dtype
            if isinstance(wanted, torch.dtype):
                return self.converted(args[0], wanted)
        # A number that is written as a float32 is rounded to one.
        if name != "tensor" and isinstance(kwargs.get("dtype"), torch.dtype) and kwargs["dtype"].is_floating_point:
            kwargs["dtype"] = self.real
        return function(*args, **kwargs)


class FloatSums(TorchDispatchMode):
    """Computes sums of narrow numbers, and smooth functions of several steps, in float32, and rounds the result once."""

    IN_FLOAT32 = {"mm", "addmm", "bmm", "baddbmm", "convolution", "convolution_backward", "native_group_norm", "native_group_norm_backward",
                  "native_layer_norm", "native_layer_norm_backward", "embedding_dense_backward", "sum", "silu", "silu_backward", "gelu",
                  "gelu_backward"}
    STATISTICS = {"native_group_norm": 1, "native_layer_norm": 1}  # results from this one on stay float32

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        name, kwargs = function.__name__.split(".")[0], dict(kwargs or {})
        narrow = [value.dtype for value in args if isinstance(value, torch.Tensor) and value.dtype in (torch.bfloat16, torch.float16)]
        if name not in self.IN_FLOAT32 or not narrow or kwargs.get("dtype"):
            return function(*args, **kwargs)
        results = function(*[value.float() if isinstance(value, torch.Tensor) and value.is_floating_point() else value for value in args], **kwargs)
        if isinstance(results, torch.Tensor):
            return results.to(narrow[0])
        kept = self.STATISTICS.get(name, len(results))
        return tuple(value if value is None or i >= kept else value.to(narrow[0]) for i, value in enumerate(results))


def load_reference(folder):
    spec = importlib.util.spec_from_file_location("reference", os.path.join(folder, "reference.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def by_signature(forward_fn):
    """forward_fn's parameters are tensors, dims and attributes of the task, by name."""
    names = list(inspect.signature(forward_fn).parameters)
    return lambda tensors, settings: forward_fn(*[tensors[name] if name in tensors else settings[name] for name in names])


def array_of(data, key_range, dtype):
    offset, count = key_range
    return numpy.frombuffer(data, dtype, count // numpy.dtype(dtype).itemsize, offset)


class Points:
    """What the evaluator says of an output: value, hard, stat, flags, and elements when they are a sample."""

    def __init__(self, run, number):
        for name, dtype in (("value", numpy.float64), ("hard", numpy.float64), ("stat", numpy.float64), ("flags", numpy.uint8)):
            setattr(self, name, run.output(number, name, dtype))
        sampled = "elements" in run.entry["outputs"][number]
        self.elements = run.output(number, "elements", numpy.uint64).astype(numpy.int64) if sampled else None


class Run:
    """One (case, family, seed) of a dump.  parts: (data, entry) of each process that dumped some of its points."""

    def __init__(self, parts, direction):
        self.parts = parts
        self.data, self.entry = parts[0]
        self.backward = direction == "backward"

    def array(self, key_range, dtype):
        return array_of(self.data, key_range, dtype)

    def output(self, number, name, dtype):
        return numpy.concatenate([array_of(data, entry["outputs"][number][name], dtype) for data, entry in self.parts])

    def inputs(self, real, device="cpu"):
        """real: the type of every float tensor; None: its own."""
        tensors = {}
        for tensor in self.entry["inputs"]:
            array = self.array(tensor["data"], DTYPES[tensor["dtype"]]).reshape(tensor["shape"])
            value = numbers_of(array, tensor["dtype"])
            own = getattr(torch, tensor["dtype"], None)
            tensors[tensor["name"]] = value.to(device, (real or own) if value.is_floating_point() else value.dtype)
        return tensors

    def is_narrow(self):
        return any(tensor["dtype"] in NARROW | {"int8"} for tensor in self.entry["inputs"])

    def outputs(self, function, real, device="cpu"):
        """name -> what PyTorch computes; function(tensors, settings) gives one tensor or a tuple."""
        with OtherPrecision(real) if real else FloatSums() if device == "cpu" else contextlib.nullcontext():
            return self.computed(function, self.inputs(real, device))

    def computed(self, function, tensors):
        settings = dict(self.entry["dims"], **self.entry["attributes"])
        names = [output["name"] for output in self.entry["outputs"]]
        wanted = [name[len("grad_") :] for name in names] if self.backward else []
        for name in wanted:
            tensors[name].requires_grad_()
        result = function(tensors, settings)
        result = result if isinstance(result, tuple) else (result,)
        if not self.backward:
            return dict(zip(names, result))
        given = [tensor["name"] for tensor in self.entry["inputs"][: len(result)]]
        assert all(name.startswith("grad_") for name in given), "a backward direction lists the outputs' gradients first"
        sources = [tensors[name] for name in wanted]
        gradients = torch.autograd.grad(result, sources, [tensors[name] for name in given], allow_unused=True)
        zeroed = [torch.zeros_like(source) if gradient is None else gradient for source, gradient in zip(sources, gradients)]
        return dict(zip(names, zeroed))


def ratios(points, name, torch_value, single):
    """(largest share of hard, of stat, how many elements count)."""
    want, hard, stat, flags = points.value, points.hard, points.stat, points.flags
    whole = torch_value.detach().double().cpu().numpy()
    sizes = numpy.where(numpy.isnan(whole), 0, numpy.abs(whole))
    rows = numpy.broadcast_to(sizes.max(axis=-1, keepdims=True), whole.shape) if whole.ndim else sizes
    got, rows = whole.reshape(-1), rows.reshape(-1) if points.elements is None else rows
    if points.elements is not None:
        got, rows = got[points.elements], rows[numpy.unravel_index(points.elements, whole.shape)]
    assert got.shape == want.shape, "%s: torch gives %d elements, the evaluator %d" % (name, got.size, want.size)
    error = numpy.abs(got - want)
    error[~numpy.isfinite(error)] = numpy.inf
    error[(got == want) | (numpy.isnan(got) & numpy.isnan(want))] = 0
    if single:
        counts = (flags & DONT_CARE) == 0
        return share(error, hard, counts), share(error, stat, counts & (stat >= 0)), int(counts.sum())
    counts = (flags & (AMBIGUOUS | DONT_CARE)) == 0
    return share(error, numpy.maximum(1e-11 * rows, 64 * TO_DOUBLE * hard), counts), 0.0, int(counts.sum())


def furthest(points, torch_value, bound):
    """One line on the element whose error is the largest share of a bound: points.hard or points.stat."""
    got = torch_value.detach().double().cpu().numpy().reshape(-1)
    got = got if points.elements is None else got[points.elements]
    error = numpy.abs(got - points.value)
    error[~numpy.isfinite(error)] = numpy.inf
    error[(got == points.value) | (numpy.isnan(got) & numpy.isnan(points.value))] = 0
    counts = ((points.flags & DONT_CARE) == 0) & (bound >= 0)
    shares = numpy.where(counts, numpy.divide(error, bound, out=numpy.where(error > 0, numpy.inf, 0.0), where=bound > 0), 0.0)
    i = int(shares.argmax())
    return "%d of %d elements outside; element %d: torch %.9g, reference %.17g, hard %.3g, stat %.3g, flags %d" % (
        int((shares > 1).sum()), shares.size, i if points.elements is None else int(points.elements[i]), got[i], points.value[i], points.hard[i],
        points.stat[i], points.flags[i])


def share(error, bound, counts):
    error, bound = error[counts], bound[counts]
    used = numpy.divide(error, bound, out=numpy.where(error > 0, numpy.inf, 0.0), where=bound > 0)
    return float(used.max()) if used.size else 0.0


def dumps_of(options, task, direction):
    """The runs that the dump program gives, a few seeds at a time, for all of them may be more than fits into memory; or
    those it gave into options.dump/TASK-DIRECTION before."""
    if os.path.isdir(options.dump):
        yield runs_of([os.path.join(options.dump, "%s-%s" % (os.path.basename(task), direction))], direction)
        return
    kind = options.bench or "check"
    if kind == "bench" and (os.path.basename(task), direction) in WHOLE:
        kind = "whole"
    parts = options.threads if kind == "bench" else 1
    environment = dict(os.environ)
    if options.bench:
        environment.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), str(options.threads // parts)))
    for first in range(1, options.seeds + 1, PORTION):
        seeds = "%d-%d" % (first, min(first + PORTION - 1, options.seeds))
        with tempfile.TemporaryDirectory() as folder:
            folders = [os.path.join(folder, str(part)) for part in range(1, parts + 1)]
            running = []
            for part, into in enumerate(folders, 1):
                os.mkdir(into)
                command = [options.dump, task, direction, into, seeds, kind, options.families, "%d/%d" % (part, parts)]
                running.append(subprocess.Popen(command, env=environment))
            if any([process.wait() for process in running]):
                raise subprocess.CalledProcessError(1, options.dump)
            runs = runs_of(folders, direction)
        yield runs


def held(dump, task, direction, seeds, function, family="normal", limit=None):
    """(largest share of hard, where) of a task's check cases on data of a family, against function(tensors, settings); None where the task has no
    such family.  limit: seconds for the expected values."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([dump, task, direction, folder, "1-%d" % seeds, "check", family], check=True, timeout=limit)
        comparison = Comparison()
        comparison.add(runs_of([folder], direction), function, False)
    runs, hard, _, where = comparison.result()
    if family == "normal":
        return (hard if runs else float("nan")), where
    return comparison.hard if runs else None, comparison.where  # where NaN goes is what is wanted, and many elements may be don't-care


def runs_of(folders, direction):
    dumped = []
    for folder in folders:
        with open(os.path.join(folder, "index.json")) as file:
            index = json.load(file)
        with open(os.path.join(folder, "data.bin"), "rb") as file:
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if os.path.getsize(file.name) else b""
        dumped.append([(data, entry) for entry in index["runs"]])
    return [Run(parts, direction) for parts in zip(*dumped)]


class Comparison:
    """The worst share of both bounds over runs, and where it was; nan when most elements do not count."""

    def __init__(self):
        self.hard = self.stat = 0.0
        self.runs = self.counted = self.total = 0
        self.where = ""
        self.outside = []  # lines

    def add(self, runs, function, single, stored=False, device="cpu"):
        runs = [run for run in runs if not stored or run.is_narrow()]
        self.runs += len(runs)
        for run in runs:
            outputs = run.outputs(function, None if stored else torch.float32 if single else torch.float64, device)
            for number, tensor in enumerate(run.entry["outputs"]):
                points = Points(run, number)
                hard, stat, count = ratios(points, tensor["name"], outputs[tensor["name"]], single)
                self.counted += count
                self.total += points.value.size
                stat = stat if run.entry["stat"] else 0.0
                for name, used, bound in (("hard", hard, points.hard), ("stat", stat, points.stat)):
                    if used > 1:
                        place = "%s %s seed %d %s" % (run.entry["case"], run.entry["family"], run.entry["seed"], tensor["name"])
                        self.outside.append("%s: %.3g of %s; %s" % (place, used, name, furthest(points, outputs[tensor["name"]], bound)))
                if max(hard, stat) > max(self.hard, self.stat):
                    self.where = "%s %s seed %d %s" % (run.entry["case"], run.entry["family"], run.entry["seed"], tensor["name"])
                self.hard, self.stat = max(self.hard, hard), max(self.stat, stat)

    def result(self):
        if 2 * self.counted < self.total:
            return self.runs, float("nan"), float("nan"), "%d of %d elements are ambiguous or don't-care" % (self.total - self.counted, self.total)
        return self.runs, self.hard, self.stat, "%s (%d elements)" % (self.where, self.counted)


def rounds_within(task):
    """Whether the reference rounds to a narrow type: its gradient is that at the rounded values then, and a quotient's is not."""
    with open(os.path.join(task, "reference.graph.yaml")) as file:
        return re.search(r"op: to,.*attr: \{dtype: (%s)\}" % "|".join(NARROW), file.read()) is not None


def differences(runs, function, tolerance):
    """Largest (difference quotient - gradient) over its tolerance, a share of the sum of sizes, along one random direction a run; forward
    alone, so independent of autograd.  Runs with a kink nearby have no derivative and are left out; the second number is how many
    were used."""
    worst, used, where = 0.0, 0, ""
    step = 2.0**-18  # error about step^2 and 2^-52 / step, both near 1e-11
    real = OtherPrecision(torch.float64, rounds=False)  # a rounding has no slope

    def wide(tensors, settings):
        with real:
            return function(tensors, settings)

    for run in runs:
        if any((run.array(tensor["flags"], numpy.uint8) & (AMBIGUOUS | DONT_CARE)).any() for tensor in run.entry["outputs"]):
            continue
        tensors = run.inputs(torch.float64)
        settings = dict(run.entry["dims"], **run.entry["attributes"])
        generator = torch.Generator().manual_seed(run.entry["seed"])
        predicted = magnitude = 0.0
        ahead, behind = dict(tensors), dict(tensors)
        for output in run.entry["outputs"]:
            name = output["name"][len("grad_") :]
            direction = torch.randn(tensors[name].shape, generator=generator, dtype=torch.float64)
            gradient = torch.from_numpy(run.array(output["value"], numpy.float64).copy()).reshape(direction.shape)
            predicted += float((gradient * direction).sum())
            magnitude += float((gradient * direction).abs().sum())
            ahead[name] = tensors[name] + step * direction
            behind[name] = tensors[name] - step * direction
        measured = bend = 0.0
        results = [wide(side, settings) for side in (ahead, tensors, behind)]
        results = [result if isinstance(result, tuple) else (result,) for result in results]
        for i, (after, here, before) in enumerate(zip(*results)):
            seed = tensors[run.entry["inputs"][i]["name"]]
            measured += float(((after - before) * seed).sum()) / (2 * step)
            bend += float(((after - 2 * here + before) * seed).sum()) / (2 * step)
        if abs(bend) > 1e-4 * magnitude + 1e-9:  # a kink (relu, max) within the step; its error is at most the bend
            continue
        share = abs(measured - predicted) / (tolerance * magnitude + 1e-9 + abs(bend))
        used += 1
        if share > worst:
            worst, where = share, "%s seed %d" % (run.entry["case"], run.entry["seed"])
    return worst, used, where


def hold(options, task, direction):
    """(runs, largest share of hard, of stat, where) of one task and direction."""
    function = by_signature(load_reference(task).forward_fn)
    dumps = dumps_of(options, task, direction)
    try:
        if options.differences:
            runs = [run for portion in dumps for run in portion]
            hard, used, where = differences(runs, function, 2.0**-8 if rounds_within(task) else 1e-6)
            return (used if 2 * used >= len(runs) else 0), hard, 0.0, where
        comparison = Comparison()
        for runs in dumps:
            comparison.add(runs, function, options.float32 or options.stored, options.stored, options.device)
        for line in comparison.outside if options.outside else ():
            print("   %s %s %s" % (os.path.basename(task), direction, line), flush=True)
        return comparison.result()
    except subprocess.CalledProcessError:
        return 0, float("nan"), float("nan"), "the evaluator failed"
    except RuntimeError as error:  # this PyTorch has no such kernel for the type
        return 0, float("nan"), float("nan"), "PyTorch: %s" % str(error).splitlines()[0][:150]


def directions_of(task):
    with open(os.path.join(task, "task.yaml")) as file:
        line = next(line for line in file if line.startswith("directions:"))
    return [word.strip() for word in line.split("[")[1].split("]")[0].split(",")]


def names_of(options):
    """The tasks that are asked for; of a folder of dumps, those that it has."""
    names = options.task or sorted(os.path.dirname(path) for path in glob.glob("*/task.yaml", root_dir=options.tasks))
    if os.path.isdir(options.dump):
        names = [name for name in names if glob.glob(os.path.join(options.dump, name + "-*ward"))]
    return names


def keep_all(options):
    """Writes the dumps of every task with a narrow type into options.keep/TASK-DIRECTION."""
    for name in names_of(options):
        task = os.path.join(options.tasks, name)
        with open(os.path.join(task, "task.yaml")) as file:
            if not (NARROW | {"int8"}) & set(re.findall(r"dtype: (\w+)", file.read())):
                continue
        for direction in directions_of(task):
            into = os.path.join(options.keep, "%s-%s" % (name, direction))
            os.makedirs(into, exist_ok=True)
            subprocess.run([options.dump, task, direction, into, "1-%d" % options.seeds, "check", options.families], check=True)


def in_turns(directions, number):
    """Every second task has its directions the other way round, so that every second direction of all tasks is not forward alone."""
    return directions[::-1] if number % 2 else directions


def hold_all(options):
    """Prints a line a task and direction; how many were outside."""
    names = names_of(options)
    failed = 0
    print("%-26s %-9s %5s  %10s  %10s  %s" % ("task", "direction", "runs", "of hard", "of stat", "worst at"))
    wanted = [(name, direction) for number, name in enumerate(names) for direction in in_turns(directions_of(os.path.join(options.tasks, name)), number)
              if direction == (options.direction or direction) and not (options.differences and direction == "forward")]
    for name, direction in wanted if "RKB_LONG" in os.environ else wanted[options.first::options.apart]:
        runs, hard, stat, where = hold(options, os.path.join(options.tasks, name), direction)
        bad = not (runs and hard <= 1 and stat <= 1)
        failed += bad
        print("%-26s %-9s %5d  %10.3g  %10.3g  %s%s" % (name, direction, runs, hard, stat, where, "  OUTSIDE" if bad else ""), flush=True)
    return failed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dump", required=True)
    parser.add_argument("--tasks", required=True)
    parser.add_argument("--task", action="append")
    parser.add_argument("--direction", choices=("forward", "backward"))
    parser.add_argument("--seeds", type=int, default=3 if "RKB_LONG" in os.environ else 1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--families", default="normal", help="normal, all, or the name of another family")
    parser.add_argument("--bench", nargs="?", const="bench", choices=("bench", "whole"))
    parser.add_argument("--float32", action="store_true")
    parser.add_argument("--differences", action="store_true")
    parser.add_argument("--outside", action="store_true")
    parser.add_argument("--stored", action="store_true")
    parser.add_argument("--apart", type=int, default=1, help="every so manieth direction of the tasks alone, unless RKB_LONG is set")
    parser.add_argument("--first", type=int, default=0, help="how many directions --apart leaves out before the first")
    parser.add_argument("--keep")
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    if options.keep:
        keep_all(options)
        return 0
    if options.device == "cuda":  # sums of products in fp32
        torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
        torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
        torch.backends.cudnn.allow_tf32 = False  # float32 is asked for
        if hasattr(torch.backends.cuda, "enable_cudnn_sdp"):  # its attention gives weight to keys that a mask hides
            torch.backends.cuda.enable_cudnn_sdp(False)
    with torch.backends.mkldnn.flags(enabled=False):  # its convolutions may use transforms, which round differently
        return 1 if hold_all(options) else 0


if __name__ == "__main__":
    sys.exit(main())
