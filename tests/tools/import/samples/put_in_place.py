# graph: full narrow mul narrow narrow cat full expand reshape narrow cat narrow narrow add narrow cat mul narrow cat clamp mul
import torch
import torch.nn as nn


class Model(nn.Module):
    """A slice that is assigned, one that is changed through a view, and a tensor that is filled row by row."""

    def forward(self, x):
        y = torch.zeros_like(x)
        y[:, 1:3] = x[:, :2] * 2
        y[:, 0] = 1.5
        part = y[:, 3:]
        part += x[:, 3:]
        part.mul_(2)
        return y * x.clamp_(min=-1)


def get_inputs(batch=3, width=9):
    return [torch.randn(batch, width)]
