"""Linear layer with a bias in bfloat16, added to the residual stream."""

import torch
import torch.nn as nn
import torch.nn.functional as F


def forward_fn(x, weight, bias, residual):
    return residual + F.linear(x, weight, bias)


class Model(nn.Module):
    def __init__(self, inputs=6400, outputs=1600):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(outputs, inputs, dtype=torch.bfloat16) / inputs**0.5)
        self.bias = nn.Parameter(torch.randn(outputs, dtype=torch.bfloat16))

    def forward(self, x, residual, fn=forward_fn):
        return fn(x, self.weight, self.bias, residual)


def get_inputs(tokens=2048, inputs=6400, outputs=1600):
    return [torch.randn(tokens, inputs, dtype=torch.bfloat16), torch.randn(tokens, outputs, dtype=torch.bfloat16)]


def get_init_inputs():
    return []
