"""Causal attention in bfloat16 with grouped queries; a query sees itself and the window - 1 keys before it."""

import torch
import torch.nn as nn
import torch.nn.functional as F


def forward_fn(q, k, v, window, scale):
    k, v = (tensor.repeat_interleave(q.shape[1] // k.shape[1], 1) for tensor in (k, v))
    position = torch.arange(q.shape[2], device=q.device)
    distance = position[:, None] - position
    seen = (distance >= 0) & (distance < window)
    if hasattr(F, "scaled_dot_product_attention"):  # PyTorch 2
        whole = window >= q.shape[2]
        return F.scaled_dot_product_attention(q, k, v, None if whole else seen, is_causal=whole, scale=scale)
    scores = (q.float() @ k.float().transpose(-2, -1)) * scale
    share = scores.masked_fill(~seen, float("-inf")).softmax(-1)
    return (share @ v.float()).to(q.dtype)


class Model(nn.Module):
    def __init__(self, window=4096, width=128):
        super().__init__()
        self.window, self.scale = window, width**-0.5

    def forward(self, q, k, v, fn=forward_fn):
        return fn(q, k, v, self.window, self.scale)


def get_inputs(batch=2, heads=32, key_heads=8, tokens=4096, width=128):
    return [torch.randn(batch, count, tokens, width, dtype=torch.bfloat16) for count in (heads, key_heads, key_heads)]


def get_init_inputs():
    return []
