"""Matrix product in bfloat16, with either operand stored transposed."""

import torch
import torch.nn as nn


def forward_fn(a, b, transpose_a, transpose_b):
    left = a.t() if transpose_a else a
    right = b.t() if transpose_b else b
    return left @ right


class Model(nn.Module):
    def __init__(self, inputs=4096, outputs=14336):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(outputs, inputs, dtype=torch.bfloat16) / inputs**0.5)

    def forward(self, x, fn=forward_fn):
        return fn(x, self.weight, 0, 1)


def get_inputs(tokens=2048, inputs=4096):
    return [torch.randn(tokens, inputs, dtype=torch.bfloat16)]


def get_init_inputs():
    return []
