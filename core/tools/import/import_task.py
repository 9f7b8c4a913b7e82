"""Turns PyTorch code into a task directory.

    python3 import_task.py FILE --out DIR [--name NAME] [--entry NAME] [--input x=4x128]... [--dim B=x:0]... [--directions forward,backward]

FILE defines Model (an nn.Module), get_inputs() and, in the KernelBench form, get_init_inputs(); or a function of tensors, with
example inputs (function_file.py); or it is a program that torch.export.save wrote, FILE.pt2.  Parameters and buffers
become inputs.  Sizes are literal except for the dims named: --dim B=x:0 makes dim 0 of x the dim B (a parameter or buffer may
be named too, and the same dim several times).  DIR must not exist: everything is written or nothing.
Ends with 0 and notes on standard output, or with 3 and one sentence a line on standard error.
"""

import argparse
import collections
import gc
import os
import re
import shutil
import sys
import tempfile

# Threads that look for work all the time take the processors from the one that has some: an import took three times as long on a busy machine.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
import torch

import check_cases
import function_file
import recipes
import sizes
import number_patterns
import writing
from lowering import DTYPES, MOVES
from module_walk import tensors_of
from probing import Probe
from refusal import Refused
from refusal_advice import kinds_of
from module_stub import no_dynamo
from sized_model import Subject
from module_hooks import ModuleHooks
from user_file import UserFile

FLOATS = {"float32": "fp32", "float16": "fp16", "bfloat16": "bf16"}
Imported = collections.namedtuple("Imported", "task graph notes subject extra")
PRODUCTS = ("linear", "matmul", "bmm", "scaled_dot_product_attention", "lstm", "gru", "rnn_tanh")
LONGEST_NAME = 64  # the limit of core/task/definition_read.c
MOST_DRAWN = 1 << 21  # most elements of tensors whose numbers are examined
YOUNG_OBJECTS = 400_000  # between collections: traces hold many objects that live on, and Python's 700 looked at them all the time
MOST_STAYING = 8  # most numbers that one note lists
MOST_TELLING = 10  # most rounds of further traces to distinguish expressions
MOST_WHOLE = 1 << 28  # and where even the smallest case has more than that, these at most


def parse_dims(options):
    named = {}
    for option in options:
        name, equals, place = option.partition("=")
        key, colon, axis = place.rpartition(":")
        if not (equals and colon and name.isidentifier() and axis.isdigit()):
            raise Refused("--dim %s: write NAME=TENSOR:AXIS, such as B=x:0" % option)
        named.setdefault(name, []).append((key, int(axis)))
    return named


def index_bound(nodes, shapes, name):
    """What limits an integer input: the classes of a loss or the rows of a table it indexes, also where its elements are moved first.
    shapes: of every tensor."""
    shapes, moved = dict(shapes, **{node["out"]: node["shape"] for node in nodes}), {name}
    for node in nodes:
        if node["op"] in MOVES and node["in"][0] in moved:
            moved.add(node["out"])
        if node["op"] in ("cross_entropy", "nll_loss") and node["in"][1] in moved:
            return shapes[node["in"][0]][1]
        if node["op"] == "embedding" and node["in"][1] in moved:
            return shapes[node["in"][0]][0]
        if node["op"] in ("gather", "scatter_add", "scatter") and node["in"][1] in moved:
            return shapes[node["in"][0]][int(node["attr"]["dim"])]
    return None


