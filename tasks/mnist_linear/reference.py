"""Linear layer with bias: the last layer of a small classifier."""

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
    return F.linear(x, weight, bias)


class Model(nn.Module):
    def __init__(self, input_dim=128, output_dim=10, init_method="kaiming"):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(output_dim, input_dim))
        self.bias = nn.Parameter(torch.randn(output_dim))
        INITS[init_method](self.weight)

    def forward(self, x, fn=forward_fn):
        return fn(x, self.weight, self.bias)


def get_inputs(batch_size=64, input_dim=128):
    return [torch.randn(batch_size, input_dim)]


def get_init_inputs():
    return []
