"""Traces a model at several values of its dims and merges the traces into one graph of expressions.

A dim is a number of the user's file (user_file.py), or axes that --dim named.  Nothing is believed that was not traced: an
expression stands in the graph when it gives the number that each of the traces saw."""

import torch
import torch.nn as nn

import structure
import sizes
from check_cases import LEAST_PUBLISHED
from lowering import DTYPES, Lowering
from module_walk import modules_of, tensors_of
from refusal import Refused
from refusal_advice import conversion
from shape_rules import check_shapes
from tracing import trace
from user_file import shaped_inputs
from window_sizes import windows_of

SMALL = (1, 2, 3, 5, 7, 8, 16, 31, 33)
LADDER = (1, 2, 3, 5, 7, 11, 13, 17, 23, 29, 31, 33, 47, 64, 67, 97, 128, 131, 193, 257, 512, 1024)
MULTIPLES = (2, 4, 8, 16, 32, 64, 128)
MOST_REAL = 1 << 25  # elements of a model that is made for the numbers in its buffers
MOST_MULTIPLES = 16  # that are tried of one dim
SMALLEST_WIDTH = 16  # of a size that shows in parameters alone
MOST_RESTRICTED = 16  # what a dim is made a multiple of, so that expressions cover what follows it
SETTLED = 4  # values of a dim beside the published one
SETTLED_LARGE = 2  # of a graph of LARGE nodes, where each value costs a second trace of it; what is then in doubt is traced again (import_task.py)
LARGE = 250
BUDGET = 11000  # nodes that are traced to look for dims; those not looked at by then stay as they are
MODEL_COST = 0.25  # nodes that making one parameter or buffer counts for


OTHER_PARAMETERS = "%s: the model has other parameters"


