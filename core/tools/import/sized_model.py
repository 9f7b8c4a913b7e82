"""The user's model at any sizes: its dims, and the graph that a trace at one assignment of them gives."""

import torch
import torch.nn as nn

import number_patterns
from lowering import DTYPES, Lowering
from module_walk import modules_of, tensors_of
from refusal import Refused
from refusal_advice import conversion
from shape_rules import check_shapes
from tracing import trace
from user_file import shaped_inputs

MOST_REAL = 1 << 25  # most elements of a model that is made only for the numbers in its buffers
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
        """Buffer -> the pattern of its numbers, if the graph can compute it."""
        asked = [key for key, buffer in self.buffers.items() if buffer.dtype != torch.int8  # only a node `to` makes this type
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
        return {key: found for key in asked for found in [number_patterns.of(buffers[key])] if found}

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
        """Argument, parameter or buffer -> a unique name that is an identifier."""
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
        """(model, inputs) to trace at one assignment.  Only at the file's own sizes does a model need numbers in its weights."""
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
