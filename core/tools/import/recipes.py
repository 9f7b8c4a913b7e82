"""Chooses the init recipe of a tensor from what the file itself put into it.

Norm weights, biases and statistics that start at 1 or 0 are drawn away from there: at their identity a kernel that forgets
them would look right.
"""

import torch
import torch.nn as nn

SAMPLE = 1 << 16
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
    """A recipe with the spread of the data; the usual one where there is no data."""
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
        return "{kind: uniform, low: 0, high: 1}"
    mean = 0 if abs(mean) < 0.1 * std else mean
    std = 1 if abs(std - 1) < 0.1 else std
    return normal(mean, std)


def of_integers(tensor, bound):
    """bound: the text of a limit that the graph itself implies (classes, rows of a table), or None."""
    data = tensor.detach().reshape(-1) if tensor.device.type != "meta" else torch.zeros(0)
    low = int(data.min()) if data.numel() else 0
    return "{kind: integers, low: %d, high: %s}" % (0 if bound else min(low, 0), bound or int(data.max()) + 1 if data.numel() else 1)


def of_parameter(model, key, tensor, sizes):
    """sizes: the expression text of each dim, as written in its shape."""
    owner, _, name = key.rpartition(".")
    module = model
    for part in owner.split(".") if owner else []:
        module = getattr(module, part)
    if isinstance(module, LAYERS):
        weight = sizes if name == "weight" else None
        if weight is None:
            return normal(0, 0.1)
        kernel = weight[2:]
        transposed = isinstance(module, (nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d))
        return "{kind: kaiming, fan_in: %s}" % " * ".join([weight[0 if transposed else 1]] + list(kernel))
    if isinstance(module, nn.RNNBase):  # all of its tensors are drawn by the hidden size
        gates = tensor.shape[0] // module.hidden_size
        return "{kind: kaiming, fan_in: %s}" % (sizes[0] if gates == 1 else "(%s) / %d" % (sizes[0], gates))
    if name.endswith("var"):
        return "{kind: positive, mean: 1, std: 0.5}"
    return from_data(tensor)
