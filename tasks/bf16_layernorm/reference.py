"""Layer norm over the last dim in bfloat16, with a weight and a bias."""

import torch
import torch.nn as nn
import torch.nn.functional as F


def forward_fn(x, weight, bias, eps):
    return F.layer_norm(x, weight.shape, weight, bias, eps)


class Model(nn.Module):
    def __init__(self, width=1600, eps=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width, dtype=torch.bfloat16))
        self.bias = nn.Parameter(torch.zeros(width, dtype=torch.bfloat16))
        self.eps = eps

    def forward(self, x, fn=forward_fn):
        return fn(x, self.weight, self.bias, self.eps)


def get_inputs(rows=8192, width=1600):
    return [torch.randn(rows, width, dtype=torch.bfloat16)]


def get_init_inputs():
    return []
