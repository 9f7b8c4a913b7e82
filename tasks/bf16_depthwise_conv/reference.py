"""Depthwise convolution with a bias in bfloat16, channels last, as ConvNeXt's blocks begin."""

import torch
import torch.nn as nn
import torch.nn.functional as F


def forward_fn(x, weight, bias):
    planes = x.permute(0, 3, 1, 2)  # the memory stays channels last
    return F.conv2d(planes, weight, bias, padding=weight.shape[-1] // 2, groups=weight.shape[0]).permute(0, 2, 3, 1)


class Model(nn.Module):
    def __init__(self, channels=128, window=7):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(channels, 1, window, window, dtype=torch.bfloat16) / window)
        self.bias = nn.Parameter(torch.zeros(channels, dtype=torch.bfloat16))

    def forward(self, x, fn=forward_fn):
        return fn(x, self.weight, self.bias)


def get_inputs(batch=32, height=96, width=96, channels=128):
    return [torch.randn(batch, height, width, channels, dtype=torch.bfloat16)]


def get_init_inputs():
    return []
