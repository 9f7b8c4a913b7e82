"""Residual block with inference batch norm, the shortcut being the input itself."""

import torch
import torch.nn as nn
import torch.nn.functional as F


def forward_fn(
    x,
    conv1_weight, bn1_mean, bn1_var, bn1_weight, bn1_bias,
    conv2_weight, bn2_mean, bn2_var, bn2_weight, bn2_bias,
    eps,
):  # fmt: skip
    out = F.conv2d(x, conv1_weight, padding=1)
    out = F.relu(F.batch_norm(out, bn1_mean, bn1_var, bn1_weight, bn1_bias, training=False, eps=eps))
    out = F.conv2d(out, conv2_weight, padding=1)
    out = F.batch_norm(out, bn2_mean, bn2_var, bn2_weight, bn2_bias, training=False, eps=eps)
    return F.relu(out + x)


class Model(nn.Module):
    def __init__(self, channels=64):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(channels)
        self.eval()

    def forward(self, x, fn=forward_fn):
        bn1, bn2 = self.bn1, self.bn2
        return fn(
            x,
            self.conv1.weight, bn1.running_mean, bn1.running_var, bn1.weight, bn1.bias,
            self.conv2.weight, bn2.running_mean, bn2.running_var, bn2.weight, bn2.bias,
            bn1.eps,
        )  # fmt: skip


def get_inputs(batch_size=32, channels=64, height=224, width=224):
    return [torch.randn(batch_size, channels, height, width)]


def get_init_inputs():
    return []
