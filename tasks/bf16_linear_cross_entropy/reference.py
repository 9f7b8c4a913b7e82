"""Cross-entropy of a linear layer over a large vocabulary in bfloat16, one loss a token."""

import torch
import torch.nn as nn
import torch.nn.functional as F


def forward_fn(x, weight, target):
    return F.cross_entropy(F.linear(x, weight).float(), target, reduction="none")


class Model(nn.Module):
    def __init__(self, vocabulary=128256, width=4096):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(vocabulary, width, dtype=torch.bfloat16) / width**0.5)

    def forward(self, x, target, fn=forward_fn):
        return fn(x, self.weight, target)


def get_inputs(tokens=1024, width=4096, vocabulary=128256):
    return [torch.randn(tokens, width, dtype=torch.bfloat16), torch.randint(vocabulary, (tokens,))]


def get_init_inputs():
    return []
