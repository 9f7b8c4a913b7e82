"""Modules that exported_test.py exports: (name, module, inputs).  Test data."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class Convolution(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 8, 3, padding=1)
        self.norm = nn.BatchNorm2d(8)
        self.norm.running_mean.normal_()
        self.norm.running_var.uniform_(0.5, 2)
        self.turned = nn.ConvTranspose2d(8, 4, 2, stride=2)
        self.last = nn.Linear(4, 5)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.norm(self.first(x))), 2)
        return self.last(self.turned(x).mean((2, 3)))


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(16)
        self.inner = nn.Linear(16, 48)
        self.register_buffer("hidden", torch.triu(torch.ones(6, 6), 1))

    def forward(self, x):
        q, k, v = self.inner(self.norm(x)).split(16, dim=-1)
        scores = q @ k.transpose(-2, -1) / 4.0
        shares = torch.softmax(scores.masked_fill(self.hidden != 0, float("-inf")), dim=-1)
        return x + shares @ v


class Pieces(nn.Module):
    def forward(self, x, y):
        x = torch.cat([x[:, 1:3], y], 1)
        return torch.clamp(x, min=-0.5), F.gelu(y).var(1, keepdim=True) + y.amax(1, keepdim=True)


def modules():
    torch.manual_seed(0)
    return [
        ("convolution", Convolution().eval(), (torch.randn(4, 3, 8, 8),)),
        ("attention", Attention().eval(), (torch.randn(2, 6, 16),)),
        ("pieces", Pieces().eval(), (torch.randn(5, 4), torch.randn(5, 7))),
    ]
