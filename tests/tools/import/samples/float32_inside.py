# graph: linear add tanh mul add relu6 div
"""In double precision too, PyTorch's kernel of hardsigmoid's gradient holds 1/6 as a float32, and a state beside parameters and buffers is one:
the comparison with the model does without both."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.state = torch.randn(batch, width)
        self.linear = nn.Linear(width, width)

    def forward(self, x, before):
        self.state.copy_(before)
        self.state = torch.tanh(self.linear(x) + self.state)
        return nn.functional.hardsigmoid(self.state * 4)


width = 24
batch = 7


def get_inputs():
    return [torch.randn(batch, width), torch.randn(batch, width)]


def get_init_inputs():
    return [width]