class Subject:
    """The user's model and its dims: literals (name -> Literal) and named axes (name -> [(tensor key, axis), ...])."""

    def __init__(self, file, literals=None, named=None):
        self.file = file
        self.path = file.shown
        self.literals = dict(literals or {})
        self.named = dict(named or {})
        self.answers = {}  # of ShapedTracer
        self.device, self.model, self.inputs = self.first_model()
        self.parameters, self.buffers = tensors_of(self.model)
        self.structures = self.find_structures()
        self.tensor_names = self.choose_names()
        self.base = {name: literal.value for name, literal in self.literals.items()}
        self.base.update({name: self.published(name, places) for name, places in self.named.items()})

    def first_model(self):
        """(device, model, inputs) at the file's own sizes, with as few numbers as its constructors can do with."""
        for device in ("meta", "large on meta"):
            try:
                return (device, *self.file.run({}, device, shaped_inputs))
            except Refused:
                pass
        return (None, *self.file.run({}))

    def find_structures(self):
        """Buffer -> what its numbers are, where they are a pattern that the graph can make itself."""
        asked = [key for key, buffer in self.buffers.items() if buffer.dtype != torch.int8  # which only a node `to` makes
                 and key.rpartition(".")[2] not in ("running_mean", "running_var", "num_batches_tracked")]  # fmt: skip
        plain = any(isinstance(value, torch.Tensor) for _, module in modules_of(self.model) for value in vars(module).values())
        model = self.model
        if (asked or plain) and self.device is not None:
            if sum(tensor.numel() for tensor in list(self.parameters.values()) + list(self.buffers.values())) > MOST_REAL:
                return {}
            model = self.with_patterns(asked)
            if plain:
                self.device = "inputs on meta"
                self.model = model
                self.parameters, self.buffers = tensors_of(model)
        buffers = tensors_of(model)[1]
        return {key: found for key in asked for found in [structure.of(buffers[key])] if found}

    def with_patterns(self, asked):
        """The model with numbers in the buffers that are asked for, and in tensors that are plain attributes."""
        try:
            model = self.model if self.device == "large on meta" else self.file.run({}, "large on meta", shaped_inputs)[0]
            buffers = tensors_of(model)[1]
            held = [buffers[key] for key in asked] + [value for _, module in modules_of(model) for value in vars(module).values() if isinstance(value, torch.Tensor)]
            if not any(tensor.device.type == "meta" for tensor in held):
                return model
        except (Refused, KeyError):  # a constructor asks for numbers of a weight
            pass
        return self.file.run({}, "inputs on meta", shaped_inputs)[0]

    def choose_names(self):
        """Argument, parameter or buffer -> a name that is an identifier and nobody else's."""
        chosen, taken = {}, set(self.named) | set(self.literals)
        tensors = [name for name, value in self.inputs.items() if isinstance(value, torch.Tensor)]
        for key in tensors + list(self.parameters) + list(self.buffers):
            name = key.replace(".", "_")
            if name[0].isdigit():
                name = "p" + name
            while name in taken:
                name += "_"
            taken.add(name)
            chosen[key] = name
        return chosen

    def tensor(self, key):
        value = self.inputs.get(key, self.parameters.get(key, self.buffers.get(key)))
        if not isinstance(value, torch.Tensor):
            known = ", ".join(self.tensor_names)
            raise Refused("--dim names '%s', which is no input, parameter or buffer; there are: %s" % (key, known))
        return value

    def published(self, name, places):
        values = set()
        for key, axis in places:
            shape = self.tensor(key).shape
            if axis >= len(shape):
                raise Refused("--dim %s=%s:%d: %s has %d dims" % (name, key, axis, key, len(shape)))
            values.add(shape[axis])
        if len(values) > 1:
            raise Refused("--dim %s names dims of different sizes: %s" % (name, ", ".join(map(str, sorted(values)))))
        return values.pop()

    def resized(self, key, tensor, assignment):
        shape = list(tensor.shape)
        for name, places in self.named.items():
            for other, axis in places:
                if other == key:
                    shape[axis] = assignment[name]
        if shape == list(tensor.shape):
            return tensor
        return torch.empty(shape, dtype=tensor.dtype, device="meta")

    def variant(self, assignment, device):
        """(model, inputs) at one assignment."""
        moved = {name: assignment[name] for name in self.literals if assignment[name] != self.base[name]}
        if not moved and device == self.device:
            return self.model, dict(self.inputs)
        return self.file.run({name: assignment[name] for name in self.literals}, device)

    def traced(self, assignment):
        """(model, inputs) to trace at one assignment: but for its own sizes, a model needs no numbers in its weights."""
        if assignment == self.base or self.device == "meta":
            return self.variant(assignment, self.device)
        return self.variant(assignment, "shapes")

    def lower(self, assignment, expected=None, spend=None):
        """The graph at one assignment of the dims, as a Lowering; its shapes hold those of all tensors.  expected, spend: of trace()."""
        model, inputs = self.traced(assignment)
        inputs = {key: self.resized(key, value, assignment) if isinstance(value, torch.Tensor) else value for key, value in inputs.items()}
        parameters, buffers = self.file.store.tensors_of(model)
        if list(parameters) != list(self.parameters) or list(buffers) != list(self.buffers):
            raise Refused(OTHER_PARAMETERS % self.path)
        changed = []
        try:
            for key, tensor in list(parameters.items()) + list(buffers.items()) if self.named else []:
                other = self.resized(key, tensor, assignment)
                if other is not tensor:
                    owner, _, name = key.rpartition(".")
                    module = model.get_submodule(owner)
                    table = module._parameters if key in parameters else module._buffers
                    changed.append((table, name, tensor))
                    table[name] = nn.Parameter(other) if key in parameters else other
            if changed:
                parameters, buffers = tensors_of(model)
            traced = trace(model, self.path, inputs, self.file.path, (parameters, buffers), expected, spend, self.answers, self.file.hooks)
            lowering = Lowering(traced, self.path, self.tensor_names, self.structures)
            lowering.run(traced.graph)
        finally:
            for table, name, tensor in changed:
                table[name] = tensor
            self.file.store.settle(model)
        tensors = dict(inputs, **parameters)
        tensors.update(buffers)
        lowering.shapes = {key: self.resized(key, tensors[key], assignment).shape for key in self.tensor_names}
        lowering.types = {key: DTYPES.get(tensors[key].dtype) for key in self.tensor_names}
        lowering.conversion = conversion(inputs.values(), parameters.values())
        lowering.inputs = inputs
        lowering.calls = traced.calls
        check_shapes(self.path, lowering, self.tensor_names)
        return lowering


