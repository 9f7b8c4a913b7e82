"""Holds the evaluator against PyTorch: reference.py in double precision, on the evaluator's own inputs.

    /usr/bin/python3 compare.py --dump PROGRAM --tasks FOLDER [--task NAME]... [--seeds 3] [--bench] [--differences] [--float32 [--families all]]

Default: |evaluator - torch in double| <= max(1e-11 max|row|, 64 bounds at u = 2^-53), autograd for backward, outside ambiguous
elements.  PROGRAM may be a folder of what it wrote (torch2.sh).  --float32 runs torch in single precision instead, as one more correct implementation, and wants it inside both
bounds.  --differences holds the gradients against central differences of the forward pass.  --bench takes 4,096 sampled elements of the bench cases.  Prints the worst ratio of each task; 1 when one exceeds 1.
"""

import argparse
import importlib.util
import inspect
import json
import os
import subprocess
import sys
import tempfile

import numpy
import torch

AMBIGUOUS, DONT_CARE = 1, 2
TO_DOUBLE = 2.0**-29  # from the unit of float32, 2^-24, to that of float64, 2^-53: bounds are linear in it
DTYPES = {"float32": numpy.float32, "float64": numpy.float64, "int64": numpy.int64, "int32": numpy.int32, "uint8": numpy.uint8}


