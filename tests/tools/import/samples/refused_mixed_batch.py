# refused: 8: bmm: its operands have the types float32 and bfloat16,
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, y):
        return torch.bmm(x, y)


def get_inputs():
    return [torch.randn(3, 4, 6), torch.randn(3, 6, 5, dtype=torch.bfloat16)]
