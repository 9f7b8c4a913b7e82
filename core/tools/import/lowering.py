"""Turns a traced graph into the nodes of reference.graph.yaml: one functional operation each, shapes as seen in this trace.

Calls without an operation are collected, so that the user sees all of them at the same time.
"""

import math

import torch

from attention_calls import AttentionCalls, upper_triangle
from composed_calls import ComposedCalls
from constructor_calls import ConstructorCalls
from einsum_calls import EinsumCalls
from index_calls import IndexCalls
from layout_calls import CONVERTED, LayoutCalls, number
from traced_graph import Node, map_nodes
from recurrent_calls import RecurrentCalls
from refusal import Refused
from shape_rules import check_factors
from signatures import ALIASES, SIGNATURES, bind
from truth_calls import TruthCalls

DTYPES = {
    torch.float32: "float32", torch.float64: "float64", torch.float16: "float16", torch.bfloat16: "bfloat16",
    torch.int32: "int32", torch.int64: "int64", torch.uint8: "uint8", torch.int8: "int8",
}  # fmt: skip
COMPARISONS = {name: name.strip("_") for name in "gt ge lt le eq __gt__ __ge__ __lt__ __le__ __eq__".split()}
COMPARISONS.update(greater="gt", greater_equal="ge", less="lt", less_equal="le")
IDENTITIES = {"contiguous", "clone", "identity", "cpu", "cuda", "requires_grad_"}
CASTS = {"to", "float", "double", "half", "bfloat16", "long", "int", "bool", "type", "type_as"}
RESHAPES = {"view", "reshape", "flatten", "unflatten", "squeeze", "unsqueeze", "view_as", "reshape_as"}
# Operations that move elements, so that the graph stores the result in their type.
MOVES = {"reshape", "expand", "permute", "transpose", "narrow", "slice", "flip", "gather", "embedding"}
TYPED = {"softmax", "log_softmax", "softmin", "sum", "mean", "prod", "cumsum", "cumprod"}  # which may be told a type to compute in
PRODUCTS = {"linear", "matmul", "bmm", "baddbmm", "addmm", "scaled_dot_product_attention", "bilinear"} | {
    "conv%s%dd" % (turned, rank) for turned in ("", "_transpose") for rank in (1, 2, 3)}  # fmt: skip
DROPOUTS = {"dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout"}
BINARY = {
    "add": "add", "__add__": "add", "__radd__": "add", "iadd": "add",
    "sub": "sub", "subtract": "sub", "__sub__": "sub", "isub": "sub",
    "mul": "mul", "multiply": "mul", "__mul__": "mul", "__rmul__": "mul", "imul": "mul",
    "div": "div", "divide": "div", "truediv": "div", "true_divide": "div", "__truediv__": "div", "itruediv": "div",
}  # fmt: skip


