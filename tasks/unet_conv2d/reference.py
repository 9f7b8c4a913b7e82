"""Convolution 3x3 with bias; stride and padding are parameters."""

import torch
import torch.nn as nn
import torch.nn.functional as F

INITS = {
    "kaiming": nn.init.kaiming_uniform_,
    "xavier": nn.init.xavier_uniform_,
    "normal": nn.init.normal_,
    "unit": nn.init.ones_,
}


def forward_fn(x, weight, bias, stride, padding):
    return F.conv2d(x, weight, bias, stride=stride, padding=padding)


class Model(nn.Module):
    def __init__(self, in_channels=64, out_channels=64, stride=1, padding=1, init_method="kaiming"):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(out_channels, in_channels, 3, 3))
        self.bias = nn.Parameter(torch.randn(out_channels))
        self.stride = stride
        self.padding = padding
        INITS[init_method](self.weight)

    def forward(self, x, fn=forward_fn):
        return fn(x, self.weight, self.bias, self.stride, self.padding)


def get_inputs(batch_size=8, in_channels=64, height=32, width=32):
    return [torch.randn(batch_size, in_channels, height, width)]


def get_init_inputs():
    return []