def load_reference(folder):
    spec = importlib.util.spec_from_file_location("reference", os.path.join(folder, "reference.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def by_signature(forward_fn):
    """forward_fn's parameters are tensors, dims and attributes of the task, by name."""
    names = list(inspect.signature(forward_fn).parameters)
    return lambda tensors, settings: forward_fn(*[tensors[name] if name in tensors else settings[name] for name in names])


class Run:
    """One (case, family, seed) of a dump."""

    def __init__(self, data, entry, direction):
        self.data, self.entry = data, entry
        self.backward = direction == "backward"

    def array(self, key_range, dtype):
        offset, count = key_range
        return numpy.frombuffer(self.data, dtype, count // numpy.dtype(dtype).itemsize, offset)

    def inputs(self, real):
        tensors = {}
        for tensor in self.entry["inputs"]:
            array = self.array(tensor["data"], DTYPES[tensor["dtype"]]).reshape(tensor["shape"])
            value = torch.from_numpy(array.copy())
            tensors[tensor["name"]] = value.to(real) if value.is_floating_point() else value
        return tensors

    def outputs(self, function, real):
        """name -> what PyTorch computes; function(tensors, settings) gives one tensor or a tuple."""
        tensors = self.inputs(real)
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


def ratios(run, tensor, torch_value, single):
    """(largest share of hard, of stat, how many elements count)."""
    want = run.array(tensor["value"], numpy.float64)
    hard = run.array(tensor["hard"], numpy.float64)
    stat = run.array(tensor["stat"], numpy.float64)
    flags = run.array(tensor["flags"], numpy.uint8)
    whole = torch_value.detach().double().numpy()
    rows = numpy.broadcast_to(numpy.abs(whole).max(axis=-1, keepdims=True), whole.shape) if whole.ndim else numpy.abs(whole)
    got, rows = whole.reshape(-1), rows.reshape(-1)
    if "elements" in tensor:
        picked = run.array(tensor["elements"], numpy.uint64).astype(numpy.int64)
        got, rows = got[picked], rows[picked]
    assert got.shape == want.shape, "%s: torch gives %d elements, the evaluator %d" % (tensor["name"], got.size, want.size)
    error = numpy.abs(got - want)
    error[~numpy.isfinite(error)] = numpy.inf
    error[got == want] = 0
    if single:
        counts = (flags & DONT_CARE) == 0
        return share(error, hard, counts), share(error, stat, counts & (stat >= 0)), int(counts.sum())
    counts = (flags & (AMBIGUOUS | DONT_CARE)) == 0
    return share(error, numpy.maximum(1e-11 * rows, 64 * TO_DOUBLE * hard), counts), 0.0, int(counts.sum())


def share(error, bound, counts):
    error, bound = error[counts], bound[counts]
    used = numpy.divide(error, bound, out=numpy.where(error > 0, numpy.inf, 0.0), where=bound > 0)
    return float(used.max()) if used.size else 0.0


def dump_of(program, task, direction, seeds, kind, families):
    """The runs that the dump program gives, or those it gave into program/TASK-DIRECTION before."""
    if os.path.isdir(program):
        return runs_of(os.path.join(program, "%s-%s" % (os.path.basename(task), direction)), direction)
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([program, task, direction, folder, str(seeds), kind, families], check=True)
        return runs_of(folder, direction)


def runs_of(folder, direction):
    with open(os.path.join(folder, "index.json")) as file:
        index = json.load(file)
    with open(os.path.join(folder, "data.bin"), "rb") as file:
        data = file.read()
    return [Run(data, entry, direction) for entry in index["runs"]]


def compare(runs, function, single):
    """(worst share of hard, worst share of stat, where the worst was); nan when most elements do not count."""
    worst_hard = worst_stat = 0.0
    counted = total = 0
    where = ""
    for run in runs:
        outputs = run.outputs(function, torch.float32 if single else torch.float64)
        for tensor in run.entry["outputs"]:
            hard, stat, count = ratios(run, tensor, outputs[tensor["name"]], single)
            counted += count
            total += tensor["value"][1] // 8
            stat = stat if run.entry["stat"] else 0.0
            if max(hard, stat) > max(worst_hard, worst_stat):
                where = "%s %s seed %d %s" % (run.entry["case"], run.entry["family"], run.entry["seed"], tensor["name"])
            worst_hard, worst_stat = max(worst_hard, hard), max(worst_stat, stat)
    if 2 * counted < total:
        return float("nan"), float("nan"), "%d of %d elements are ambiguous or don't-care" % (total - counted, total)
    return worst_hard, worst_stat, "%s (%d elements)" % (where, counted)


def differences(runs, function):
    """Largest (difference quotient - gradient) over its tolerance, along one random direction a run; forward alone, so
    independent of autograd.  Runs with a kink nearby have no derivative and are left out; the second number is how many
    were used."""
    worst, used, where = 0.0, 0, ""
    step = 2.0**-18  # error about step^2 and 2^-52 / step, both near 1e-11
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
        results = [function(side, settings) for side in (ahead, tensors, behind)]
        results = [result if isinstance(result, tuple) else (result,) for result in results]
        for i, (after, here, before) in enumerate(zip(*results)):
            seed = tensors[run.entry["inputs"][i]["name"]]
            measured += float(((after - before) * seed).sum()) / (2 * step)
            bend += float(((after - 2 * here + before) * seed).sum()) / (2 * step)
        if abs(bend) > 1e-4 * magnitude + 1e-9:  # a kink (relu, max) within the step; its error is at most the bend
            continue
        share = abs(measured - predicted) / (1e-6 * magnitude + 1e-9 + abs(bend))
        used += 1
        if share > worst:
            worst, where = share, "%s seed %d" % (run.entry["case"], run.entry["seed"])
    return worst, used, where


def directions_of(task):
    with open(os.path.join(task, "task.yaml")) as file:
        line = next(line for line in file if line.startswith("directions:"))
    return [word.strip() for word in line.split("[")[1].split("]")[0].split(",")]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dump", required=True)
    parser.add_argument("--tasks", required=True)
    parser.add_argument("--task", action="append")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--families", default="normal", choices=("normal", "all"))
    parser.add_argument("--bench", action="store_true")
    parser.add_argument("--float32", action="store_true")
    parser.add_argument("--differences", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(2)
    torch.backends.mkldnn.flags(enabled=False).__enter__()  # its convolutions may use transforms, which round differently
    names = options.task or sorted(os.listdir(options.tasks))
    failed = 0
    print("%-26s %-9s %5s  %10s  %10s  %s" % ("task", "direction", "runs", "of hard", "of stat", "worst at"))
    for name in names:
        task = os.path.join(options.tasks, name)
        for direction in directions_of(task):
            if options.differences and direction == "forward":
                continue
            try:
                runs = dump_of(options.dump, task, direction, options.seeds, "bench" if options.bench else "check", options.families)
                function = by_signature(load_reference(task).forward_fn)
                if options.differences:
                    hard, used, where = differences(runs, function)
                    stat, runs = 0.0, runs[:used] if 2 * used >= len(runs) else []
                else:
                    hard, stat, where = compare(runs, function, options.float32)
            except subprocess.CalledProcessError:
                runs, hard, stat, where = [], float("nan"), float("nan"), "the evaluator failed"
            bad = not (runs and hard <= 1 and stat <= 1)
            failed += bad
            print("%-26s %-9s %5d  %10.3g  %10.3g  %s%s" % (name, direction, len(runs), hard, stat, where, "  OUTSIDE" if bad else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
