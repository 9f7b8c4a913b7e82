"""Runs a model symbolically and records each functional call with the shapes it saw.

A plain torch.fx trace knows no shapes, so models that ask for them (x.size(0), x.view(n, -1)) need their own treatment.
Here each proxy carries a tensor of the meta device, which has a shape and a type and no data: sizes are ordinary integers,
a large model costs nothing, and whatever depends on data has no answer and is refused with the line that asked.
"""

import collections
import os
import sys
import traceback
import warnings

import torch
import torch.fx
import torch.nn as nn

from refusal import Refused

PLAIN = (int, float, bool, str, type(None), torch.dtype, torch.device, torch.Size)


def user_line(path):
    """The line of the user's file that is being executed, or 0."""
    path = os.path.abspath(path)
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_filename == path:
            return frame.f_lineno
        frame = frame.f_back
    return 0


def failing_line(error, path):
    path = os.path.abspath(path)
    lines = [entry.lineno for entry in traceback.extract_tb(error.__traceback__) if entry.filename == path]
    return lines[-1] if lines else 0


class ShapedProxy(torch.fx.Proxy):
    """A value of the graph, with the meta tensor (or tuple of them) that stands for it."""

    def __init__(self, node, tracer):
        super().__init__(node, tracer)
        self.value = None

    def __getattr__(self, name):
        attribute = getattr(self.value, name)
        if isinstance(attribute, PLAIN):
            return attribute
        if isinstance(attribute, torch.Tensor):  # x.T
            return self.tracer.create_proxy("call_function", getattr, (self, name), {})
        return super().__getattr__(name)

    @property
    def shape(self):
        return self.value.shape

    def size(self, dim=None):
        return self.value.shape if dim is None else self.value.shape[dim]

    def dim(self):
        return self.value.dim()

    def numel(self):
        return self.value.numel()

    def __len__(self):
        return len(self.value)

    def __iter__(self):
        return iter([self[i] for i in range(len(self.value))])

    def __bool__(self):
        raise Refused(self.tracer.place() + "control flow depends on data (a tensor is used as a condition)")

    def __index__(self):
        raise Refused(self.tracer.place() + "a size or index depends on data")

    __int__ = __float__ = __index__

    def __setitem__(self, index, value):
        raise Refused(self.tracer.place() + "assignment into a tensor is not covered")

    def changed(self, name, other):
        result = getattr(self, name)(other)
        result.node.meta["in_place"] = True
        return result

    def __iadd__(self, other):
        return self.changed("__add__", other)

    def __isub__(self, other):
        return self.changed("__sub__", other)

    def __imul__(self, other):
        return self.changed("__mul__", other)

    def __itruediv__(self, other):
        return self.changed("__truediv__", other)


class ShapedTracer(torch.fx.Tracer):
    def __init__(self, path, inputs, state):
        super().__init__()
        self.path = path
        self.inputs = inputs  # placeholder name -> meta tensor
        self.batch_norms = {}
        self.state = state  # qualified name -> parameter; asking the module for it would be traced, without end

    def place(self):
        return "%s:%d: " % (self.path, user_line(self.path))

    def proxy(self, node):
        return ShapedProxy(node, self)

    def is_leaf_module(self, module, qualified_name):
        # In training mode its forward writes to its buffers, which has no place in a graph of values.
        leaf = isinstance(module, nn.modules.batchnorm._BatchNorm) and (module.training or module.running_mean is None)
        if leaf:
            self.batch_norms[qualified_name] = module
        return leaf

    def create_proxy(self, kind, target, args, kwargs, *rest, **more):
        proxy = super().create_proxy(kind, target, args, kwargs, *rest, **more)
        proxy.node.meta["line"] = user_line(self.path)
        value = self.evaluate(kind, target, args, kwargs)
        if not isinstance(value, (torch.Tensor, tuple, list)):
            self.graph.erase_node(proxy.node)
            return value
        proxy.value = value
        proxy.node.meta["value"] = value
        return proxy

    def evaluate(self, kind, target, args, kwargs):
        if kind == "placeholder":
            return self.inputs[target]
        if kind == "get_attr":
            return self.state[target].detach().to("meta")
        if kind == "output":
            return ()
        args = map_values(args)
        kwargs = map_values(kwargs)
        try:
            if kind == "call_module":
                return batch_norm_shape(self.batch_norms[target], args[0])
            if getattr(target, "__name__", target) == "repeat_interleave":
                return repeated_shape(*args, **kwargs)
            if kind == "call_method":
                return getattr(args[0], target)(*args[1:], **kwargs)
            return target(*args, **kwargs)
        except NotImplementedError as error:
            name = target if isinstance(target, str) else target.__name__
            raise Refused(self.place() + "%s depends on data, or PyTorch cannot tell its shape (%s)" % (name, first_line(error)))


