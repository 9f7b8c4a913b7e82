"""What PyTorch's plain layers call, learnt from the first of each kind and made again without going through them.

A layer such as nn.Conv2d calls one function with its input, its parameters and numbers that it holds.  On the way there are some ten calls
of Python, which a network of four hundred layers pays in each of fifty traces.  Two layers of one class that hold the same numbers call
the same, so what the first was seen to call is made for the others at once, by the tracer, as the layer itself would make it."""

import operator

import torch.nn as nn

from call_cache import NUMBERS
from traced_graph import Node

PLAIN = frozenset((
    nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d, nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d, nn.LayerNorm, nn.GroupNorm, nn.Dropout,
    nn.ReLU, nn.ReLU6, nn.GELU, nn.SiLU, nn.Sigmoid, nn.Tanh, nn.Hardtanh, nn.LeakyReLU, nn.MaxPool2d, nn.AvgPool2d, nn.AdaptiveAvgPool2d))  # fmt: skip
INPUT = object()


class Call:
    """One call: args and named hold plain values, INPUT, and Held in place of a layer's tensors.  reads: the names of these, as they are read;
    name: what its node is called."""

    def __init__(self, kind, target, args, named, reads, name):
        self.kind = kind
        self.target = target
        self.args = args
        self.named = named
        self.reads = reads
        self.name = name

    def given(self, x, held):
        """(args, kwargs) with x and the tensors held in their places."""

        def one(value):
            return x if value is INPUT else held[value] if type(value) is Held else value

        return tuple([one(value) for value in self.args]), {name: one(value) for name, value in self.named.items()}


class Held(str):
    """The name of a parameter or buffer."""


def watched(module):
    """Whether the layer has hooks, which run before or after it is called."""
    hooks = nn.modules.module
    return (module._forward_hooks or module._forward_pre_hooks or module._backward_hooks or hooks._global_forward_hooks
            or hooks._global_forward_pre_hooks or hooks._global_backward_hooks)  # fmt: skip


def is_plain(value):
    return all(map(is_plain, value)) if type(value) is tuple else type(value) in NUMBERS


class LayerCalls:
    def __init__(self):
        self.calls = {}  # key of a layer -> its Call; None: the layer does more than one call
        self.getters = {}  # class -> (how many attributes it has, a getter of those that are numbers)

    def key(self, module, rank):
        """A key of all that decides the layer's call; None: it is not known."""
        kind, held = type(module), vars(module)
        count, getter = self.getters.get(kind, (0, None))
        if getter is None:
            names = sorted(name for name in held if not name.startswith("_"))
            count, getter = self.getters[kind] = len(held), operator.attrgetter(*names, "training")  # of two at least, which makes a tuple
        if len(held) != count or "forward" in held or watched(module):
            return None
        try:
            numbers = getter(module)
            tensors = tuple([value is None for value in (*module._parameters.values(), *module._buffers.values())])
            key = (kind, rank, numbers, tuple(map(type, numbers)), tensors)
            hash(key)
            return key
        except (AttributeError, TypeError):
            return None

    def learn(self, key, module, before, node, made, tracer):
        """Keeps what a layer was seen to call.  before: the node of its input; node: of its result; made: all nodes that it made, of tensors of
        its own and of one call."""
        state = tracer.state
        own = {id(tensor): name for table in (module._parameters, module._buffers) for name, tensor in table.items() if tensor is not None}
        stands = {before: INPUT}
        for read in made[:-1]:
            if read.op == "get_attr" and id(state[read.target]) in own:
                stands[read] = Held(own[id(state[read.target])])
        self.calls[key] = None
        if made[-1:] != [node] or len(stands) != len(made) or node.op not in ("call_function", "call_method"):
            return

        def named(value):
            return stands.get(value, value) if isinstance(value, Node) else value

        args, kwargs = tuple(map(named, node.args)), {name: named(value) for name, value in node.kwargs.items()}
        if all(value is INPUT or type(value) is Held or is_plain(value) for value in (*args, *kwargs.values())):
            wanted = tracer.graph._target_to_str(node.target.__name__) if node.op == "call_function" else None
            self.calls[key] = Call(node.op, node.target, args, kwargs, tuple(stands.values())[1:], wanted)
