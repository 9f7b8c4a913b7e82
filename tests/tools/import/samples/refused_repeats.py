# refused: 10: repeat_interleave depends on data
"""How often an element comes is a tensor's data."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, times):
        return torch.repeat_interleave(x, times, dim=0)


def get_inputs():
    return [torch.rand(2, 3), torch.tensor([1, 2])]
