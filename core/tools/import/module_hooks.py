"""What of PyTorch's modules is another while models are traced: how they are called, what their parameters are, which masks attention
gets.  An import enters it once; tracing.py says which tracer is asked."""

import contextlib

import torch
import torch.nn as nn

from layer_calls import PLAIN as PLAIN_LAYERS, LayerCalls
from shaped_proxy import ShapedProxy, unwatched


@contextlib.contextmanager
def masks_as_given(tracer):
    """While it is entered, attention of PyTorch 2 hands its masks on as they are.

    nn.MultiheadAttention asks for a mask's type, which a proxy is refused, and makes a mask of numbers out of one of truth values.  The
    call that is recorded, multi_head_attention_forward, makes the same mask again, so nothing is lost.  nn.TransformerEncoder and
    TransformerDecoder compare their mask with a causal one, to say later that it is one; a mask that is not said to be causal is
    applied, and gives the same.  PyTorch's own calls on meta tensors keep its functions, and PyTorch 1.13 has none of them."""
    functional, layers = nn.functional, nn.modules.transformer
    own = {(owner, name): getattr(owner, name)
           for owner, name in ((functional, "_none_or_dtype"), (functional, "_canonical_mask"), (layers, "_detect_is_causal_mask"))
           if hasattr(owner, name)}  # fmt: skip

    def none_or_dtype(given):
        return given.dtype if isinstance(given, ShapedProxy) else own[functional, "_none_or_dtype"](given)

    def canonical_mask(mask, *others, **named):
        return own[functional, "_canonical_mask"](mask, *others, **named) if tracer.busy else mask

    def detect_is_causal_mask(mask, is_causal=None, size=None):
        return own[layers, "_detect_is_causal_mask"](mask, is_causal, size) if tracer.busy else is_causal is True

    given = {"_none_or_dtype": none_or_dtype, "_canonical_mask": canonical_mask, "_detect_is_causal_mask": detect_is_causal_mask}
    for owner, name in own:
        setattr(owner, name, given[name])
    try:
        yield
    finally:
        for (owner, name), function in own.items():
            setattr(owner, name, function)


class ModuleHooks:
    """While it is entered, modules ask the tracer of the current trace, if there is one, how they are called, and give proxies in place
    of their parameters and buffers.

    A change of nn.Module makes Python forget what it knows of its hundreds of subclasses, some milliseconds each time, so an import
    enters it once for all of its traces."""

    def __init__(self):
        self.tracer = None
        self.known = {}  # of the tracer
        self.proxies = {}  # name -> proxy, of the trace
        self.layers = LayerCalls()

    def __enter__(self):
        own_getattr, own_call = self.own = nn.Module.__getattr__, nn.Module.__call__

        def module_getattr(module, name):
            value = own_getattr(module, name)
            return self.tracer.getattr(name, value, self.proxies) if id(value) in self.known else value

        def module_call(module, *arguments, **named):
            tracer = self.tracer
            if tracer is None:
                return own_call(module, *arguments, **named)
            if tracer.is_leaf_module(module, ""):
                return tracer.call_leaf(module, arguments, named)
            if type(module) in PLAIN_LAYERS and len(arguments) == 1 and not named and type(arguments[0]) is ShapedProxy and not tracer.rebound:
                return self.layer_called(tracer, module, arguments[0], own_call)
            return own_call(module, *arguments, **named)

        nn.Module.__getattr__, nn.Module.__call__ = module_getattr, module_call
        return self

    def layer_called(self, tracer, module, x, own_call):
        """What one of PyTorch's plain layers gives for x, by the way of layer_calls.py where another like it was called before."""
        key, result = unwatched(self.layer_repeated, tracer, module, x)
        if key is None:
            return own_call(module, x) if result is None else result
        before, count = x.node, len(tracer.graph.nodes)
        result = own_call(module, x)
        if type(result) is ShapedProxy:
            self.layers.learn(key, module, before, result.node, tracer.graph.nodes[count:], tracer)
        return result

    def layer_repeated(self, tracer, module, x):
        """(key, None) of a layer that nobody called yet, (None, what the layer gives), or (None, None) where it has to be called itself."""
        key = self.layers.key(module, x.value.dim()) if isinstance(x.value, torch.Tensor) else None
        if key is None:
            return None, None
        call = self.layers.calls.get(key)
        if call is None:
            return (None, None) if key in self.layers.calls else (key, None)
        held = {}
        for name in call.reads:
            tensor = module._parameters.get(name)
            tensor = module._buffers[name] if tensor is None else tensor
            if id(tensor) not in self.known:
                return None, None
            held[name] = tracer.getattr(name, tensor, self.proxies)
        return None, tracer.repeat(call, x, held)

    def __exit__(self, *ignored):
        nn.Module.__getattr__, nn.Module.__call__ = self.own

    @contextlib.contextmanager
    def asking(self, tracer):
        self.tracer, self.known, self.proxies = tracer, tracer.known, {}
        try:
            with masks_as_given(tracer):
                yield
        finally:
            self.tracer, self.known, self.proxies = None, {}, {}
