# graph: sub mul add reshape
# task: y1: {role: out, dtype: float32, shape: "x_rows, 8"}
import torch
import torch.nn as nn


class Model(nn.Module):
    """A step of a recurrence: its input is what the next step needs."""

    def __init__(self, width=8):
        super().__init__()
        self.mix = nn.Parameter(torch.rand(width))

    def forward(self, x, last):
        return x + (last - x) * self.mix, x.clone()


def get_inputs():
    return [torch.randn(5, 8), torch.randn(5, 8)]