def outline(lowering):
    """What may not change between traces: operations, operands, attribute kinds, ranks."""
    return [
        (n["op"], n["in"], n["out"], n["dtype"], len(n["shape"]),
         sorted((k, type(v), len(v) if isinstance(v, tuple) else 0) for k, v in n["attr"].items()))
        for n in lowering.nodes
    ] + [lowering.outputs, list(lowering.extra)]  # fmt: skip


class Probe:
    """All traces so far: assignments[i] belongs to lowerings[i]; the first is the file's own sizes."""

    def __init__(self, subject):
        self.subject = subject
        self.assignments = [dict(subject.base)]
        self.lowerings = [subject.lower(subject.base)]
        self.outline = outline(self.lowerings[0])
        self.failures = {}  # of assignments that were tried
        self.domains = {}
        self.notes = []
        self.extra_shapes = {}
        self.joint = None  # the least sizes that were seen together, where the least of each do not go together
        self.spent = 0.0

    def attempt(self, assignment):
        """None when the graph at this assignment is the same one; else why not."""
        if assignment in self.assignments:
            return None
        key = tuple(assignment.items())
        if key not in self.failures:
            self.failures[key] = self.trace(assignment)
        return self.failures[key]

    def spend(self):
        self.spent += 1

    def trace(self, assignment):
        self.spent += MODEL_COST * len(self.subject.parameters)
        try:
            lowering = self.subject.lower(assignment, self.lowerings[0].calls, self.spend)
        except Refused as refusal:
            return refusal.sentences[0]
        if outline(lowering) != self.outline:
            return "the graph is another one"
        self.assignments.append(dict(assignment))
        self.lowerings.append(lowering)
        return None

    def name_dims(self):
        """The domains of the dims that the user named: each has to be free."""
        for name in self.subject.base:
            self.domains[name] = self.probe_dim(name)
        if len(self.subject.base) > 1:
            together = {name: values[0] for name, (values, _) in self.domains.items()}
            failure = self.attempt(together)
            if failure:
                raise Refused("the model does not trace with %s: %s" % (
                    ", ".join("%s = %d" % pair for pair in together.items()), failure))

    def probe_dim(self, name):
        """Other values at which the model has the same graph, and what they are multiples of."""
        base = self.subject.base[name]
        failure = None
        for multiple in (1,) + tuple(m for m in MULTIPLES if base % m == 0):
            values = []
            for value in sorted({v * multiple for v in SMALL} | {base + multiple}):
                if value == base:
                    continue
                problem = self.attempt(dict(self.subject.base, **{name: value}))
                failure = failure or problem
                if problem is None:
                    values.append(value)
            if any(value % (2 * multiple) for value in values) or len(values) > 3:
                return values, multiple
        raise Refused("--dim %s: the size cannot change: %s" % (name, failure))

    # --- dims that nobody named

    def find_dims(self):
        """Gives every literal that can move a domain, and drops the others.  Later literals move beside the small values of
        those before them, where that works, so the domains hold together."""
        subject = self.subject
        for name in list(subject.base):
            domain = self.search_dim(name) if self.spent < BUDGET else None
            if domain:
                self.domains[name] = domain
        for name in list(subject.base):
            self.find_followers(name)
        self.keep_only(self.domains)

    def find_followers(self, name):
        """A size that stands in the file several times moves in all its places at once."""
        base, literal = self.subject.base[name], self.subject.literals[name]
        others = [other for key, other in self.subject.literals.items() if other.value == base and other is not literal and other.node]
        taken = any(literal in other.followers for other in self.subject.literals.values())
        if base < SMALLEST_WIDTH:  # a kernel or a count may be as large; numbers of get_inputs are sizes
            inputs = self.subject.file.of_inputs_alone
            others = [other for other in others if id(other.node) in inputs] if base > 1 and id(literal.node) in inputs else []
        if name in self.domains or taken or not others or literal.multiples:
            return
        free = [other for other in others if other.name not in self.domains and not other.followers]
        for group in [[other] for other in free] + [[other] for other in others if other not in free] + [free, others]:
            if not group or self.spent > BUDGET:
                continue
            literal.followers = group
            self.failures = {}
            domain = self.search_dim(name)
            if domain:
                self.domains[name] = domain
                for other in group:
                    if other.name in self.domains:  # it moved alone, and moves with this one as well: one dim of the two
                        self.domains.pop(other.name)
                return
        literal.followers = []

    def join_domains(self):
        """Looks for small sizes of all dims at once; a dim that stays small in no company is dropped."""
        joint = dict(self.subject.base)
        small = {name: min(values) for name, (values, _) in self.domains.items()}
        if not small or self.attempt(small) is None:
            return
        lost = []
        for name, (values, _) in self.domains.items():
            base, multiple = self.subject.base[name], self.domains[name][1]
            for value in sorted({v for v in values if v <= base} | {step * multiple for step in LADDER if min(values) <= step * multiple < base} | {base}):
                failure = self.attempt(dict(joint, **{name: value}))
                if failure is None:
                    joint[name] = value
                    break
            else:
                lost.append(name)
        self.joint = joint
        if lost:
            self.keep_only([name for name in self.domains if name not in lost])

    def keep_only(self, names):
        """Forgets the other dims, and the traces that had them elsewhere."""
        base = self.subject.base
        kept = [i for i, a in enumerate(self.assignments) if all(a[name] == base[name] for name in base if name not in names)]
        self.assignments = [{name: self.assignments[i][name] for name in names} for i in kept]
        self.lowerings = [self.lowerings[i] for i in kept]
        for name in list(base):
            if name not in names:
                del base[name]
                self.subject.literals.pop(name, None)
                self.domains.pop(name, None)
        self.failures = {}

    def restrict(self, name):
        """Makes a dim move by twice as much, for what no expression covers may be a half of something odd; False where it cannot."""
        values, multiple = self.domains[name]
        base, multiple = self.subject.base[name], 2 * multiple
        if base % multiple or multiple > MOST_RESTRICTED:
            return False
        self.assignments, self.lowerings = zip(*[pair for pair in zip(self.assignments, self.lowerings) if pair[0][name] % multiple == 0])
        self.assignments, self.lowerings = list(self.assignments), list(self.lowerings)
        kept = [value for value in values if value % multiple == 0]
        for value in [step * multiple for step in LADDER if step * multiple < base] + [base + step * multiple for step in (1, 2, 3)]:
            if len(kept) <= SETTLED and value not in kept and self.works(name, value):
                kept.append(value)
        if len(kept) < SETTLED:
            return False
        self.domains[name] = (sorted(kept), multiple)
        if self.joint and self.joint.get(name, 0) % multiple:
            self.joint = None
        return True

    def works(self, name, value):
        return value >= 1 and self.attempt(dict(self.subject.base, **{name: value})) is None

    def search_dim(self, name):
        """(values, multiple) at which the graph is the same and the shapes move, or None."""
        base = self.subject.base[name]
        if not self.works(name, base + 1) and not self.works(name, 2 * base):
            return None  # what does not even work twice as large moves with nothing that divides it
        for multiple in [m for m in range(1, min(base, 4096) + 1) if base % m == 0][:MOST_MULTIPLES]:
            if not self.works(name, base + multiple):
                continue
            if not self.moves(name, base):
                return None
            values = [base + multiple]
            small = [step * multiple for step in LADDER if step * multiple < base]
            for value in small:
                if self.works(name, value):
                    values.append(value)
                if len(values) > (SETTLED if len(self.outline) < LARGE else SETTLED_LARGE):
                    break
            for value in (base + 2 * multiple, base + 3 * multiple):
                if len(values) < 3 and self.works(name, value):
                    values.append(value)
            if base > LEAST_PUBLISHED and min(values) > base:
                return None  # it only grows, and what was published is the most that is asked
            return sorted(values), multiple
        return None

    def moves(self, name, base):
        """Whether the number is a size: it shows in the shape of an input, or is large and shows in a parameter's.  Small ones
        that do not (a stride, a kernel, a number of groups or heads) say how the model works."""
        used = self.lowerings[0].used
        wide = base >= SMALLEST_WIDTH or (name in self.subject.literals and self.subject.literals[name].multiples)
        keys = [key for key in used if wide or key in self.subject.inputs]
        for assignment, lowering in zip(self.assignments, self.lowerings):
            if assignment[name] != base:
                return any(lowering.shapes[key] != self.lowerings[0].shapes[key] for key in keys)
        return False

    # --- the merged graph

    def merged(self):
        """(nodes, shapes): the graph's nodes and the shape of each tensor, as expressions."""
        self.sizes = sizes.Sizes(self.assignments, {name: multiple for name, (_, multiple) in self.domains.items()})
        first = self.lowerings[0]
        shapes = {}
        for key in self.subject.tensor_names:
            if key in first.used:
                versions = [tuple(lowering.shapes[key]) for lowering in self.lowerings]
                shapes[key] = self.leaf(versions, "the shape of %s" % key, ())
        vectors = {self.subject.tensor_names[key]: list(zip(*[lowering.shapes[key] for lowering in self.lowerings])) for key in first.used}
        for name in first.extra:
            versions = [lowering.extra[name]["shape"] for lowering in self.lowerings]
            self.extra_shapes[name] = self.leaf(versions, "the shape of %s" % name, ())
            vectors[name] = list(zip(*versions))
        nodes = []
        for i, node in enumerate(first.nodes):
            versions = [lowering.nodes[i] for lowering in self.lowerings]
            what = "%s:%d: %s" % (self.subject.path, node["line"], node["op"])
            context = [axis for operand in node["in"] for axis in vectors.get(operand, ())]
            vectors[node["out"]] = list(zip(*[version["shape"] for version in versions]))
            windows = windows_of(versions, vectors)
            told = self.sizes.follow_windows(windows, vectors[node["in"][0]], vectors[node["out"]]) if windows else ()
            for axis in vectors[node["out"]]:
                if axis not in told and axis not in context:
                    self.sizes.not_a_window(axis)
            shape = self.leaf([version["shape"] for version in versions], what + ": its shape", context)
            context = context + vectors[node["out"]]
            attributes = {
                key: self.leaf([version["attr"][key] for version in versions], "%s: %s" % (what, key), context) for key in node["attr"]
            }
            merged = dict(node, attr=attributes, shape=shape)
            if node.get("more"):
                merged["more"] = []
                for j, (name, dtype, _) in enumerate(node["more"]):
                    seen = [version["more"][j][2] for version in versions]
                    vectors[name] = list(zip(*seen))
                    merged["more"].append((name, dtype, self.leaf(seen, what + ": its shape", context)))
            nodes.append(merged)
        return nodes, shapes

    def leaf(self, values, what, context):
        if values.count(values[0]) == len(values) and isinstance(values[0], tuple):
            return tuple(self.leaf([value], what, context) for value in values[0])
        if isinstance(values[0], tuple):
            return tuple(self.leaf([value[i] for value in values], what, context) for i in range(len(values[0])))
        return self.sizes.pick(values, what, context)
