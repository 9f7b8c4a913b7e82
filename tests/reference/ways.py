"""Holds supposed ways of PyTorch's narrow kernels, and faulty ones, against both bounds: double precision with the roundings that each way makes.

    ways.py --dump PROGRAM --tasks FOLDER

PyTorch's kernels on an H100 give most elements of these ways to the bit (docs/tasks.md).  They have to be inside both bounds.  A faulty way has to be
outside in some case.  Prints a line a way; 1 when one is on the wrong side."""

import argparse
import os
import subprocess
import sys
import tempfile

import torch
import torch.nn.functional as F

import compare

REAL = torch.float64


def stored(tensor, dtype):
    return tensor.to(dtype).to(REAL)


def brain(tensor):
    return stored(tensor, torch.bfloat16)


def half(tensor):
    return stored(tensor, torch.float16)


def narrow_sum(terms, dim):
    """A sum that is kept in bfloat16."""
    total = torch.zeros_like(terms.select(dim, 0))
    for i in range(terms.shape[dim]):
        total = brain(total + terms.select(dim, i))
    return total


def attention_backward(tensors, settings, way):
    """The gradients of attention.  The sum that the softmax's gradient subtracts is taken of the output as it was stored."""
    q, grad = tensors["q"], tensors["grad_y"]
    repeats = q.shape[1] // tensors["k"].shape[1]
    k, v = (tensors[name].repeat_interleave(repeats, 1) for name in ("k", "v"))
    position = torch.arange(q.shape[2])
    distance = position[:, None] - position
    scores = (q @ k.transpose(-2, -1)) * settings["scale"]
    share = scores.masked_fill((distance < 0) | (distance >= settings["window"]), float("-inf")).softmax(-1)
    products = grad * brain(share @ v)
    subtracted = narrow_sum(products, -1)[..., None] if way == "narrow sum" else products.sum(-1, keepdim=True)
    if way == "nothing subtracted":
        subtracted = 0 * subtracted
    change = brain(share * (grad @ v.transpose(-2, -1) - subtracted))  # both are factors of products

    def gathered(of_heads):
        """Each head's gradient is stored before those that share a key are added."""
        return brain(brain(of_heads).reshape(q.shape[0], -1, repeats, *of_heads.shape[2:]).sum(2))

    return {"grad_q": brain(change @ k * settings["scale"]), "grad_k": gathered(change.transpose(-2, -1) @ q * settings["scale"]),
            "grad_v": gathered(brain(share).transpose(-2, -1) @ grad)}


def statistics(tensors, settings, way):
    """Means and reciprocal deviations of a group norm, stored in float16, of eps in float16."""
    rows = tensors["x"].reshape(tensors["x"].shape[0], settings["G"], -1)
    mean, eps = rows.mean(-1), float(torch.tensor(settings["eps"], dtype=REAL).half())
    if way == "narrow sum":
        mean = torch.zeros_like(mean)
        for i in range(rows.shape[-1]):
            mean = half(mean + rows[..., i])
        mean = mean / rows.shape[-1]
    if way == "another eps":
        eps = 1.1 * eps
    return half(mean), half(1 / (rows.var(-1, unbiased=False) + eps).sqrt())


def group_norm(tensors, settings, way):
    x, weight, bias = tensors["x"], tensors["weight"], tensors["bias"]
    each = x.shape[1] // settings["G"]
    mean, inverse = (value.repeat_interleave(each, 1)[..., None] for value in statistics(tensors, settings, way))
    hidden = half((x.flatten(2) - mean) * inverse * weight[:, None] + bias[:, None])
    return {"y": half(hidden * torch.sigmoid(hidden)).reshape(x.shape)}


def group_norm_backward(tensors, settings, way):
    x, weight, bias, groups = tensors["x"], tensors["weight"], tensors["bias"], settings["G"]
    mean, inverse = statistics(tensors, settings, way)
    each = x.shape[1] // groups
    flat, wide = x.flatten(2), lambda value: value.repeat_interleave(each, 1)[..., None]
    hidden = half((flat - wide(mean)) * wide(inverse) * weight[:, None] + bias[:, None])
    slope = torch.sigmoid(hidden) * (1 + hidden * (1 - torch.sigmoid(hidden)))
    grad = half(tensors["grad_y"].flatten(2) * slope)
    with_x, alone = (grad * flat).sum(-1), grad.sum(-1)
    of_groups = [(value * weight).reshape(x.shape[0], groups, each).sum(-1) for value in (with_x, alone)]
    size = flat.shape[-1] * each
    second = (of_groups[1] * mean - of_groups[0]) * inverse**3 / size
    third = -second * mean - of_groups[1] * inverse / size
    grad_x = half(wide(inverse) * weight[:, None] * grad + wide(second) * flat + wide(third))
    grad_weight = half(((with_x - alone * wide(mean)[..., 0]) * wide(inverse)[..., 0]).sum(0))
    return {"grad_x": grad_x.reshape(x.shape), "grad_weight": grad_weight, "grad_bias": half(alone.sum(0))}


