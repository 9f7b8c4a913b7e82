# refused: 13: the model does not trace: forward writes to the model's own state, such as running statistics
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(4))

    def forward(self, x):
        batch = x.mean(dim=0)
        self.mean = self.mean * 0.9 + batch * 0.1
        return x - batch


def get_inputs():
    return [torch.randn(8, 4)]
