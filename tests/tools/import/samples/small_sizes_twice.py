# graph: reshape add reshape mul
# task: x: {role: in, dtype: float32, shape: "batch, sequence, features"
# task: z: {role: in, dtype: float32, shape: "batch, sequence"
# note: these numbers of the file stay as they are: hidden = 4; to make a size among them a dim, name all dims: --dim NAME=TENSOR:AXIS
import torch
import torch.nn as nn

hidden = 4


class Model(nn.Module):
    """Small sizes that several inputs share move together; a small number that no input has may be a count, and a note names it."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(hidden))

    def forward(self, x, z):
        return (x + z[:, :, None]).unsqueeze(-1) * self.weight


def get_inputs():
    return [torch.randn(3, 7, 7), torch.randn(3, 7)]
