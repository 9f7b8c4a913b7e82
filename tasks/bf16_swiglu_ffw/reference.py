"""Feed-forward layer with SwiGLU in bfloat16, as in Llama."""

import torch
import torch.nn as nn
import torch.nn.functional as F


def forward_fn(x, gate, up, down):
    return F.linear(F.silu(F.linear(x, gate)) * F.linear(x, up), down)


class Model(nn.Module):
    def __init__(self, width=4096, within=14336):
        super().__init__()
        self.gate = nn.Parameter(torch.randn(within, width, dtype=torch.bfloat16) / width**0.5)
        self.up = nn.Parameter(torch.randn(within, width, dtype=torch.bfloat16) / width**0.5)
        self.down = nn.Parameter(torch.randn(width, within, dtype=torch.bfloat16) / within**0.5)

    def forward(self, x, fn=forward_fn):
        return fn(x, self.gate, self.up, self.down)


def get_inputs(tokens=2048, width=4096):
    return [torch.randn(tokens, width, dtype=torch.bfloat16)]


def get_init_inputs():
    return []
