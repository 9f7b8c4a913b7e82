# refused: 8: matmul: its operands have the types bfloat16 and float32, and PyTorch multiplies numbers of one type alone; convert one with .to()
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, y):
        return x @ y


def get_inputs():
    return [torch.randn(3, 6, dtype=torch.bfloat16), torch.randn(6, 4)]
