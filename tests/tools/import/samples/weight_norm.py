# graph: norm div mul conv1d sin norm div mul linear
# text: attr: {dim: "1, 2", keepdim: true}
import torch
import torch.nn as nn
from torch.nn.utils import weight_norm


class Model(nn.Module):
    """Weights as a direction and a length, of a convolution and of all of a linear layer."""

    def __init__(self, channels=6):
        super().__init__()
        self.convolution = weight_norm(nn.Conv1d(2, channels, 3, padding=1))
        self.linear = weight_norm(nn.Linear(10, 4), dim=None)

    def forward(self, x):
        return self.linear(torch.sin(self.convolution(x)))


def get_inputs():
    return [torch.randn(3, 2, 10)]