def describe_inputs(probe, nodes, shapes, data):
    """The task's inputs.  data: (model, inputs) with numbers in them."""
    subject, tensors = probe.subject, []
    names = subject.tensor_names
    model, inputs = data
    parameters, buffers = tensors_of(model)
    state = {**parameters, **buffers}
    by_name = {names[key]: shape for key, shape in shapes.items()}
    rectified = recipes.rectified_weights(nodes) if check_cases.deep(nodes) else ()
    for key, name in names.items():
        if key not in shapes:
            continue
        tensor, shape = inputs.get(key, state.get(key)), shapes[key]
        if tensor.dtype not in DTYPES and tensor.dtype != torch.bool:
            raise Refused("%s has the type %s, which is not covered" % (key, str(tensor.dtype).replace("torch.", "")))
        kept = number_patterns.of_input(tensor) if key in inputs else None
        if kept:
            probe.notes.append("the input %s is %s, and stays so in every family of inputs" % (name, number_patterns.SAID[kept]))
        if not tensor.dtype.is_floating_point:
            bound = index_bound(nodes, by_name, name)
            init = recipes.of_integers(tensor, bound)
            if bound and recipes.least(tensor) < 0:
                probe.notes.append("%s has %d in the file; it is drawn from 0 to %s - 1 here, so no label is ignored and no index counts from the end"
                                   % (name, recipes.least(tensor), bound))  # fmt: skip
        elif key in inputs:
            init = recipes.from_data(tensor[tensor != 0] if kept and kept != "symmetric" else tensor)
        else:
            init = recipes.of_parameter(model, key, tensor, shape, name in rectified)
        origin = key if key in inputs else "model." + key
        tensors.append({"name": name, "role": "in", "dtype": DTYPES.get(tensor.dtype, "uint8"), "shape": shape, "init": init,
                        "structure": kept, "origin": origin, "differentiable": tensor.dtype.is_floating_point and key not in subject.buffers})  # fmt: skip
    for name, tensor in probe.lowerings[0].extra.items():
        tensors.append({"name": name, "role": "in", "dtype": tensor["dtype"], "shape": probe.extra_shapes[name], "init": tensor["init"],
                        "origin": "drawn in forward", "differentiable": False})  # fmt: skip
    return tensors


def describe_outputs(probe, nodes, dims):
    """The output tensors, and which value each is where the names differ."""
    outputs = probe.lowerings[0].outputs
    by_name = {}
    for node in nodes:
        by_name[node["out"]] = (node["dtype"], node["shape"])
        for extra, dtype, shape in node.get("more", ()):
            by_name[extra] = (dtype, shape)
    taken = set(probe.subject.tensor_names.values()) | set(dims) | set(probe.lowerings[0].extra)
    tensors, mapping = [], {}
    for i, value in enumerate(outputs):
        name = "y" if len(outputs) == 1 else "y%d" % i
        while name in taken:
            name += "_out"
        taken.add(name)
        dtype, shape = by_name[value]
        tensors.append({"name": name, "role": "out", "dtype": dtype, "shape": shape, "init": None, "origin": name})
        if name != value:
            mapping[name] = value
    return tensors, mapping


def without_doubts(probe):
    """(nodes, shapes): merged, with more traces where several expressions fit those there are."""
    merged = probe.merged()
    for _ in range(MOST_TELLING):
        if not any([probe.attempt(assignment) is None for assignment in telling(probe)]):
            break
        merged = probe.merged()
    return merged


def telling(probe):
    """Sizes at which the expressions in doubt differ.  Dims move together, one trace for all of them; one by one where that told nothing."""
    alone = [{name: value} for name, value in sorted(probe.sizes.doubts)]
    values = {name: sorted(value for other, value in probe.sizes.doubts if other == name) for name, _ in probe.sizes.doubts}
    together = [{name: own[i] for name, own in values.items() if i < len(own)} for i in range(max(map(len, values.values()), default=0))]
    for moved in (together, alone):
        found = [dict(probe.subject.base, **sizes) for sizes in moved]
        found = [assignment for assignment in found if assignment not in probe.assignments and tuple(assignment.items()) not in probe.failures]
        if found:
            return found
    return []


def with_dims_found(file):
    """A Probe whose dims are the numbers of the file that can move together."""
    probe = Probe(Subject(file, {literal.name: literal for literal in file.literals}))
    probe.find_dims()
    probe.join_domains()
    while True:
        try:
            probe.merged()  # a size without an expression is refused here, before check cases are chosen
            check = check_cases.choose(probe)
            return (probe, check) + without_doubts(probe)
        except sizes.Unexplained as problem:
            if problem.in_company and probe.trace_alone():
                continue
            last = [name for name in probe.domains if name in problem.names][-1:]
            if not last:
                raise sizes.refused(problem)
            if probe.restrict(last[0]):
                continue
            probe.notes.append("%s stays %d: %s" % (last[0], probe.subject.base[last[0]], problem.sentence))
            probe.keep_only([name for name in probe.domains if name != last[0]])


def with_dims_named(file, named):
    probe = Probe(Subject(file, None, named))
    probe.name_dims()
    check = check_cases.choose(probe)
    try:
        return (probe, check) + without_doubts(probe)
    except sizes.Unexplained as problem:
        raise sizes.refused(problem)


