# refused: 12: attention with dropout = 0.1 is not covered
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(6, 3, dropout=0.1)

    def forward(self, x):
        return self.attention(x, x, x)[0]


def get_inputs():
    return [torch.randn(3, 2, 6)]
