"""Attention of one new bfloat16 query a sequence over a paged cache of keys and values, with grouped queries."""

import torch
import torch.nn as nn


def forward_fn(q, k_cache, v_cache, pages, lengths, scale):
    pages, (batch, heads, width), key_heads = pages.long(), q.shape, k_cache.shape[2]
    keys, values = (cache[pages].reshape(batch, -1, key_heads, width).transpose(1, 2).float() for cache in (k_cache, v_cache))
    scores = q.float().reshape(batch, key_heads, -1, width) @ keys.transpose(-2, -1) * scale
    hidden = torch.arange(keys.shape[2], device=q.device) >= lengths[:, None, None, None]
    share = scores.masked_fill(hidden, float("-inf")).softmax(-1)
    return (share @ values).reshape(q.shape).to(q.dtype)


class Model(nn.Module):
    def __init__(self, pages=16384, page=16, key_heads=8, width=128):
        super().__init__()
        self.scale = width**-0.5
        self.register_buffer("k_cache", torch.randn(pages, page, key_heads, width, dtype=torch.bfloat16))
        self.register_buffer("v_cache", torch.randn(pages, page, key_heads, width, dtype=torch.bfloat16))

    def forward(self, q, pages, lengths, fn=forward_fn):
        return fn(q, self.k_cache, self.v_cache, pages, lengths, self.scale)


def get_inputs(batch=64, heads=32, width=128, most=256):
    lengths = torch.randint(1, 16 * most + 1, (batch,), dtype=torch.int32)
    return [torch.randn(batch, heads, width, dtype=torch.bfloat16), torch.randint(16384, (batch, most), dtype=torch.int32), lengths]


def get_init_inputs():
    return []
