"""Chooses the init recipe of a tensor from what the file itself put into it.

Norm weights, biases and statistics that start at 1 or 0 are drawn from other values: with 1 or 0, a kernel that leaves them out would look right.
"""

import torch
import torch.nn as nn

import number_patterns
from module_walk import tensors_of

SAMPLE = 1 << 16
UNIT = "{kind: uniform, low: 0, high: 1}"
RECTIFIERS = ("relu", "relu6", "leaky_relu", "elu", "gelu", "silu", "mish", "hardswish")
PASSING = ("reshape", "permute", "transpose", "cat", "max_pool1d", "max_pool2d", "max_pool3d", "avg_pool1d", "avg_pool2d", "avg_pool3d")
LAYERS = (nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d, nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d)


def short(value):
    return "%.3g" % value


def normal(mean, std):
    text = "kind: normal"
    if mean:
        text += ", mean: " + short(mean)
    if std != 1:
        text += ", std: " + short(std)
    return "{" + text + "}"


def from_data(tensor):
    """A recipe with the spread of the data; without data, the usual recipe."""
    if tensor.device.type == "meta":
        return normal(0, 1)
    data = tensor.detach().reshape(-1)[:SAMPLE].double()
    if data.numel() == 0:
        return normal(0, 1)
    low, high = float(data.min()), float(data.max())
    if low == high:
        return normal(low, 0.5)
    mean, std = float(data.mean()), float(data.std())
    if low >= 0 and high <= 1 and std < 0.4:
        return UNIT
    mean = 0 if abs(mean) < 0.1 * std else mean
    std = 1 if abs(std - 1) < 0.1 else std
    return normal(mean, std)


def of_model(model, key):
    owner, _, name = key.rpartition(".")
    return model.get_submodule(owner), name


def are_settled(model, inputs):
    """Whether the recipes are the same whichever numbers the model's layers and its inputs were given."""
    parameters, buffers = tensors_of(model)
    for key, tensor in {**parameters, **buffers}.items():
        owner, name = of_model(model, key)
        drawn = isinstance(owner, LAYERS + (nn.RNNBase,)) or name.endswith("var")
        if not drawn and tensor.is_floating_point() and (tensor.device.type == "meta" or bool((tensor != tensor.reshape(-1)[:1]).any())):
            return False
    given = [value for value in inputs.values() if isinstance(value, torch.Tensor)]
    return all(value.is_floating_point() and from_data(value) in (normal(0, 1), UNIT) and not number_patterns.of_input(value) for value in given)


def of_integers(tensor, bound):
    """bound: the text of a limit that the graph itself implies (classes, rows of a table), or None."""
    known = tensor.device.type != "meta" and tensor.numel() > 0
    low, high = (0, bound) if bound else (min(least(tensor), 0), int(tensor.max()) + 1 if known else 1)
    return "{kind: integers, low: %d, high: %s}" % (low, high)


def least(tensor):
    """The least number in an integer tensor, 0 where it has no data."""
    return int(tensor.min()) if tensor.device.type != "meta" and tensor.numel() else 0


def rectified_weights(nodes):
    """The weights of products whose results go to a relu or the like before anything else is made of them."""
    readers = {}
    for node in nodes:
        for name in node["in"]:
            readers.setdefault(name, []).append(node)

    def rectified(value):
        return any(node["op"] in RECTIFIERS or node["op"] in PASSING and rectified(node["out"]) for node in readers.get(value, ()))

    return {node["in"][1] for node in nodes if (node["op"] == "linear" or node["op"].startswith("conv")) and rectified(node["out"])}


def of_parameter(model, key, tensor, sizes, kept=False):
    """sizes: the expression text of each dim, as written in its shape.  kept: of a deep network's layer before a relu, which takes half of
    the squares; PyTorch's own weights make them a sixth, so that of a fault in the first of twenty layers no output shows anything."""
    module, name = of_model(model, key)
    if isinstance(module, LAYERS):
        weight = sizes if name == "weight" else None
        if weight is None:
            return normal(0, 0.1)
        kernel = weight[2:]
        transposed = isinstance(module, (nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d))
        fan_in = " * ".join([weight[0 if transposed else 1]] + list(kernel))
        return "{kind: %s, fan_in: %s}" % ("kaiming_normal" if kept else "kaiming", fan_in)
    if isinstance(module, nn.RNNBase):  # the spread of all its tensors follows from the hidden size
        gates = tensor.shape[0] // module.hidden_size
        return "{kind: kaiming, fan_in: %s}" % (sizes[0] if gates == 1 else "(%s) / %d" % (sizes[0], gates))
    if name.endswith("var"):
        return "{kind: positive, mean: 1, std: 0.5}"
    return from_data(tensor)
