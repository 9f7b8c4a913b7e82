# refused: forward writes to the buffer 'count'; a task has no state
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(1))

    def forward(self, x):
        self.count.add_(1)
        return x * 2


def get_inputs():
    return [torch.randn(4, 4)]
