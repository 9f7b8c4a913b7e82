# x_width=5 batch=2 channels=16 height=32 width=48 size=2 y_size=1 groups=4 layers_0=16 layers_1=24 groups2=2
"""The layers say what a tensor of four axes is; a name that is taken gets the argument's before it."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, groups=2, layers=()):
        super().__init__()
        self.norm = nn.GroupNorm(groups, layers[0])
        self.conv = nn.Conv2d(layers[0], layers[1], 3)

    def forward(self, x, y):
        return self.conv(self.norm(x)) + y


x_width = 5


def get_inputs():
    return [torch.rand((2, 16, 32, 48)).half() * 2, torch.zeros(1)]


def get_init_inputs():
    return {"groups": 4, "layers": [16, 24]}
