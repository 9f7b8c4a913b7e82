# refused: 8: the model does not trace: mat1 and mat2 must have the same dtype
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, y):
        return x @ y


def get_inputs():
    return [torch.randn(3, 6, dtype=torch.bfloat16), torch.randn(6, 4)]
