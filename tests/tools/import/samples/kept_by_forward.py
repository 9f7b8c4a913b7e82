# graph: relu mul
# text: other: "1.0 / sqrt(width)"
# note: dim rows:
# note: dim width:
"""The first call leaves a number in the model, so no model may be traced a second time at another size."""
import torch
import torch.nn as nn

rows, width = 24, 40


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = None

    def forward(self, x):
        if self.scale is None:
            self.scale = x.shape[1] ** -0.5
        return torch.relu(x) * self.scale


def get_inputs():
    return [torch.rand(rows, width)]