def with_numbers(probe, check):
    """(model, inputs) made for real, at sizes that cost little."""
    subject = probe.subject
    best, most = None, -1
    for i, assignment in enumerate(probe.assignments):
        elements = check_cases.elements_of(probe.lowerings[i])
        if most < elements <= MOST_DRAWN:
            best, most = assignment, elements
    if best is None:
        best = min(probe.assignments, key=lambda a: check_cases.elements_of(probe.lowerings[probe.assignments.index(a)]))
    if most < 0 and check_cases.elements_of(probe.lowerings[probe.assignments.index(best)]) > MOST_WHOLE:
        return subject.variant(best, "meta" if subject.device == "meta" else None)
    if subject.named:
        return subject.file.run({})
    if most < 0:
        try:
            made = subject.variant(best, "large on meta")
            if recipes.are_settled(*made):
                return made
        except Refused:  # a constructor asks for numbers of a weight
            pass
    return subject.variant(best, None)


def build(path, name, dims, directions, examples=(), entry=None):
    """An Imported: the two files' texts, notes for the user, and the subject that was traced."""
    with no_dynamo():
        return build_apart(path, name, dims, directions, examples, entry)


def build_apart(path, name, dims, directions, examples, entry):
    file = UserFile(path, function_file.parse_examples(examples), entry)
    thresholds = gc.get_threshold()
    gc.freeze()  # so that the collector never goes through PyTorch's own objects
    gc.set_threshold(YOUNG_OBJECTS, *thresholds[1:])
    try:
        with ModuleHooks() as file.hooks:
            return build_from(file, path, name, dims, directions)
    except Refused as refusal:
        raise Refused(*[file.explained(sentence) for sentence in refusal.sentences])
    finally:
        file.hooks = None
        gc.set_threshold(*thresholds)
        gc.unfreeze()


def precision_of(nodes, tensors):
    """The class of the task.  Where types are mixed, that of the narrow type if every product multiplies numbers of it, else fp32, which
    admits such products too: the class says how far a factor may be rounded."""
    types = {tensor["name"]: tensor["dtype"] for tensor in tensors}
    for node in nodes:
        types[node["out"]] = node["dtype"]
        types.update((name, dtype) for name, dtype, _ in node.get("more", ()))
    products = [node for node in nodes if node["op"] in PRODUCTS or node["op"].startswith("conv")]
    kinds = {dtype for dtype in types.values() if dtype in FLOATS}
    multiplied = {types[name] for node in products for name in node["in"][:2]} & kinds
    if not kinds:
        raise Refused("the values have the types %s; float32, float16 and bfloat16 are covered" % ", ".join(sorted(set(types.values()))))
    narrow = (multiplied if products else kinds) - {"float32"}
    return FLOATS[narrow.pop()] if len(narrow) == 1 and "float32" not in multiplied else "fp32"


def build_from(file, path, name, dims, directions):
    named = parse_dims(dims)
    probe, check, nodes, shapes = with_dims_named(file, named) if named else with_dims_found(file)
    subject = probe.subject
    tensors = describe_inputs(probe, nodes, shapes, with_numbers(probe, check))
    outputs, mapping = describe_outputs(probe, nodes, subject.base)
    precision = precision_of(nodes, tensors)
    floating = any(tensor["dtype"] in FLOATS for tensor in outputs)
    wants = [tensor["name"] for tensor in tensors if tensor.get("differentiable")] if floating else []
    source = os.path.basename(path).replace("\\", "").replace('"', "")  # the path stands in quotes
    task = {
        "name": name,
        "summary": "Imported from %s." % source,
        "source": source,
        "precision": precision,
        "directions": [d for d in directions if d == "forward" or wants],
        "dims": {n: (min(values + [subject.base[n]]), check_cases.highest(values, subject.base[n]), multiple)
                 for n, (values, multiple) in probe.domains.items()},
        "require": check_cases.conditions(probe, nodes, check),
        "tensors": tensors + outputs,
        "wants_grad": wants if "backward" in directions else [],
        "check": check,
        "bench": [("as_given", subject.base)],
    }  # fmt: skip
    notes = list(dict.fromkeys(probe.lowerings[0].notes)) + probe.notes
    notes += of_types(subject, probe.lowerings[0].used)
    unread = [key for key, value in subject.inputs.items() if isinstance(value, torch.Tensor) and key not in probe.lowerings[0].used]
    notes += ["the input %s is not used and was left out" % key for key in unread]
    if not named:
        notes += describe_dims(task) + of_numbers_that_stay(file, task["dims"], notes)
    return Imported(writing.task_text(task), writing.graph_text(nodes, mapping), notes, subject, list(probe.lowerings[0].extra))


