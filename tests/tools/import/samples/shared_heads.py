# import: --dim T=keys:2
# graph: reshape expand reshape transpose matmul reshape expand reshape add
# text: shape: "2, 2, 3, T, 4"
"""Grouped queries: each head of keys serves three heads of queries, which lie side by side."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, queries, keys, offsets):
        scores = queries @ torch.repeat_interleave(keys, 3, dim=1).transpose(-2, -1)
        return scores + offsets.repeat_interleave(repeats=5, dim=-2)


def get_inputs():
    return [torch.rand(2, 6, 5, 4), torch.rand(2, 2, 7, 4), torch.rand(6, 1, 1)]
