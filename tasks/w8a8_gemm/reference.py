"""Linear layer of int8 activations and weights, a scale for each token and each output channel, to bfloat16."""

import torch
import torch.nn as nn
import torch.nn.functional as F


def forward_fn(x, weight, x_scale, weight_scale):
    sums = F.linear(x.float(), weight.float())  # torch._int_mm where the sizes allow it: int32 sums
    return (sums * x_scale[:, None] * weight_scale).to(torch.bfloat16)


class Model(nn.Module):
    def __init__(self, inputs=4096, outputs=4096):
        super().__init__()
        self.register_buffer("weight", torch.randint(-127, 128, (outputs, inputs), dtype=torch.int8))
        self.register_buffer("weight_scale", torch.rand(outputs) * 0.001)

    def forward(self, x, x_scale, fn=forward_fn):
        return fn(x, self.weight, x_scale, self.weight_scale)


def get_inputs(tokens=2048, inputs=4096):
    return [torch.randint(-127, 128, (tokens, inputs), dtype=torch.int8), torch.rand(tokens) * 0.03]


def get_init_inputs():
    return []
