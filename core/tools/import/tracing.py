"""Runs a model symbolically and records each functional call with the shapes it saw.

A plain torch.fx trace knows no shapes, but models ask for them (x.size(0), x.view(n, -1)).  Here each proxy has a tensor of the meta
device, which has a shape and a type and no data.  So sizes are ordinary integers and a large model takes no memory.  If the model asks for
something that depends on data, it is refused with the line that asked.

This file takes proxies and the treatment of unusual arguments from torch.fx.  The graph (traced_graph.py) and the patches of nn.Module are
written here.  In all traces of an import PyTorch computes the shapes of a call once (call_cache.py).
"""

import collections
import sys
import warnings

import torch
import torch.fx
import torch.nn as nn

import early_checks
import call_cache
import meta_shapes
from refusal_advice import advice, in_our_words
from call_cache import NUMBERS
from module_hooks import ModuleHooks
from module_walk import held_by, modules_of, tensors_of
from traced_graph import Node, Recording
from refusal import Refused
from shaped_proxy import ShapedProxy, unwatched, written
from user_file import MAKERS, first_line

RESHAPING = frozenset("view reshape flatten unflatten squeeze unsqueeze view_as reshape_as contiguous".split())
STATELESS = "; a task has no state: make it an argument of forward, and return what it becomes"
PYTHON_TYPES = {bool: torch.bool, int: torch.int64, float: torch.get_default_dtype()}  # a Python type that is given as dtype, as in dtype=bool


def user_line(path):
    """The line of the user's file that is being executed, or 0."""
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_filename == path:
            return frame.f_lineno
        frame = frame.f_back
    return 0


def failing_line(error, path):
    line, entry = 0, error.__traceback__
    while entry is not None:
        line = entry.tb_lineno if entry.tb_frame.f_code.co_filename == path else line
        entry = entry.tb_next
    return line


class Constructors(torch.overrides.TorchFunctionMode):
    """Makes each constructor that forward calls (arange, ones, randn, ...) a node of the graph, like any other call."""

    def __init__(self, tracer):
        super().__init__()
        self.tracer = tracer

    def __torch_function__(self, function, types, arguments=(), named=None):
        named = dict(named or {})
        rebound = self.tracer.rebound
        if rebound and not self.tracer.busy:
            arguments = tuple(rebound.get(id(value), (value, value))[1] for value in arguments)
        name = getattr(function, "__name__", "")
        if name == "copy_" and len(arguments) > 1 and isinstance(arguments[0], torch.Tensor) and isinstance(arguments[1], ShapedProxy):
            copied = self.tracer.create_proxy("call_method", "clone", (arguments[1],), {})
            rebound[id(arguments[0])] = (arguments[0], copied)  # holds the tensor, so that its id stays its own
            return copied
        if rebound and arguments and isinstance(arguments[0], ShapedProxy) and hasattr(torch.Tensor, name):
            return getattr(arguments[0], name)(*arguments[1:], **named)
        if name in MAKERS and not self.tracer.busy and user_line(self.tracer.path):
            if "out" in named:
                raise Refused(self.tracer.place() + "a constructor with out= is not covered")
            return self.tracer.create_proxy("call_function", function, arguments, named)
        if arguments and type(arguments[0]) is ShapedProxy:  # torch comes to the same call, after more looks at the arguments
            return self.tracer.called(function, arguments, named)
        return function(*arguments, **named)


OTHER_SHAPE = frozenset("squeeze_ unsqueeze_ transpose_ swapaxes_ swapdims_ t_ resize_ resize_as_ set_ as_strided_ detach_".split())


def tensors_in(model):
    """Tensor -> its qualified name, of those that are plain attributes of a module."""
    return {value: ".".join(filter(None, (path, key))) for path, module in modules_of(model)
            for key, value in vars(module).items() if isinstance(value, torch.Tensor)}  # fmt: skip


