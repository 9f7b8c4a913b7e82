"""Convolution 3x3 with bias, ReLU, then max pooling, window 2, stride 2."""

import torch
import torch.nn as nn
import torch.nn.functional as F

INITS = {
    "kaiming": nn.init.kaiming_uniform_,
    "xavier": nn.init.xavier_uniform_,
    "normal": nn.init.normal_,
    "unit": nn.init.ones_,
}


def forward_fn(x, weight, bias):
    x = F.relu(F.conv2d(x, weight, bias))
    return F.max_pool2d(x, kernel_size=2, stride=2)


class Model(nn.Module):
    def __init__(self, in_channels=1, out_channels=32, init_method="kaiming"):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(out_channels, in_channels, 3, 3))
        self.bias = nn.Parameter(torch.randn(out_channels))
        INITS[init_method](self.weight)

    def forward(self, x, fn=forward_fn):
        return fn(x, self.weight, self.bias)


def get_inputs(batch_size=64, in_channels=1, height=28, width=28):
    return [torch.randn(batch_size, in_channels, height, width)]


def get_init_inputs():
    return []
