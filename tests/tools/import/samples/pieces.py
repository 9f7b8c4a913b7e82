# import: --dim B=x:0
# graph: narrow narrow sigmoid mul
# task: shape: "B, 6"
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        a, b = torch.chunk(x, 2, dim=1)
        return a * torch.sigmoid(b)


def get_inputs():
    return [torch.randn(3, 12)]
