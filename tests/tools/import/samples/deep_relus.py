# graph: linear relu linear relu linear relu linear relu linear relu linear relu linear relu linear relu linear relu linear relu linear relu linear relu linear relu linear relu linear relu linear relu linear relu linear relu linear relu linear relu linear
# task: init: {kind: kaiming_normal, fan_in: width}
"""Twenty layers with a relu each: of PyTorch's own weights a fault in the first ones would not show in the output."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layers = nn.Sequential(*[part for _ in range(20) for part in (nn.Linear(width, width), nn.ReLU())])
        self.last = nn.Linear(width, width)

    def forward(self, x):
        return self.last(self.layers(x))


width = 64
batch = 32


def get_inputs():
    return [torch.randn(batch, width)]


def get_init_inputs():
    return [width]