def linear(tensors, settings, way):
    """The product is stored before the bias is added."""
    x, weight = tensors["x"], tensors["weight"]
    product = narrow_sum(x[:, None] * weight, -1) if way == "narrow sum" else brain(x @ weight.t())
    y = brain(product + tensors["bias"])
    return {"y": brain(tensors["residual"] + y) if "residual" in tensors else y}


def windows(tensors, window):
    """[window x window, N, C, H, W]: what each place of the window sees of the image."""
    image = tensors["x"].permute(0, 3, 1, 2)
    padded = F.pad(image, [window // 2] * 4)
    return torch.stack([padded[:, :, i : i + image.shape[2], j : j + image.shape[3]] for i in range(window) for j in range(window)])


def depthwise(tensors, settings, way):
    weight = tensors["weight"].flatten(1).t()[:, None, :, None, None]
    terms = windows(tensors, settings["window"]) * weight
    product = narrow_sum(terms, 0) if way == "narrow sum" else brain(terms.sum(0))
    return {"y": brain(product + tensors["bias"][:, None, None]).permute(0, 2, 3, 1)}


def depthwise_backward(tensors, settings, way):
    """The weight's gradient also multiplies elements of the image with the zeros beyond the output's edge."""
    image, grad = tensors["x"].permute(0, 3, 1, 2), tensors["grad_y"].permute(0, 3, 1, 2)
    grad_weight = (windows(tensors, settings["window"]) * grad).sum((1, 3, 4)) + (0 * image).sum((0, 2, 3))
    if way == "NaN left out":
        grad_weight = torch.nan_to_num(grad_weight)
    turned = dict(tensors, x=tensors["grad_y"])
    weight = tensors["weight"].flatten(1).flip(1).t()[:, None, :, None, None]
    return {"grad_x": brain((windows(turned, settings["window"]) * weight).sum(0)).permute(0, 2, 3, 1),
            "grad_weight": brain(grad_weight.t().reshape(tensors["weight"].shape)), "grad_bias": brain(grad.sum((0, 2, 3)))}


PYTORCH = "PyTorch's"
# task, direction, families, its way, faulty ways
WAYS = (("bf16_attention", "backward", "all", attention_backward, ("nothing subtracted", "narrow sum")),
        ("fp16_groupnorm_silu", "forward", "all", group_norm, ("narrow sum", "another eps")),
        ("fp16_groupnorm_silu", "backward", "all", group_norm_backward, ("narrow sum", "another eps")),
        ("bf16_linear", "forward", "normal", linear, ("narrow sum",)),
        ("bf16_linear_residual", "forward", "normal", linear, ("narrow sum",)),
        ("bf16_depthwise_conv", "forward", "normal", depthwise, ("narrow sum",)),
        ("bf16_depthwise_conv", "backward", "not_a_number", depthwise_backward, ("NaN left out",)))


def worst(runs, function, way):
    """(largest share of a bound, where)"""
    found = (0.0, "")
    for run in runs:
        got = function(run.inputs(REAL), dict(run.entry["dims"], **run.entry["attributes"]), way)
        for number, output in enumerate(run.entry["outputs"]):
            hard, stat, _ = compare.ratios(compare.Points(run, number), output["name"], got[output["name"]].contiguous(), True)
            share = max(hard, stat if run.entry["stat"] else 0)
            if share > found[0]:
                found = (share, "%s %s %s" % (run.entry["case"], run.entry["family"], output["name"]))
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dump", required=True)
    parser.add_argument("--tasks", required=True)
    options = parser.parse_args()
    torch.set_num_threads(2)
    failed = 0
    for task, direction, families, function, faulty in WAYS:
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([options.dump, os.path.join(options.tasks, task), direction, folder, "1-1", "check", families], check=True)
            runs = compare.runs_of([folder], direction)
            for way in (PYTORCH, *faulty):
                share, where = worst(runs, function, way)
                wrong = (share > 1) == (way == PYTORCH)
                failed += wrong
                print("%-22s %-9s %-20s %9.3g of a bound at %s%s" % (task, direction, way, share, where, "  WRONG SIDE" if wrong else ""), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