def first_line(error):
    text = str(error).strip()
    return text.splitlines()[0][:200] if text else type(error).__name__


def batch_norm_shape(module, value):
    module._check_input_dim(value)
    return nn.functional.batch_norm(value, None, None, training=True)  # says so when a channel has a single value


def repeated_shape(value, repeats, dim=None, output_size=None):
    """torch's own function asks for the size that it would give."""
    if not isinstance(repeats, int) or dim is None:
        raise NotImplementedError("repeats of one number along one dim are covered alone")
    dim %= value.dim()
    shape = value.shape[:dim] + (value.shape[dim] * repeats,) + value.shape[dim + 1 :]
    return value.new_empty(shape)


def map_values(tree):
    """Proxies become the meta tensors they stand for, real tensors their meta twins."""
    if isinstance(tree, ShapedProxy):
        return tree.value
    if isinstance(tree, torch.Tensor):
        return tree.detach().to("meta")
    if isinstance(tree, (tuple, list)) and not isinstance(tree, torch.Size):
        return type(tree)(map_values(item) for item in tree)
    if isinstance(tree, dict):
        return {key: map_values(item) for key, item in tree.items()}
    if isinstance(tree, slice):
        return slice(map_values(tree.start), map_values(tree.stop), map_values(tree.step))
    return tree


class Wrapper(nn.Module):
    """Gives the model a forward with exactly the tensors it is called with; fn=forward_fn keeps its default."""

    def __init__(self, model):
        super().__init__()
        self.model = model


def wrap(model, inputs):
    # torch.fx reads the argument names from the function's code, so the function has to be made with them.
    tensors = [name for name, value in inputs.items() if isinstance(value, torch.Tensor)]
    scope = {"plain": inputs}
    passed = ["%s=%s" % (name, name if name in tensors else "plain[%r]" % name) for name in inputs]
    exec("def forward(self, %s):\n    return self.model(%s)\n" % (", ".join(tensors), ", ".join(passed)), scope)
    return type("Wrapper", (Wrapper,), {"forward": scope["forward"]})(model)


Traced = collections.namedtuple("Traced", "graph root")


def trace(model, path, inputs):
    """Calls model with inputs (argument name -> tensor or plain value).

    Gives the torch.fx graph, whose nodes carry 'value' and 'line' in their meta, and its root module, which holds the
    constants.  Refused when the model writes to its own state or asks for data.
    """
    tensors = {name: value.to("meta") for name, value in inputs.items() if isinstance(value, torch.Tensor)}
    root = wrap(model, inputs)
    tracer = ShapedTracer(path, tensors, dict(root.named_parameters()))
    before = {name: (id(buffer), buffer._version) for name, buffer in model.named_buffers()}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            graph = tracer.trace(root)
    except Refused:
        raise
    except Exception as error:
        text = first_line(error)
        if "as buffer" in text or "as parameter" in text:
            text = "forward writes to the model's own state, such as running statistics (%s)" % text
        raise Refused("%s:%d: the model does not trace: %s" % (path, failing_line(error, path), text))
    for name, buffer in model.named_buffers():
        if before.get(name) != (id(buffer), buffer._version):
            raise Refused("%s: forward writes to the buffer '%s' (running statistics are not covered)" % (path, name))
    return Traced(graph, root)
