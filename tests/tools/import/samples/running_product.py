# graph: cumprod
# task:   x: {role: in, dtype: float32, shape: "rows, length", init: {kind: normal}}
"""A product that becomes subnormal after some two hundred factors."""
import torch
import torch.nn as nn

rows = 16
length = 2048


class Model(nn.Module):
    def forward(self, x):
        return torch.cumprod(x, dim=1)


def get_inputs():
    return [torch.randn(rows, length)]
