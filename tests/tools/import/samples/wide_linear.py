# import: --dim B=x:0
# graph: linear sigmoid mul mul
# task: - {name: smallest, dims: {B: 1}}
# task: - {name: as_given, dims: {B: 128}}
import torch
import torch.nn as nn


class Model(nn.Module):
    """Weights alone are more than a small case has: the named dim is small at least."""

    def __init__(self, columns, scale):
        super().__init__()
        self.linear = nn.Linear(1024, columns)
        self.scale = scale

    def forward(self, x):
        x = self.linear(x)
        return x * torch.sigmoid(x) * self.scale


def get_inputs():
    return [torch.randn(128, 1024)]


def get_init_inputs():
    return [300, 2.0]
