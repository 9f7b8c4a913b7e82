"""Cross-entropy of bfloat16 logits over a large vocabulary, one loss a token."""

import torch
import torch.nn as nn
import torch.nn.functional as F


def forward_fn(logits, target):
    return F.cross_entropy(logits.float(), target, reduction="none")


class Model(nn.Module):
    def forward(self, logits, target, fn=forward_fn):
        return fn(logits, target)


def get_inputs(tokens=4096, vocabulary=128256):
    return [torch.randn(tokens, vocabulary, dtype=torch.bfloat16) * 2, torch.randint(vocabulary, (tokens,))]


def get_init_inputs():
    return []
