"""A value of a graph that is being traced, with the shape and type that it has (tracing.py makes them)."""

import torch
import torch.fx

from refusal import Refused

WATCHERS = getattr(torch._C, "_len_torch_function_stack", int) if hasattr(torch.overrides, "_pop_mode") else int
PLAIN = (int, float, bool, str, type(None), torch.dtype, torch.device, torch.Size)


def unwatched(function, *arguments):
    """function(*arguments) without Constructors looking at each of its calls, which takes ten times as long as most of them."""
    if not WATCHERS():
        return function(*arguments)
    watcher = torch.overrides._pop_mode()
    try:
        return function(*arguments)
    finally:
        torch.overrides._push_mode(watcher)


class Storage:
    """The storage that a tensor and its views share.  version counts the changes in place."""

    def __init__(self):
        self.version = 0


def written(below, index, value):
    """A node of the graph: below with value put at index, which is a tuple of slices and numbers, a mask, or None for all of it."""
    return below


class ShapedProxy(torch.fx.Proxy):
    """A value of the graph, with the meta tensor (or tuple of them) that stands for it.

    A change in place makes the proxy stand for the new value, and what it is a view of too: parent is (proxy, index), the index
    None where the view holds all of the parent in another shape."""

    known_by = None  # the key by which call_cache.py compares values

    def __init__(self, node, tracer):
        super().__init__(node, tracer)
        self.value = None
        self.storage = Storage()
        self.version = 0
        self.parent = None

    def __getattr__(self, name):
        attribute = getattr(self.value, name)
        if isinstance(attribute, PLAIN):
            return attribute
        if isinstance(attribute, torch.Tensor):  # x.T
            return self.tracer.create_proxy("call_function", getattr, (self, name), {})
        return super().__getattr__(name)

    @property
    def shape(self):
        return unwatched(getattr, self.value, "shape")

    def size(self, dim=None):
        return self.shape if dim is None else self.shape[dim]

    def dim(self):
        return len(self.shape)

    def numel(self):
        return unwatched(self.value.numel)

    def __len__(self):
        return len(self.value)

    def __iter__(self):
        return iter([self[i] for i in range(len(self.value))])

    @classmethod
    def __torch_function__(cls, function, types, arguments=(), named=None):
        return tracer_of(arguments, named or {}).called(function, arguments, named or {})

    def __bool__(self):
        raise Refused(self.tracer.place() + "control flow depends on data (a tensor is used as a condition); compute both and choose with torch.where")

    def __index__(self):
        raise Refused(self.tracer.place() + "a size or index depends on data")

    __int__ = __float__ = __index__

    def __setitem__(self, index, value):
        if isinstance(value, (int, float)):
            value = self.tracer.create_proxy("call_function", torch.full, ((), float(value)), {"dtype": self.value.dtype})
        index = index if isinstance(index, (tuple, ShapedProxy)) else (index,)
        self.tracer.change(self, self.tracer.create_proxy("call_function", written, (self, index, value), {}))

    def changed(self, name, other):
        self.tracer.change(self, getattr(self, name)(other))
        return self

    def __iadd__(self, other):
        return self.changed("__add__", other)

    def __isub__(self, other):
        return self.changed("__sub__", other)

    def __imul__(self, other):
        return self.changed("__mul__", other)

    def __itruediv__(self, other):
        return self.changed("__truediv__", other)

    def __iand__(self, other):
        return self.changed("__and__", other)

    def __ior__(self, other):
        return self.changed("__or__", other)

    def __ixor__(self, other):
        return self.changed("__xor__", other)


def tracer_of(arguments, named):
    """The tracer of the first proxy among the arguments of a call, or None."""
    for value in arguments if isinstance(arguments, (tuple, list)) else (arguments,):
        if isinstance(value, torch.fx.Proxy):
            return value.tracer
        if isinstance(value, (tuple, list)):
            found = tracer_of(value, {})
            if found is not None:
                return found
    return tracer_of(tuple(named.values()), {}) if named else None
