# refused: 14: the model does not trace: a tensor of 6144 elements cannot have the shape [64, 2, 36]: a size in it, such as that of a group, does not divide
"""A group size that does not divide the width."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(64, 96))
        self.scale = nn.Parameter(torch.ones(64, 3))

    def forward(self, x):
        w = (self.weight.reshape(64, 96 // 36, 36) * self.scale[:, :, None]).reshape(64, 96)
        return torch.nn.functional.linear(x, w)


def get_inputs():
    return [torch.randn(8, 96)]
