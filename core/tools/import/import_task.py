"""Turns a Python file in the robust-kbench or KernelBench form into a task directory.

    python3 import_task.py FILE.py --out DIR [--name NAME] [--dim B=x:0]... [--directions forward,backward]

The file defines Model (an nn.Module), get_inputs() and, in the KernelBench form, get_init_inputs().  Parameters and buffers
become inputs.  Sizes are literal except for the dims named: --dim B=x:0 makes dim 0 of x the dim B (a parameter or buffer may
be named too, and the same dim several times).  DIR must not exist: everything is written or nothing.
Ends with 0 and notes on standard output, or with 3 and one sentence a line on standard error.
"""

import argparse
import importlib.util
import inspect
import os
import shutil
import sys
import tempfile

import torch
import torch.nn as nn

import recipes
import writing
from lowering import DTYPES
from probing import Probe, Subject
from refusal import Refused

FLOATS = {"float32": "fp32", "float16": "fp16", "bfloat16": "bf16"}
CHECK_ELEMENTS = 1 << 18  # of all tensors of a check case together


def load(path):
    """(model, {argument: value}) of the user's file."""
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    spec = importlib.util.spec_from_file_location("imported_model", os.path.abspath(path))
    module = importlib.util.module_from_spec(spec)
    torch.manual_seed(0)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise Refused("%s: it does not load: %s: %s" % (path, type(error).__name__, error))
    for name in ("Model", "get_inputs"):
        if not hasattr(module, name):
            raise Refused("%s: it has no %s; a file in the robust-kbench or KernelBench form defines Model and get_inputs" % (path, name))
    try:
        given = module.get_init_inputs() if hasattr(module, "get_init_inputs") else []
        model = module.Model(*given) if not isinstance(given, dict) else module.Model(**given)
        inputs = module.get_inputs()
    except Exception as error:
        raise Refused("%s: its Model or get_inputs fails: %s: %s" % (path, type(error).__name__, error))
    if not isinstance(model, nn.Module):
        raise Refused("%s: Model is no torch.nn.Module" % path)
    parameters = [name for name, p in inspect.signature(model.forward).parameters.items() if name != "fn"]
    if isinstance(inputs, dict):
        return model, inputs
    if len(inputs) > len(parameters):
        raise Refused("%s: get_inputs gives %d values and forward takes %d" % (path, len(inputs), len(parameters)))
    return model, dict(zip(parameters, inputs))


def parse_dims(options):
    named = {}
    for option in options:
        name, equals, place = option.partition("=")
        key, colon, axis = place.rpartition(":")
        if not (equals and colon and name.isidentifier() and axis.isdigit()):
            raise Refused("--dim %s: write NAME=TENSOR:AXIS, such as B=x:0" % option)
        named.setdefault(name, []).append((key, int(axis)))
    return named


def index_bound(probe, nodes, name):
    """What limits an integer input: the classes of a loss or the rows of a table it indexes."""
    shapes = {probe.subject.tensor_names[key]: probe.shape_of(key) for key in probe.subject.tensor_names}
    shapes.update({node["out"]: node["shape"] for node in nodes})
    for node in nodes:
        if node["op"] in ("cross_entropy", "nll_loss") and node["in"][1] == name:
            return shapes[node["in"][0]][1]
        if node["op"] == "embedding" and node["in"][1] == name:
            return shapes[node["in"][0]][0]
        if node["op"] == "gather" and node["in"][1] == name:
            return shapes[node["in"][0]][int(node["attr"]["dim"])]
    return None


def describe_inputs(probe, nodes):
    subject, tensors = probe.subject, []
    for key, name in subject.tensor_names.items():
        if key not in probe.lowerings[0].used:
            continue
        tensor, shape = subject.tensor(key), probe.shape_of(key)
        if tensor.dtype not in DTYPES and tensor.dtype != torch.bool:
            raise Refused("%s has the type %s, which is not covered" % (key, str(tensor.dtype).replace("torch.", "")))
        if not tensor.dtype.is_floating_point:
            init = recipes.of_integers(tensor, index_bound(probe, nodes, name))
        elif key in subject.inputs:
            init = recipes.from_data(tensor)
        else:
            init = recipes.of_parameter(subject.model, key, tensor, shape)
        origin = key if key in subject.inputs else "model." + key
        tensors.append({"name": name, "role": "in", "dtype": DTYPES.get(tensor.dtype, "uint8"), "shape": shape, "init": init,
                        "origin": origin, "differentiable": tensor.dtype.is_floating_point and key not in subject.buffers})  # fmt: skip
    return tensors


