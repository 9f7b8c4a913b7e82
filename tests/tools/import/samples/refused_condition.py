# refused: 8: control flow depends on data (a tensor is used as a condition); compute both and choose with torch.where
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            return x * 2
        return x


def get_inputs():
    return [torch.randn(4, 4)]
