# refused: 8: item takes numbers out of a tensor, and they depend on data; go on with the tensor
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return x / x.abs().max().item()


def get_inputs():
    return [torch.randn(3, 6)]