def describe_outputs(probe, nodes, dims):
    """The output tensors, and which value each is where the names differ."""
    outputs = probe.lowerings[0].outputs
    by_name = {node["out"]: node for node in nodes}
    taken = set(probe.subject.tensor_names.values()) | set(dims)
    tensors, mapping = [], {}
    for i, value in enumerate(outputs):
        name = "y" if len(outputs) == 1 else "y%d" % i
        while name in taken:
            name += "_out"
        taken.add(name)
        node = by_name[value]
        tensors.append({"name": name, "role": "out", "dtype": node["dtype"], "shape": node["shape"], "init": None, "origin": name})
        if name != value:
            mapping[name] = value
    return tensors, mapping


def check_cases(probe):
    """Small and awkward shapes at which the model has the same graph."""
    names = list(probe.subject.named)
    if not names:
        return [("as_given", {})]
    cases, large = [], []
    for number, label in enumerate(("smallest", "odd", "uneven", "larger")):
        assignment = {}
        for i, name in enumerate(names):
            values = probe.domains[name][0]
            small = [value for value in values if value <= 64 * probe.domains[name][1]]
            pick = 0 if number == 0 else (len(small) - 1 if number == 3 else 2 * number + i)
            assignment[name] = small[min(pick, len(small) - 1)] if small else probe.subject.base[name]
        elements = 0
        for shape, _ in probe.subject.shapes(assignment).values():
            count = 1
            for size in shape:
                count *= size
            elements += count
        fresh = all(assignment != other for _, other in cases + large)
        if fresh and probe.attempt(assignment) is None:
            (cases if elements <= CHECK_ELEMENTS else large).append((label, assignment))
    # Where the other sizes alone are many, the least of what there is: the case as given would be larger yet.
    return cases or large[:2] or [("as_given", dict(probe.subject.base))]


def build(path, name, dims, directions):
    model, inputs = load(path)
    subject = Subject(path, model, inputs, parse_dims(dims))
    probe = Probe(subject)
    check = check_cases(probe)
    nodes = probe.nodes()
    tensors = describe_inputs(probe, nodes)
    outputs, mapping = describe_outputs(probe, nodes, subject.named)
    kinds = {node["dtype"] for node in nodes if node["dtype"] in FLOATS}
    if len(kinds) != 1:
        raise Refused("the values have the types %s; one of float32, float16, bfloat16 throughout is covered" % ", ".join(
            sorted({node["dtype"] for node in nodes})))
    wants = [tensor["name"] for tensor in tensors if tensor.get("differentiable")]
    source = os.path.basename(path).replace("\\", "").replace('"', "")  # they stand in quotes
    task = {
        "name": name,
        "summary": "Imported from %s." % source,
        "source": source,
        "precision": FLOATS[kinds.pop()],
        "directions": [d for d in directions if d == "forward" or wants],
        "dims": {n: (min(values + [subject.base[n]]), max(values + [subject.base[n]]), multiple)
                 for n, (values, multiple) in probe.domains.items()},
        "tensors": tensors + outputs,
        "wants_grad": wants if "backward" in directions else [],
        "check": check,
        "bench": [("as_given", subject.base)],
    }  # fmt: skip
    notes = list(dict.fromkeys(probe.lowerings[0].notes))
    unread = [key for key, value in inputs.items() if isinstance(value, torch.Tensor) and key not in probe.lowerings[0].used]
    notes += ["the input %s is not used and was left out" % key for key in unread]
    return writing.task_text(task), writing.graph_text(nodes, mapping), notes


def write(directory, path, task_text, graph_text):
    parent = os.path.dirname(os.path.abspath(directory))
    scratch = tempfile.mkdtemp(prefix=".import-", dir=parent)
    try:
        for name, text in (("task.yaml", task_text), ("reference.graph.yaml", graph_text)):
            with open(os.path.join(scratch, name), "w") as file:
                file.write(text)
        shutil.copyfile(path, os.path.join(scratch, "reference.py"))
        os.chmod(scratch, 0o755)
        os.rename(scratch, directory)
    except BaseException:
        shutil.rmtree(scratch, ignore_errors=True)
        raise


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("--out", required=True)
    parser.add_argument("--name")
    parser.add_argument("--dim", action="append", default=[])
    parser.add_argument("--directions", default="forward,backward")
    options = parser.parse_args()
    name = options.name or os.path.basename(os.path.normpath(options.out))
    try:
        if os.path.lexists(options.out):
            raise Refused("%s exists already" % options.out)
        task_text, graph_text, notes = build(options.file, name, options.dim, options.directions.split(","))
        write(options.out, options.file, task_text, graph_text)
    except Refused as refusal:
        for sentence in refusal.sentences:
            print(sentence, file=sys.stderr)
        return 3
    for note in notes:
        print("note: " + note)
    return 0


if __name__ == "__main__":
    sys.exit(main())
