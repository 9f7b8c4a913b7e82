# graph: matmul mul mean add rsqrt mul gelu
# task:   rows: {range: 1..96}
# task:   x: {role: in, dtype: float32, shape: "rows, x_columns", init: {kind: normal}}
# task:   weight: {role: in, dtype: float32, shape: "x_columns, weight_columns", init: {kind: normal, std: 0.198}}
# note: dim rows: 1 to 96, published 96
# text: other: 1e-06
"""A function of tensors: an annotation says one argument's sizes, a default is the other one's example."""
import torch
import torch.nn.functional as F

rows = 96


def normalised(x, eps):
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + eps)


def project(x: "float32[rows, 64]", weight=0.2 * torch.randn(64, 40), eps=1e-6, *, exact=True):
    return F.gelu(normalised(x @ weight, eps), approximate="none" if exact else "tanh")
