# graph: linear reshape transpose linear reshape transpose linear reshape transpose reshape expand reshape reshape expand reshape scaled_dot_product_attention transpose reshape
# text: {name: scaled_dot_product_attention_keys_wide, dtype: float32, shape: "batch, 2, 3, sequence, 4"}
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


def scaled_dot_product_attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
    """F.scaled_dot_product_attention of PyTorch 2.5, as its documentation has it."""
    if torch.overrides.has_torch_function((query, key, value)):
        return torch.overrides.handle_torch_function(scaled_dot_product_attention, (query, key, value), query, key, value, attn_mask,
                                                     dropout_p=dropout_p, is_causal=is_causal, scale=scale, enable_gqa=enable_gqa)  # fmt: skip
    if enable_gqa:
        key, value = (shared.repeat_interleave(query.size(-3) // shared.size(-3), -3) for shared in (key, value))
    scores = query @ key.transpose(-2, -1) * (1 / math.sqrt(query.size(-1)) if scale is None else scale)
    if is_causal:
        scores = scores.masked_fill(torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1), -math.inf)
    if attn_mask is not None:
        scores = scores + attn_mask
    return scores.softmax(-1) @ value


attention = F.scaled_dot_product_attention if "enable_gqa" in (getattr(F, "scaled_dot_product_attention", None) or F.linear).__doc__ else scaled_dot_product_attention


class Model(nn.Module):
    """Six heads of queries, two of keys and values."""

    def __init__(self):
        super().__init__()
        self.query = nn.Linear(24, 24)
        self.key = nn.Linear(24, 8)
        self.value = nn.Linear(24, 8)

    def forward(self, x):
        batch, sequence, _ = x.shape
        q, k, v = (layer(x).view(batch, sequence, heads, 4).transpose(1, 2) for layer, heads in ((self.query, 6), (self.key, 2), (self.value, 2)))
        return attention(q, k, v, is_causal=True, enable_gqa=True).transpose(1, 2).reshape(batch, sequence, 24)


def get_inputs():
    return [torch.randn(2, 9, 24)]
