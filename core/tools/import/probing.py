"""Traces a model at several values of the named dims and merges the traces into one graph of expressions."""

import torch
import torch.nn as nn

import sizes
from lowering import Lowering
from refusal import Refused
from tracing import trace

SMALL = (1, 2, 3, 5, 7, 8, 16, 31, 33)
MULTIPLES = (2, 4, 8, 16, 32, 64, 128)


class Subject:
    """The user's model and inputs, and the dims they named: name -> [(tensor key, axis), ...]."""

    def __init__(self, path, model, inputs, named):
        self.path = path
        self.model = model
        self.inputs = inputs
        self.named = named
        self.parameters = dict(model.named_parameters())
        self.buffers = dict(model.named_buffers())
        self.tensor_names = self.choose_names()
        self.base = {name: self.published(name, places) for name, places in named.items()}

    def choose_names(self):
        """Argument, parameter or buffer -> a name that is an identifier and nobody else's."""
        chosen = {}
        tensors = [name for name, value in self.inputs.items() if isinstance(value, torch.Tensor)]
        for key in tensors + list(self.parameters) + list(self.buffers):
            name = key.replace(".", "_")
            while name in chosen.values() or name in self.named:
                name += "_"
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

    def shapes(self, assignment):
        found = {key: self.resized(key, self.tensor(key), assignment) for key in self.tensor_names}
        return {key: (tuple(value.shape), value.dtype) for key, value in found.items()}

    def lower(self, assignment):
        """The graph at one assignment of the dims, as a Lowering."""
        inputs = {
            key: self.resized(key, value, assignment) if isinstance(value, torch.Tensor) else value
            for key, value in self.inputs.items()
        }
        changed = []
        try:
            for key, tensor in list(self.parameters.items()) + list(self.buffers.items()):
                other = self.resized(key, tensor, assignment)
                if other is not tensor:
                    owner, _, name = key.rpartition(".")
                    module = self.model.get_submodule(owner)
                    table = module._parameters if key in self.parameters else module._buffers
                    changed.append((table, name, tensor))
                    table[name] = nn.Parameter(other) if key in self.parameters else other
            traced = trace(self.model, self.path, inputs)
            lowering = Lowering(traced, self.path, self.tensor_names)
            lowering.run(traced.graph)
            return lowering
        finally:
            for table, name, tensor in changed:
                table[name] = tensor


def outline(lowering):
    """What may not change between traces: operations, operands, attribute kinds, ranks."""
    return [
        (n["op"], n["in"], n["out"], n["dtype"], len(n["shape"]),
         sorted((k, type(v), len(v) if isinstance(v, tuple) else 0) for k, v in n["attr"].items()))
        for n in lowering.nodes
    ] + [lowering.outputs]  # fmt: skip


class Probe:
    """All traces so far: assignments[i] belongs to lowerings[i]; the first is the file's own sizes."""

    def __init__(self, subject):
        self.subject = subject
        self.assignments = [dict(subject.base)]
        self.lowerings = [subject.lower(subject.base)]
        self.domains = {}
        for name in subject.named:
            self.domains[name] = self.probe_dim(name)
        if len(subject.named) > 1:
            together = {name: values[0] for name, (values, _) in self.domains.items()}
            failure = self.attempt(together)
            if failure:
                raise Refused("the model does not trace with %s: %s" % (
                    ", ".join("%s = %d" % pair for pair in together.items()), failure))

    def attempt(self, assignment):
        """None when the graph at this assignment is the same one; else why not."""
        if assignment in self.assignments:
            return None
        try:
            lowering = self.subject.lower(assignment)
        except Refused as refusal:
            return refusal.sentences[0]
        if outline(lowering) != outline(self.lowerings[0]):
            return "the graph is another one"
        self.assignments.append(dict(assignment))
        self.lowerings.append(lowering)
        return None

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

    # --- the merged graph

    def nodes(self):
        merged = []
        for i, first in enumerate(self.lowerings[0].nodes):
            versions = [lowering.nodes[i] for lowering in self.lowerings]
            what = "%s:%d: %s" % (self.subject.path, first["line"], first["op"])
            attributes = {
                key: self.leaf([version["attr"][key] for version in versions], "%s: %s" % (what, key)) for key in first["attr"]
            }
            shape = self.leaf([version["shape"] for version in versions], what + ": its shape")
            merged.append(dict(first, attr=attributes, shape=shape))
        return merged

    def leaf(self, values, what):
        if isinstance(values[0], tuple):
            return tuple(self.leaf([value[i] for value in values], what) for i in range(len(values[0])))
        return sizes.pick(self.assignments, values, what)

    def shape_of(self, key):
        """The dims of an input, parameter or buffer as texts: a name only where --dim put one."""
        texts = [str(size) for size in self.subject.tensor(key).shape]
        for name, places in self.subject.named.items():
            for other, axis in places:
                if other == key:
                    texts[axis] = name
        return tuple(texts)
