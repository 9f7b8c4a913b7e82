# refused: 12: batch_norm updates running statistics here, which is not covered; pass None for them
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(4))
        self.register_buffer("var", torch.ones(4))
    def forward(self, x): return F.batch_norm(x, self.mean, self.var, training=True)


def get_inputs():
    return [torch.randn(8, 4)]
