# refused: 12: the model does not trace: attention with enable_gqa: 6 heads of queries are no multiple of 4 heads of keys and 4 of values || 31: the model does not trace: attention with enable_gqa: 6 heads of queries are no multiple of 4 heads of keys and 4 of values
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
    """Heads that do not divide."""

    def forward(self, q, k, v):
        return attention(q, k, v, enable_gqa=True)


def get_inputs():
    return [torch.randn(2, 6, 7, 5), torch.randn(2, 4, 11, 5), torch.randn(2, 4, 11, 5)]
