# b=4 s=128 f=512 hidden=1024 features=512
import torch
import torch.nn as nn


class Net(nn.Module):
    def __init__(self, hidden, features):
        super().__init__()
        self.up = nn.Linear(features, hidden)

    def forward(self, x):
        b, s, f = x.shape
        return self.up(x.reshape(b * s, f)).reshape(b, s, -1)


def get_inputs():
    return [torch.randn(4, 128, 512)]


def get_init_inputs():
    return [1024, 512]