class ShapedTracer(torch.fx.Tracer):
    proxy_buffer_attributes = True

    def __init__(self, path, shown, inputs, state, expected=None, spend=None, answers=None):
        super().__init__()
        self.answers = {} if answers is None else answers  # of call_cache.py, shared by all traces
        self.path = path
        self.shown = shown
        self.busy = False
        self.rebound = {}  # id of a tensor outside the graph that a value of the graph overwrote -> the proxy of that value
        self.inputs = inputs  # placeholder name -> meta tensor
        self.batch_norms = {}
        self.submodule_paths = self.tensor_attrs = None  # None until a call needs them
        self.taken = []  # the nodes among the arguments of the call that is being noted
        self.state = state  # qualified name -> parameter.  A module's own attributes are not read here: that would be traced, and so on without end
        self.known = {id(tensor): name for name, tensor in state.items()}
        self.expected = expected  # the calls of an earlier trace, which this trace must repeat; None: any calls
        self.calls = []
        self.spend = spend or (lambda: None)  # called once a node

    def place(self):
        return "%s:%d: " % (self.shown, user_line(self.path))

    def proxy(self, node):
        return ShapedProxy(node, self)

    def getattr(self, attribute, value, cache):
        """Replaces torch.fx's method, which searches all parameters each time a module reads an attribute."""
        name = self.known.get(id(value))
        if name is None:
            return value
        if name not in cache:
            cache[name] = self.create_proxy("get_attr", name, (), {})
        return cache[name]

    def follow(self, kind, name):
        """Notes a call, and ends a trace that cannot become the expected graph any more."""
        call, count = (kind, name), len(self.calls)
        self.calls.append(call)
        self.spend()
        if self.expected is not None and (count >= len(self.expected) or self.expected[count] != call):
            raise Refused("the graph is another one")

    def is_leaf_module(self, module, qualified_name):
        # In training mode its forward writes to its buffers, and a graph of values has no such writes.
        return isinstance(module, nn.modules.batchnorm._BatchNorm) and (module.training or module.running_mean is None)

    def call_leaf(self, module, arguments, named):
        if self.submodule_paths is None:
            self.submodule_paths = {other: name for name, other in modules_of(self.root)}
        if module not in self.submodule_paths:
            raise NameError("module is not installed as a submodule")
        name = self.submodule_paths[module]
        self.batch_norms[name] = module
        return self.create_proxy("call_module", name, arguments, named)

    def called(self, function, arguments, named):
        """A function or method of torch with proxies among its arguments."""
        if isinstance(function, torch._C.ScriptMethod):
            return self.create_proxy("call_method", function.name, (function.owner,) + tuple(arguments), named)
        name = function.__name__
        if torch.overrides.is_tensor_method_or_property(function):
            return self.create_proxy("call_method", name, arguments, named)
        return self.create_proxy("call_function", function, arguments, named, name=self.graph._target_to_str(name))

    def trace(self, root, hooks):
        """The Recording of root.forward(self, ...), whose arguments are the inputs.  hooks: entered ModuleHooks."""
        self.root, self.graph = root, Recording()
        forward = type(root).forward
        proxies = [self.create_proxy("placeholder", name, (), {}) for name in forward.__code__.co_varnames[1 : forward.__code__.co_argcount]]
        with hooks.asking(self):
            result = forward(root, *proxies)
            self.taken = []
            self.graph.keep(self.create_node("output", "output", (self.create_arg(result),), {}), self.taken)
        return self.graph

    def change(self, proxy, result):
        """proxy stands for result from now on."""
        before = proxy.parent
        proxy.node, proxy.value, proxy.known_by = result.node, result.value, None
        proxy.storage.version += 1
        proxy.version = proxy.storage.version
        if before:
            parent, index = before
            whole = self.create_proxy("call_function", written, (parent, index, proxy), {}, stale=True)
            parent.node, parent.value, parent.known_by = whole.node, whole.value, None
            parent.version = proxy.storage.version
            up = parent.parent
            while up:  # the parent may be a view too: go on to the tensor that owns the numbers
                above, index = up
                whole = self.create_proxy("call_function", written, (above, index, parent), {}, stale=True)
                above.node, above.value, above.known_by, above.version = whole.node, whole.value, None, proxy.storage.version
                parent, up = above, above.parent

    def share(self, proxy, name, args):
        """Remembers what a view is a view of."""
        source = args[0] if args and isinstance(args[0], ShapedProxy) else None
        value = proxy.value
        if source is None or not isinstance(value, torch.Tensor) or not isinstance(source.value, torch.Tensor) or not value._is_view():
            return
        base = source.value._base if source.value._is_view() else source.value
        if value._base is not base and value is not source.value:
            return
        proxy.storage, proxy.version = source.storage, source.storage.version
        if name == "getitem" and not isinstance(args[1], ShapedProxy):
            proxy.parent = (source, args[1] if isinstance(args[1], tuple) else (args[1],))
        elif value.numel() == source.value.numel() and name in RESHAPING:
            proxy.parent = (source, None)
        else:
            proxy.parent = (source, "no way back")

    def create_arg(self, a):
        """Treats values of the graph and numbers, which most arguments are; leaves the others to torch.fx."""
        kind = type(a)
        if kind in NUMBERS:
            return a
        if kind is tuple:
            return tuple([self.create_arg(part) for part in a])
        if kind is list:
            return [self.create_arg(part) for part in a]
        if isinstance(a, torch.fx.Proxy):
            node = a.node
            self.taken.append(node)
            return node
        if isinstance(a, torch.Tensor):
            if id(a) in self.known:
                self.taken.append(self.create_node("get_attr", self.known[id(a)], (), {}))
                return self.taken[-1]
            if self.tensor_attrs is None:
                self.tensor_attrs = tensors_in(self.root)
        arg = super().create_arg(a)
        if isinstance(arg, Node):
            self.taken.append(arg)
        return arg

    def create_node(self, kind, target, args, kwargs, name=None, type_expr=None):
        return self.graph.create_node(kind, target, args, kwargs, name)

    def as_given(self, value):
        """Returns an argument in the form for the graph: for a Python type torch's type, for an overwritten tensor its new value."""
        if isinstance(value, type):
            return PYTHON_TYPES.get(value, value)
        return self.rebound[id(value)][1] if id(value) in self.rebound else value

    def create_proxy(self, kind, target, args, kwargs, name=None, type_expr=None, proxy_factory_fn=None, stale=False):
        return unwatched(self.add, kind, target, args, kwargs, name, stale)

    def add(self, kind, target, args, kwargs, name, stale):
        args = tuple([self.as_given(value) for value in args])
        kwargs = {key: PYTHON_TYPES.get(value, value) if isinstance(value, type) else value for key, value in kwargs.items()}
        for value in args if not stale else ():
            if isinstance(value, ShapedProxy) and value.version != value.storage.version:
                raise Refused(self.place() + "a view of a value that was changed in place since is used again; make the view after the change")
        self.taken = taken = []
        node = self.create_node(kind, target, self.create_arg(args), {key: self.create_arg(value) for key, value in kwargs.items()}, name)
        node.meta["line"] = user_line(self.path)
        busy, self.busy = self.busy, True
        try:
            value = self.answer(kind, target, args, kwargs)
        finally:
            self.busy = busy
        if not isinstance(value, (torch.Tensor, tuple, list)):
            self.graph.drop_last()
            return value
        return self.placed(node, taken, value, kind, target, args, kwargs)

    def repeat(self, call, x, held):
        """The same as add() for a call of a plain layer (layer_calls.py), whose arguments are not looked at again.  held: name -> proxy."""
        if x.version != x.storage.version:
            return self.add(call.kind, call.target, *call.given(x, held), call.name, False)  # add() refuses it
        key = (call, call_cache.key_of(x), *[call_cache.key_of(value) for value in held.values()])
        value = self.answers.get(key)
        if value is None:
            args, kwargs = call.given(x, held)
            busy, self.busy = self.busy, True
            try:
                value = self.answer(call.kind, call.target, args, kwargs)
            finally:
                self.busy = busy
            if not isinstance(value, torch.Tensor):
                return self.add(call.kind, call.target, args, kwargs, call.name, False)
            call_cache.keep(self.answers, key, (x.value,), value)
        args, kwargs = call.given(x.node, {name: proxy.node for name, proxy in held.items()})
        node = self.create_node(call.kind, call.target, args, kwargs, call.name)
        node.meta["line"] = user_line(self.path)
        return self.placed(node, [x.node, *[proxy.node for proxy in held.values()]], value, call.kind, call.target, (x,), kwargs)

    def placed(self, node, taken, value, kind, target, args, kwargs):
        """The proxy of a node that gave a value."""
        self.graph.keep(node, taken)
        proxy = ShapedProxy(node, self)
        proxy.value = value
        node.meta["value"] = value
        name = target if isinstance(target, str) else getattr(target, "__name__", "")
        self.follow(kind, name)
        changes = kwargs.get("inplace") or (name.endswith("_") and not name.endswith("__") and kind in ("call_function", "call_method"))
        changes = changes and getattr(target, "__module__", "") != "_operator"  # operator.and_ ends in _ but changes nothing
        if changes and args and isinstance(args[0], ShapedProxy) and isinstance(value, torch.Tensor):
            if args[0].parent and args[0].parent[1] == "no way back":
                raise Refused(self.place() + "%s changes a view in place that is no slice; write it out of place" % name)
            self.change(args[0], proxy)
            return args[0]
        if kind in ("call_function", "call_method"):
            self.share(proxy, name, args)
        return proxy

    def answer(self, kind, target, args, kwargs):
        """Returns the result of a call.  If the result shares no memory with the arguments, an earlier answer to the same call serves."""
        if kind not in ("call_function", "call_method"):
            return self.evaluate(kind, target, args, kwargs)
        key, found = call_cache.find(self.answers, target, args, kwargs)
        if found is not None:
            return found
        args, kwargs = map_values(args), map_values(kwargs)
        if target in OTHER_SHAPE:
            args = (args[0].clone(),) + args[1:]  # the call changes its shape, and other values may share the tensor
        if key is None:  # an argument is a tensor with numbers
            key, found = call_cache.find(self.answers, target, args, kwargs)
        if key is None:
            return self.evaluate(kind, target, args, kwargs)
        if found is None:
            name = target if isinstance(target, str) else getattr(target, "__name__", "")
            problem = early_checks.problem(name, args, kwargs) if self.expected is not None else None
            if problem:
                raise RuntimeError(problem)
            found = meta_shapes.told(name, args, kwargs)
            if found is None:
                found = self.evaluate(kind, target, args, kwargs)
            call_cache.keep(self.answers, key, args, found)
        return found

    def evaluate(self, kind, target, args, kwargs):
        if kind == "placeholder":
            return self.inputs[target]
        if kind == "get_attr":
            return self.state[target].detach().to("meta")
        try:
            if kind == "call_module":
                return meta_shapes.batch_norm_shape(self.batch_norms[target], map_values(args[0]))
            if target is nn.functional.batch_norm and args[0].dim() >= 2:
                return meta_shapes.without_data(args[0], args[0].shape)  # PyTorch computes it on the meta device; shape_rules.py looks at the channels
            if target is nn.functional.cross_entropy:
                return meta_shapes.loss_shape(*args, **kwargs)
            if getattr(target, "__name__", target) == "repeat_interleave":
                return meta_shapes.repeated_shape(*args, **kwargs)
            if getattr(target, "__name__", target) == "one_hot":
                return meta_shapes.one_hot_shape(*args, **kwargs)
            if "max_pool3d" in getattr(target, "__name__", "") and args[0].device.type == "meta":
                return meta_shapes.pooled_shape(*args, **kwargs)
            if getattr(target, "__name__", "") in meta_shapes.RECURRENT and len(args) == 9:
                return meta_shapes.recurrent_shapes(target.__name__, *args)
            if kind == "call_method":
                return getattr(args[0], target)(*args[1:], **kwargs)
            if getattr(target, "__name__", "") in MAKERS:
                kwargs.pop("generator", None)
                kwargs["device"] = "meta"
            return target(*args, **kwargs)
        except RuntimeError as error:  # for meta tensors PyTorch 1.13 raises NotImplementedError, a subclass, and 2.11 other classes
            if target in ("item", "tolist", "numpy"):
                raise Refused(self.place() + "%s takes numbers out of a tensor, and they depend on data; go on with the tensor" % target)
            if not isinstance(error, NotImplementedError):
                raise
            name = target if isinstance(target, str) else target.__name__
            raise Refused(self.place() + "%s depends on data, or PyTorch cannot tell its shape (%s)" % (name, first_line(error)))


