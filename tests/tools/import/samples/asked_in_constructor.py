# graph: linear matmul mul add full tril matmul
# task: fc_weight: {role: in, dtype: float32, shape: "width, width", init: {kind: kaiming, fan_in: width}}
# task: start: {role: in, dtype: float32, shape: "width, width"
# text: tril
"""A constructor that asks for numbers, a buffer that is a pattern, and one that is a copy of a large weight."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, width, length):
        super().__init__()
        self.shares = [share.item() for share in torch.linspace(0, 1, 3)]
        self.fc = nn.Linear(width, width)
        self.register_buffer("mask", torch.tril(torch.ones(length, length)))
        self.register_buffer("start", self.fc.weight.detach().clone())

    def forward(self, x):
        x = self.fc(x) + self.shares[1] * torch.matmul(x, self.start)
        return torch.matmul(self.mask, x)


width = 160
length = 9
batch = 4


def get_inputs():
    return [torch.randn(batch, length, width)]


def get_init_inputs():
    return [width, length]