class Lowering(LayoutCalls, ComposedCalls, AttentionCalls, ConstructorCalls, EinsumCalls, IndexCalls, RecurrentCalls, TruthCalls):
    def __init__(self, traced, path, tensor_names, structures=()):
        self.root = traced.root
        self.path = path
        self.structures = dict(structures)  # buffer -> the pattern of its numbers
        self.extra = {}  # name -> a tensor that forward draws and the task takes as an input
        self.tensor_names = tensor_names  # argument, parameter or buffer -> the task's name for it
        self.taken = set(tensor_names.values())  # names that values may not have
        self.constants = {}  # Node -> tensor made inside forward
        self.names = {}  # Node -> value name, or a tuple of them
        self.nodes = []
        self.logical = set()  # names of values that are true or false
        self.bytes = set()  # those of them that are uint8: inputs, and values that only move inputs' elements
        self.notes = []
        self.tracked = []  # batch norms that would update running statistics
        self.refusals = []
        self.used = set()  # arguments, parameters and buffers that the graph reads
        self.outputs = []

    # --- values

    def emit(self, op, operands, attributes, value, line, hint):
        name = hint
        count = 2
        while name in self.taken:
            name = "%s_%d" % (hint, count)
            count += 1
        self.taken.add(name)
        dtype = value.dtype
        if dtype == torch.bool:  # truth is 0 or 1
            dtype = torch.float32
            self.logical.add(name)
            if op in MOVES and operands[0] in self.bytes:
                dtype = torch.uint8
                self.bytes.add(name)
        if dtype not in DTYPES:
            raise Refused("values of type %s (%s) are not covered" % (str(value.dtype).replace("torch.", ""), op))
        attributes = {key: tuple(part) if isinstance(part, list) else part for key, part in attributes.items()}
        self.nodes.append({
            "op": op, "in": operands, "attr": attributes, "line": line,
            "out": name, "shape": tuple(value.shape), "dtype": DTYPES[dtype],
        })  # fmt: skip
        return name

    def step(self, node, op, operands, attributes, like=None, suffix=""):
        return self.emit(op, operands, attributes, node.meta["value"] if like is None else like, node.meta["line"],
                         node.name + suffix)

    def operand(self, value):
        if isinstance(value, Node):
            if value not in self.names:
                raise Refused("it needs a value that is not covered")
            return self.names[value]
        if isinstance(value, torch.Tensor):
            return self.constant(value)
        raise Refused("a plain number where a tensor belongs")

    def constant(self, value):
        """The number of a tensor that forward makes, if all its elements are the same number."""
        if value.device.type == "meta" or value.dtype != torch.float32 or value.numel() == 0 or not bool((value == value.flatten()[0]).all()):
            raise Refused("a tensor made inside forward is an operand; make it a buffer or an input")
        return self.emit("full", [], {"shape": tuple(value.shape), "value": value.flatten()[0].item()}, value, self.line, "constant")

    # --- the walk

    def run(self, graph):
        for node in graph.nodes:
            self.line = node.meta.get("line", 0)
            try:
                if node.op in ("placeholder", "get_attr"):
                    self.source(node)
                elif node.op == "output":
                    self.finish(node.args[0])
                else:
                    self.names[node] = self.lower(node)
            except Refused as refusal:
                where = "%s:%d: " % (self.path, self.line) if self.line else "%s: " % self.path  # the results of forward have no line
                blind = refusal.sentences == ["it needs a value that is not covered"]
                if not blind:  # the operation that made that value is on the list already
                    self.refusals += [where + sentence for sentence in refusal.sentences]
            except (TypeError, ValueError, AttributeError, KeyError, IndexError, RuntimeError) as error:
                where = "%s:%d: " % (self.path, node.meta.get("line", 0))
                name = getattr(node.target, "__name__", node.target)
                self.refusals.append(where + "%s with these arguments is not covered (%s)" % (name, error))
        if self.refusals:
            raise Refused(*dict.fromkeys(self.refusals))
        if self.tracked:
            more = " (and so do %d others)" % (len(self.tracked) - 1) if len(self.tracked) > 1 else ""
            self.notes.append("%s normalises by batch statistics%s; the update of running statistics is no part of the task" % (self.tracked[0], more))
        self.prune()

    def prune(self):
        """Leaves out what no output needs."""
        needed = set(self.outputs)
        for node in reversed(self.nodes):
            if node["out"] in needed or any(name in needed for name, _, _ in node.get("more", ())):
                needed.update(node["in"])
                node["needed"] = True
        self.nodes = [node for node in self.nodes if node.pop("needed", False)]
        for node in self.nodes:  # a node gives no results after the last one that is needed
            more = list(node.get("more", ()))
            while more and more[-1][0] not in needed:
                more.pop()
            if "more" in node:
                node["more"] = tuple(more)
        self.used = {key for key in self.used if self.tensor_names[key] in needed}
        self.extra = {name: tensor for name, tensor in self.extra.items() if name in needed}

    def source(self, node):
        key = node.target if node.op == "placeholder" else node.target.replace("model.", "", 1)
        if key in self.structures:
            self.names[node] = self.pattern(node, self.structures[key])
        elif key in self.tensor_names:
            if node.op == "get_attr" or node.users:
                self.used.add(key)
            self.names[node] = self.tensor_names[key]
            value = node.meta.get("value")  # parameters have none
            if isinstance(value, torch.Tensor) and value.dtype == torch.bool:
                self.bytes.add(self.names[node])
        else:
            self.constants[node] = attribute(self.root, node.target)

    def resolve(self, tree):
        """Arguments with constants in place of the nodes that hold them."""
        return map_nodes(tree, lambda node: self.constants.get(node, node)) if self.constants else tree

    def finish(self, result):
        results = result if isinstance(result, (tuple, list)) else (result,)
        for value in results:
            if not isinstance(value, Node):
                raise Refused("forward returns something that is no tensor")
            name = self.operand(value)
            if isinstance(name, tuple):
                raise Refused("forward returns a nested tuple")
            if name in self.outputs:
                raise Refused("forward returns the same value twice; return it once")
            if name in self.tensor_names.values() or name in self.extra:
                if value.op in ("placeholder", "get_attr"):
                    raise Refused("forward returns %s as it is, which a kernel has nothing to do for; leave it out, or return %s.clone()" % (name, name))
                name = self.step(value, "reshape", [name], {"shape": tuple(value.meta["value"].shape)})
            self.outputs.append(name)

    def lower(self, node):
        if node.op == "call_module":
            return self.batch_norm_module(node)
        name = node.target if isinstance(node.target, str) else node.target.__name__
        return self.call(node, name, self.resolve(node.args), dict(self.resolve(node.kwargs)))

    def call(self, node, name, args, kwargs):
        if name.endswith("_") and not name.endswith("__"):
            name = name[:-1]  # tracing.py has turned changes in place into values
        name = ALIASES.get(name, name)
        if name in TYPED:
            kwargs.update({"dtype": value for value in args if isinstance(value, torch.dtype)})
            args = tuple(value for value in args if not isinstance(value, torch.dtype))
            if kwargs.get("dtype") is not None:
                return self.of_type(node, name, args, kwargs)
        if name in PRODUCTS:
            given = [part for value in (*args, *kwargs.values()) for part in (value if isinstance(value, (tuple, list)) else (value,))]
            given = [value.meta.get("value") if isinstance(value, Node) else value for value in given]
            check_factors(name, [value for value in given if isinstance(value, torch.Tensor)])
        if name in BINARY:
            return self.binary(node, BINARY[name], args, kwargs)
        if name in COMPARISONS:
            return self.binary(node, COMPARISONS[name], args, kwargs)
        if name in ("__rsub__", "rsub", "__rtruediv__"):
            return self.binary(node, "sub" if "sub" in name else "div", (args[1], args[0]), kwargs)
        if name in DROPOUTS:
            return self.dropout(node, name, args, kwargs)
        if name in IDENTITIES:
            return self.operand(args[0])
        if name in CASTS:
            return self.convert(node, args[0])
        if name in RESHAPES:
            return self.step(node, "reshape", [self.operand(args[0])], {"shape": tuple(node.meta["value"].shape)})
        if name in ("expand", "expand_as", "broadcast_to"):
            return self.step(node, "expand", [self.operand(args[0])], {"shape": tuple(node.meta["value"].shape)})
        if name in ("mean", "sum", "amax", "amin", "max", "min", "var", "std"):
            return self.reduce(node, name, args, kwargs)
        if name in ("split", "chunk", "unbind", "tensor_split"):
            return self.pieces(node, name, args, kwargs)
        special = getattr(self, "do_" + name, None)
        if special is not None:
            return special(node, args, kwargs)
        signature = SIGNATURES.get(name)
        if signature is None:
            raise Refused("%s is not covered" % name)
        if name == "permute" and args and not isinstance(args[1], (tuple, list)):
            args = (args[0], tuple(args[1:]))
        operands, attributes = bind(name, signature, args, kwargs)
        if name == "clamp" and any(isinstance(value, Node) for value in attributes.values()):
            return self.clamp_between(node, operands[0], attributes)
        if isinstance(attributes.get("padding"), str):
            attributes["padding"] = self.named_padding(attributes, operands[1].meta["value"].shape[2:])
        if name == "hardtanh":
            attributes = {"min": attributes["min_val"], "max": attributes["max_val"]}
        if name in ("softmax", "log_softmax") and "dim" not in attributes:
            raise Refused("%s without dim is not covered" % name)
        return self.step(node, name, [self.operand(value) for value in operands], attributes)

    def of_type(self, node, name, args, kwargs):
        """Converts x first, for softmax(x, dtype=...) and similar calls."""
        source, after = args[0] if args else kwargs["input"], kwargs.pop("dtype")
        before, plain = source.meta["value"].dtype, self.operand(source)
        if before == after or not (before.is_floating_point or after.is_floating_point):
            return self.call(node, name, args, kwargs)
        if after not in CONVERTED:
            raise Refused("%s with dtype = %s is not covered" % (name, after))
        if before != torch.bool or plain in self.bytes:  # other truth values are numbers of every type
            attributes = {"dtype": str(after).replace("torch.", "")}
            self.names[source] = self.part(node, "to", [plain], attributes, "typed", source.meta["value"].to(after))
        try:
            return self.call(node, name, args, kwargs)
        finally:
            self.names[source] = plain

    def clamp_between(self, node, source, limits):
        """clamp with limits that are tensors."""
        result = self.operand(source)
        for key, op in (("min", "maximum"), ("max", "minimum")):
            limit = limits.get(key)
            if number(limit):
                result = self.part(node, "clamp", [result], {key: float(limit)}, key)
            elif limit is not None:
                result = self.part(node, op, [result, self.operand(limit)], {}, key)
        return result

    def named_padding(self, attributes, kernel):
        """The numbers behind padding='same' or 'valid' of a convolution."""
        if attributes["padding"] == "valid":
            return 0
        dilation = attributes["dilation"]
        dilation = (dilation,) * len(kernel) if number(dilation) else dilation
        around = [step * (size - 1) for step, size in zip(dilation, kernel)]
        if any(width % 2 for width in around):
            raise Refused("padding='same' with an even kernel pads one side more, which is not covered")
        return tuple(width // 2 for width in around)

    # --- arithmetic

    def binary(self, node, op, args, kwargs):
        left, right = args[0], args[1]
        if kwargs.pop("rounding_mode", None) is not None:
            raise Refused("div with rounding_mode is not covered")
        alpha = kwargs.pop("alpha", 1)
        if kwargs:
            raise Refused("%s with %s is not covered" % (op, ", ".join(kwargs)))
        left, right = (constant_number(value) for value in (left, right))
        if alpha != 1:
            if number(right):
                right = right * alpha
            else:
                right = self.step(node, "mul", [self.operand(right)], {"other": float(alpha)}, right.meta["value"], "_scaled")
        if number(right):
            return self.step(node, op, [self.operand(left)], {"other": float(right)})
        second = right if isinstance(right, str) else self.operand(right)
        if not number(left):
            first = self.operand(left)
            if op == "mul" and not left.meta["value"].is_floating_point() and node.meta["value"].is_floating_point():
                first, second = second, first  # the result has the type of the first operand
            return self.step(node, op, [first, second], {})
        if op in ("add", "mul"):
            return self.step(node, op, [second], {"other": float(left)})
        return self.step(node, "rsub" if op == "sub" else "rdiv", [second], {"other": float(left)})

    def do_pow(self, node, args, kwargs):
        base, exponent = args[0], constant_number(args[1])
        if not number(exponent):
            raise Refused("pow with a tensor as exponent is not covered")
        name = self.operand(base)
        if exponent in (0.5, -0.5, -1):
            return self.step(node, {0.5: "sqrt", -0.5: "rsqrt", -1: "reciprocal"}[exponent], [name], {})
        if exponent not in (2, 3, 4):
            return self.step(node, "pow", [name], {"exponent": float(exponent)})
        result = name
        for turn in range(int(exponent) - 1):
            result = self.step(node, "mul", [result, name], {}, None, "" if turn == exponent - 2 else "_part")
        return result

    do___pow__ = do_pow

    def do_matmul(self, node, args, kwargs):
        return self.step(node, "matmul", [self.operand(args[0]), self.operand(args[1])], {})

    def do_addmm(self, node, args, kwargs):
        if kwargs:
            raise Refused("addmm with %s is not covered" % ", ".join(kwargs))
        dot = self.step(node, "matmul", [self.operand(args[1]), self.operand(args[2])], {}, None, "_product")
        return self.step(node, "add", [dot, self.operand(args[0])], {})

    # --- reductions

    def reduce(self, node, name, args, kwargs):
        operands, attributes = bind(name, REDUCTIONS.get(name, "@input dim=None keepdim=False dtype!None"), args, kwargs)
        if name in ("max", "min") and isinstance(attributes.get("dim"), (Node, torch.Tensor)):
            return self.step(node, name + "imum", [self.operand(operands[0]), self.operand(attributes["dim"])], {})
        value = node.meta["value"]
        rank = operands[0].meta["value"].dim()
        dims = attributes.get("dim")
        pair = isinstance(value, (tuple, list))
        dims = tuple(range(rank)) if dims is None else (dims,) if number(dims) else tuple(dims)
        attributes["dim"] = dims
        source = self.operand(operands[0])
        op = name if not name.startswith(("max", "min")) or pair else "a" + name
        result = self.step(node, op, [source], attributes, value[0] if pair else value)
        return (result, None) if pair else result

    def do_norm(self, node, args, kwargs):
        operands, attributes = bind("norm", "@input p=2 dim=None keepdim=False out~ dtype!None", args, kwargs)
        if attributes.pop("p", 2) not in (2, "fro"):
            raise Refused("a norm that is not the 2-norm is not covered")
        dims = attributes.get("dim")
        rank = operands[0].meta["value"].dim()
        attributes["dim"] = tuple(range(rank)) if dims is None else (dims,) if number(dims) else tuple(dims)
        return self.step(node, "norm", [self.operand(operands[0])], attributes)

    # --- layers

    def dropout(self, node, name, args, kwargs):
        operands, attributes = bind(name, "@input p=0.5 training=True inplace~", args, kwargs)
        if not attributes["training"] or attributes["p"] == 0:
            return self.operand(operands[0])
        if name != "dropout" or attributes["p"] >= 1:
            raise Refused("%s with p = %s is not covered: it is random; set p to 0 or call eval()" % (name, attributes["p"]))
        value = node.meta["value"]
        mask = self.draw(node, node.name + "_kept", value, "uint8", "{kind: integers, low: 0, high: 2}")
        self.notes.append("dropout draws which elements it keeps (line %d): the task takes them as the input %s" % (node.meta["line"], mask))
        scaled = self.part(node, "mul", [self.operand(operands[0])], {"other": 1 / (1 - attributes["p"])}, "scaled", value)
        nothing = self.part(node, "full", [], {"shape": (), "value": 0.0}, "dropped", value.new_empty(()))
        return self.step(node, "where", [mask, scaled, nothing], {})

    def do_detach(self, node, args, kwargs):
        return self.step(node, "detach", [self.operand(args[0])], {})


    def batch_norm_module(self, node):
        module = attribute(self.root, node.target)
        name = node.target.replace("model.", "", 1)
        operands = [self.operand(node.args[0])]
        for key in ("weight", "bias"):
            if getattr(module, key) is not None:
                self.used.add(name + "." + key)
                operands.append(self.tensor_names[name + "." + key])
        if module.track_running_stats:
            self.tracked.append(name)
        return self.step(node, "batch_norm", operands, {"training": True, "eps": module.eps})

    def do_batch_norm(self, node, args, kwargs):
        signature = "@input @running_mean=None @running_var=None @weight=None @bias=None training=False momentum~ eps=1e-5"
        operands, attributes = bind("batch_norm", signature, args, kwargs)
        if attributes["training"] and (len(args) > 1 and args[1] is not None or kwargs.get("running_mean") is not None):
            raise Refused("batch_norm updates running statistics here, which is not covered; pass None for them")
        return self.step(node, "batch_norm", [self.operand(value) for value in operands], attributes)

    def do_instance_norm(self, node, args, kwargs):
        signature = "@input running_mean~ running_var~ @weight=None @bias=None use_input_stats!True momentum~ eps=1e-5"
        operands, attributes = bind("instance_norm", signature, args, kwargs)
        return self.step(node, "instance_norm", [self.operand(value) for value in operands], attributes)

    def adaptive_pool(self, node, args, kwargs):
        rank = node.meta["value"].dim() - 2
        size = tuple(node.meta["value"].shape[-rank:])
        return self.step(node, "adaptive_avg_pool%dd" % rank, [self.operand(args[0])], {"output_size": size})

    do_adaptive_avg_pool1d = do_adaptive_avg_pool2d = do_adaptive_avg_pool3d = adaptive_pool

    def do_embedding(self, node, args, kwargs):
        signature = "@input @weight padding_idx~ max_norm!None norm_type~ scale_grad_by_freq!False sparse~"
        (index, weight), _ = bind("embedding", signature, args, kwargs)
        return self.step(node, "embedding", [self.operand(weight), self.operand(index)], {})

    def do_masked_fill(self, node, args, kwargs):
        source, mask, fill = args[0], args[1], constant_number(args[2] if len(args) > 2 else kwargs.get("value"))
        if isinstance(mask, Node) and isinstance(fill, Node):
            return self.step(node, "where", [self.operand(mask), self.operand(fill), self.operand(source)], {})
        if isinstance(mask, Node) and number(fill):
            return self.step(node, "masked_fill", [self.operand(source), self.operand(mask)], {"value": float(fill)})
        diagonal = upper_triangle(mask) if isinstance(mask, torch.Tensor) and mask.dim() >= 2 else None
        if diagonal is not None and fill == 0:
            return self.step(node, "tril", [self.operand(source)], {"diagonal": diagonal - 1})
        if diagonal is None or fill != -math.inf:
            raise Refused("masked_fill with a mask made inside forward is covered above a diagonal, with -inf or 0, alone")
        return self.step(node, "causal_mask", [self.operand(source)], {"diagonal": diagonal})


REDUCTIONS = {
    "max": "@input dim=None keepdim=False",
    "min": "@input dim=None keepdim=False",
    "var": "@input dim=None unbiased=True keepdim=False",
    "std": "@input dim=None unbiased=True keepdim=False",
}


def attribute(root, path):
    for part in path.split("."):
        root = getattr(root, part)
    return root


def constant_number(value):
    """The number in a constant without dims, or the value itself."""
    if isinstance(value, torch.Tensor) and value.dim() == 0 and value.device.type != "meta":
        return value.item()
    return value