def of_types(subject, used):
    """A note where the model is of a wider type than its inputs, which mostly is a conversion that was forgotten."""
    given = kinds_of(value for key, value in subject.inputs.items() if isinstance(value, torch.Tensor) and key in used)
    held = kinds_of(value for key, value in subject.parameters.items() if key in used)
    if held != ["float32"] or len(given) != 1 or given == held:
        return []
    return ["the inputs are {0} and the parameters float32, so results of both are float32; for a model in {0} write self.to(torch.{0}) at the end of "
            "__init__".format(given[0])]  # fmt: skip


def describe_dims(task):
    """Notes on the dims that were chosen, for the user to edit."""
    said = []
    for name, (low, high, multiple) in task["dims"].items():
        many = ", multiples of %d" % multiple if multiple > 1 else ""
        said.append("dim %s: %d to %d%s, published %d" % (name, low, high, many, task["bench"][0][1][name]))
    if task["require"]:
        said.append("every size satisfies %s: norms of fewer numbers would blow up rounding errors" % " and ".join(task["require"]))
    for label, case in task["check"]:
        said.append("check case %s: %s" % (label, ", ".join("%s = %d" % pair for pair in case.items()) or "all sizes as given"))
    return said or ["no size can change: all are literal"]


def of_numbers_that_stay(file, dims, notes):
    """A note with the numbers of the file that are no dims and move with none: some may be sizes."""
    moving = {id(other) for literal in file.literals if literal.name in dims for other in literal.followers}
    told = {note.split(" stays ")[0] for note in notes}
    staying = ["%s = %d" % (literal.name, literal.value) for literal in file.literals
               if literal.value > 1 and literal.name not in dims and id(literal) not in moving and literal.name not in told]  # fmt: skip
    if not staying:
        return []
    more = " and %d more" % (len(staying) - MOST_STAYING) if len(staying) > MOST_STAYING else ""
    return ["these numbers of the file stay as they are: %s%s; to make a size among them a dim, name all dims: --dim NAME=TENSOR:AXIS"
            % (", ".join(staying[:MOST_STAYING]), more)]  # fmt: skip


def write(directory, made):
    parent = os.path.dirname(os.path.abspath(directory))
    scratch = tempfile.mkdtemp(prefix=".import-", dir=parent)
    try:
        for name, text in (("task.yaml", made.task), ("reference.graph.yaml", made.graph), ("reference.py", made.subject.file.text)):
            with open(os.path.join(scratch, name), "w") as file:
                file.write(text)
        os.chmod(scratch, 0o755)
        os.rename(scratch, directory)
    except BaseException:
        shutil.rmtree(scratch, ignore_errors=True)
        raise


def name_of(given, directory):
    """(the task's name, notes): as given, or the folder's name in the letters that a task's name may have."""
    folder = os.path.basename(os.path.abspath(directory))
    name = given or folder
    valid = re.sub("[^A-Za-z0-9_]", "_", name)
    valid = ("_" + valid if valid[:1].isdigit() else valid)[:LONGEST_NAME]
    rule = "a task's name has letters, digits and _, at most %d, and does not begin with a digit" % LONGEST_NAME
    if name == valid:
        return name, []
    if given:
        raise Refused("--name %s: %s; write --name %s" % (given, rule, valid))
    return valid, ["the task's name is %s: %s, and kernels say task: %s" % (valid, rule, valid)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("--out", required=True)
    parser.add_argument("--name")
    parser.add_argument("--dim", action="append", default=[])
    parser.add_argument("--input", action="append", default=[])
    parser.add_argument("--entry")
    parser.add_argument("--directions", default="forward,backward")
    options = parser.parse_args()
    try:
        name, renamed = name_of(options.name, options.out)
        if os.path.lexists(options.out):
            raise Refused("%s exists already" % options.out)
        made = build(options.file, name, options.dim, options.directions.split(","), options.input, options.entry)
        write(options.out, made)
    except Refused as refusal:
        for sentence in refusal.sentences:
            print(sentence, file=sys.stderr)
        return 3
    for note in renamed + made.notes:
        print("note: " + note)
    return 0


if __name__ == "__main__":
    sys.exit(main())
