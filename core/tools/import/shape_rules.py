"""The shapes and types that each operation of the graph needs.  PyTorch's own checks on the meta device miss some mistakes: a transposed
convolution with the wrong channels, a bias or a statistic of the wrong length, a product of two types."""

import math

import torch

from refusal import Refused

NORMS = {"batch_norm": 1, "instance_norm": 1, "group_norm": 1}
FLOATS = ("float16", "bfloat16", "float32", "float64")
OF_ONE_TYPE = frozenset("linear matmul bmm scaled_dot_product_attention lstm gru rnn_tanh".split())  # and all convolutions (mixture)
NORMS_WITH_WEIGHTS = ("layer_norm", "group_norm", "batch_norm", "instance_norm")


def check_shapes(path, lowering, tensor_names):
    """Refuses a graph in which an operation's operands do not fit, or a value has no elements."""
    shapes = {tensor_names[key]: tuple(shape) for key, shape in lowering.shapes.items()}
    shapes.update({name: tensor["shape"] for name, tensor in lowering.extra.items()})
    types = {name: tensor["dtype"] for name, tensor in lowering.extra.items()}
    types.update({tensor_names[key]: dtype for key, dtype in lowering.types.items()})
    types.update(dict.fromkeys(lowering.logical))
    for key in lowering.used:
        if math.prod(lowering.shapes[key]) == 0:
            raise Refused("%s: %s has no elements" % (path, key))
    for node in lowering.nodes:
        shapes[node["out"]] = tuple(node["shape"])
        types.setdefault(node["out"], node["dtype"])
        for extra, dtype, shape in node.get("more", ()):
            shapes[extra] = tuple(shape)
            types[extra] = dtype
        operands = [shapes[name] for name in node["in"]]
        problem = mixture(node, types)
        if problem:
            raise Refused("%s:%d: %s: %s%s" % (path, node["line"], node["op"], problem, lowering.conversion or "; convert one with .to()"))
        problem = "the result has no elements" if math.prod(node["shape"]) == 0 else misfit(node, operands)
        if problem:
            raise Refused("%s:%d: %s: %s" % (path, node["line"], node["op"], problem))


def check_factors(name, operands):
    """Refuses factors that are truth values or whole numbers.  operands: tensors; attention's mask may be one of them."""
    kinds = {value.dtype for value in operands if not value.is_floating_point()}
    if name == "scaled_dot_product_attention":
        kinds -= {torch.bool}
    if torch.bool in kinds:
        raise Refused("%s has truth values as a factor, which PyTorch refuses too; convert them first, as in mask.to(x.dtype)" % name)
    if kinds:
        kind = str(kinds.pop()).replace("torch.", "")
        raise Refused("%s has whole numbers (%s) as a factor; convert them first, as in counts.to(x.dtype)" % (name, kind))


def mixture(node, types):
    """What is wrong with the types of a product or a norm; None: nothing.  PyTorch wants one type for all factors and the bias.  A norm of a narrower
    input may have float32 weights (layer_norm and group_norm from version 2 on).  types: of tensors.  Truth values and whole numbers are left out,
    because many of their conversions are no nodes of the graph."""
    op, found = node["op"], list(dict.fromkeys(types[name] for name in node["in"] if types[name] in FLOATS))
    if len(found) < 2:
        return None
    if op in OF_ONE_TYPE or op.startswith("conv"):
        return "its operands have the types %s, and PyTorch multiplies numbers of one type alone" % " and ".join(found)
    if op in NORMS_WITH_WEIGHTS and (found[1:] != ["float32"] or node["dtype"] != found[0] or len({types[name] for name in node["in"][1:]}) > 1):
        return "its operands have the types %s, and PyTorch takes no such weights" % " and ".join(found)
    return None


def misfit(node, operands):
    op, attributes, shape = node["op"], node["attr"], tuple(node["shape"])
    if op.startswith("conv_transpose"):
        return transposed_convolution(operands, attributes, shape)
    if op.startswith("conv"):
        return convolution(operands, attributes, shape)
    if op in NORMS and len(operands) > 1:
        channels = operands[0][1]
        if any(tuple(operand) != (channels,) for operand in operands[1:]):
            return "its weights and statistics are not one number a channel"
    if op == "linear":
        x, weight = operands[0], operands[1]
        if len(weight) != 2 or x[-1] != weight[1] or (len(operands) > 2 and operands[2] != (weight[0],)):
            return "x, weight and bias do not fit together"
    if op.startswith(("max_pool", "avg_pool")):
        return pooling(operands[0], attributes, int(op[-2]))
    if op in ("where", "masked_fill") and not all(spreads(operand, shape) for operand in operands):
        return "the sizes do not broadcast"
    if op in ("var", "std") and attributes.get("unbiased", True) and math.prod(operands[0]) == math.prod(shape):
        return "a variance of one number, which is not defined"
    if op in ("matmul", "bmm") and operands[0][-1] != operands[1][-2 if len(operands[1]) > 1 else 0]:
        return "the inner sizes differ"
    return None


def spreads(small, shape):
    return len(small) <= len(shape) and all(a in (1, b) for a, b in zip(small[::-1], shape[::-1]))


def pooling(x, attributes, spatial):
    """With ceil_mode torch takes windows that are larger than what they slide over."""
    for d in range(spatial):
        kernel, padding, dilation = (part[d % len(part)] if isinstance(part, (tuple, list)) else part for part in (
            attributes["kernel_size"], attributes.get("padding", 0), attributes.get("dilation", 1)))
        if x[len(x) - spatial + d] + 2 * padding < dilation * (kernel - 1) + 1:
            return "the window is larger than its input"
    return None


def convolution(operands, attributes, shape):
    x, weight, groups = operands[0], operands[1], attributes.get("groups", 1)
    if x[1] != weight[1] * groups or weight[0] % groups or shape[1] != weight[0]:
        return "channels and groups do not fit the weight"
    return "a bias of another length" if len(operands) > 2 and operands[2] != (weight[0],) else None


def transposed_convolution(operands, attributes, shape):
    x, weight, groups = operands[0], operands[1], attributes.get("groups", 1)
    if x[1] != weight[0] or x[1] % groups or shape[1] != weight[1] * groups:
        return "channels and groups do not fit the weight"
    return "a bias of another length" if len(operands) > 2 and operands[2] != (weight[1] * groups,) else None
