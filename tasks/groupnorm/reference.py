"""Group norm of an image, with a weight and bias a channel."""

import torch
import torch.nn as nn
import torch.nn.functional as F


def forward_fn(x, weight, bias, eps, G):
    return F.group_norm(x, G, weight, bias, eps)


class Model(nn.Module):
    def __init__(self, channels=64, groups=8, eps=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(channels))
        self.bias = nn.Parameter(torch.zeros(channels))
        self.groups = groups
        self.eps = eps

    def forward(self, x, fn=forward_fn):
        return fn(x, self.weight, self.bias, self.eps, self.groups)


def get_inputs(batch_size=16, channels=64, height=256, width=256):
    return [torch.randn(batch_size, channels, height, width)]


def get_init_inputs():
    return []
