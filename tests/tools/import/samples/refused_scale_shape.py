# refused: 14: the model does not trace: two tensors do not fit:
"""A scale for three groups of a weight that has four."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(64, 96))
        self.scale = nn.Parameter(torch.ones(64, 3))

    def forward(self, x):
        w = (self.weight.reshape(64, 4, 24) * self.scale[:, :, None]).reshape(64, 96)
        return torch.nn.functional.linear(x, w)


def get_inputs():
    return [torch.randn(8, 96)]
