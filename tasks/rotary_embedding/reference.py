"""Rotary position embedding of queries and keys, halves rotated against each other, as in Llama."""

import torch
import torch.nn as nn


def rotate(x, cosine, sine):
    half = x.shape[-1] // 2
    low = x[..., :half]
    high = x[..., half:]
    return torch.cat((low * cosine - high * sine, high * cosine + low * sine), dim=-1)


def forward_fn(q, k, cosine, sine):
    return rotate(q, cosine, sine), rotate(k, cosine, sine)


class Model(nn.Module):
    def forward(self, q, k, cosine, sine, fn=forward_fn):
        return fn(q, k, cosine, sine)


def get_inputs(batch_size=2, heads=32, key_heads=8, seq_len=4096, head_dim=128, base=500000.0):
    frequency = base ** (-torch.arange(0, head_dim, 2).float() / head_dim)
    angle = torch.outer(torch.arange(seq_len).float(), frequency)
    return [
        torch.randn(batch_size, heads, seq_len, head_dim),
        torch.randn(batch_size, key_heads, seq_len, head_dim),
        torch.cos(angle),
        torch.sin(angle),
    ]


def get_init_inputs():
    return []
