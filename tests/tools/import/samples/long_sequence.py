# graph: full full transpose reshape reshape lstm transpose
"""A sequence so long that nothing can execute one of its blocks at the published size."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.lstm = nn.LSTM(width, hidden, batch_first=True)

    def forward(self, x):
        return self.lstm(x)[0]


def get_inputs():
    return [torch.randn(4, 512, 32)]


def get_init_inputs():
    return [32, 64]
