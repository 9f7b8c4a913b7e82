"""Rotary position embedding of bfloat16 heads at given positions, halves rotated against each other, with float32 tables."""

import torch
import torch.nn as nn


def forward_fn(x, positions, cosine, sine):
    low, high = x.float().chunk(2, -1)
    cos, sin = cosine[positions][:, None], sine[positions][:, None]
    return torch.cat((low * cos - high * sin, high * cos + low * sin), -1).to(torch.bfloat16)


class Model(nn.Module):
    def __init__(self, positions=8192, half=64, base=500000.0):
        super().__init__()
        angles = torch.outer(torch.arange(positions).float(), base ** (-torch.arange(half) / half))
        self.register_buffer("cosine", angles.cos())
        self.register_buffer("sine", angles.sin())

    def forward(self, x, positions, fn=forward_fn):
        return fn(x, positions, self.cosine, self.sine)


def get_inputs(tokens=8192, heads=32, width=128):
    return [torch.randn(tokens, heads, width, dtype=torch.bfloat16), torch.randint(8192, (tokens,))]


def get_init_inputs():
    return []