def map_values(tree):
    """Proxies become the meta tensors they stand for, real tensors their meta twins."""
    kind = type(tree)
    if kind is ShapedProxy:
        return tree.value
    if kind in NUMBERS:
        return tree
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


def know_einops():
    """If the user's file has loaded einops, tells it to treat a proxy as a tensor of PyTorch.  einops looks up a tensor's type to find its backend."""
    backends = sys.modules.get("einops._backends")
    if backends is None:
        return
    known = getattr(backends, "_type2backend", None)  # since 0.7; earlier versions have a table with names of frameworks
    if known is not None:
        known[ShapedProxy] = backends.TorchBackend()
    else:
        made = backends.TorchBackend()
        made.is_appropriate_type = lambda tensor: isinstance(tensor, (torch.Tensor, ShapedProxy))
        backends._backends["torch"] = made


Traced = collections.namedtuple("Traced", "graph root calls")


def trace(model, shown, inputs, path, given=None, expected=None, spend=None, answers=None, hooks=None):
    """Calls model with inputs (argument name -> tensor or plain value).  shown: the file's name in messages; path: of its code.

    Returns the torch.fx graph, whose nodes have 'value' and 'line' in their meta, and its root module, which holds the
    constants.  Raises Refused if the model writes to its own state or asks for data, or if its calls differ from `expected`,
    the calls of an earlier trace.  given: (parameters, buffers) of the model, by name.  spend() is called once a node, and may end the trace.  answers: of ShapedTracer.
    hooks: ModuleHooks that are entered already; without them the trace enters its own.
    """
    if hooks is None:
        with ModuleHooks() as hooks:
            return trace(model, shown, inputs, path, given, expected, spend, answers, hooks)
    tensors = {name: value.to("meta") for name, value in inputs.items() if isinstance(value, torch.Tensor)}
    root = wrap(model, inputs)
    parameters, buffers = given or tensors_of(model)
    state = {"model." + name: tensor for name, tensor in [*parameters.items(), *buffers.items()]}
    tracer = ShapedTracer(path, shown, tensors, state, expected, spend, answers)
    before = {name: (id(buffer), buffer._version) for name, buffer in buffers.items()}
    know_einops()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Constructors(tracer):
                graph = tracer.trace(root, hooks)
    except Refused:
        raise
    except Exception as error:
        text = first_line(error)
        if "as buffer" in text or "as parameter" in text:
            text = "forward writes to the model's own state, such as running statistics (%s)%s" % (text, STATELESS)
        text = in_our_words(text) + advice(text, tensors.values(), parameters.values())
        raise Refused("%s:%d: the model does not trace: %s" % (shown, failing_line(error, path), text))
    for name, buffer in held_by(modules_of(model), "_buffers").items():
        if type(buffer) is ShapedProxy:  # PyTorch 2 lets a proxy be a buffer
            raise Refused("%s:%d: the model does not trace: forward writes to the model's own state, such as running statistics (the buffer '%s')%s"
                          % (shown, buffer.node.meta["line"], name, STATELESS))
        if before.get(name) != (id(buffer), buffer._version):
            raise Refused("%s: forward writes to the buffer '%s'%s" % (shown, name, STATELESS))
    return Traced(graph, root, tracer.calls)
