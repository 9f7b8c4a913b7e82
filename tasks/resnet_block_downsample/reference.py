"""Residual block with inference batch norm, the shortcut being a strided 1x1 convolution with its own batch norm."""

import torch
import torch.nn as nn
import torch.nn.functional as F


def forward_fn(
    x,
    conv1_weight, bn1_mean, bn1_var, bn1_weight, bn1_bias,
    conv2_weight, bn2_mean, bn2_var, bn2_weight, bn2_bias,
    down_weight, down_bn_mean, down_bn_var, down_bn_weight, down_bn_bias,
    eps, stride,
):  # fmt: skip
    out = F.conv2d(x, conv1_weight, stride=stride, padding=1)
    out = F.relu(F.batch_norm(out, bn1_mean, bn1_var, bn1_weight, bn1_bias, training=False, eps=eps))
    out = F.conv2d(out, conv2_weight, padding=1)
    out = F.batch_norm(out, bn2_mean, bn2_var, bn2_weight, bn2_bias, training=False, eps=eps)
    shortcut = F.conv2d(x, down_weight, stride=stride)
    shortcut = F.batch_norm(shortcut, down_bn_mean, down_bn_var, down_bn_weight, down_bn_bias, training=False, eps=eps)
    return F.relu(out + shortcut)


class Model(nn.Module):
    def __init__(self, in_channels=64, out_channels=128, stride=2):
        super().__init__()
        self.conv1 = nn.Conv2d(in_channels, out_channels, 3, stride=stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(out_channels)
        self.conv2 = nn.Conv2d(out_channels, out_channels, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(out_channels)
        self.down = nn.Conv2d(in_channels, out_channels, 1, stride=stride, bias=False)
        self.down_bn = nn.BatchNorm2d(out_channels)
        self.stride = stride
        self.eval()

    def forward(self, x, fn=forward_fn):
        bn1, bn2, bn3 = self.bn1, self.bn2, self.down_bn
        return fn(
            x,
            self.conv1.weight, bn1.running_mean, bn1.running_var, bn1.weight, bn1.bias,
            self.conv2.weight, bn2.running_mean, bn2.running_var, bn2.weight, bn2.bias,
            self.down.weight, bn3.running_mean, bn3.running_var, bn3.weight, bn3.bias,
            bn1.eps, self.stride,
        )  # fmt: skip


def get_inputs(batch_size=32, in_channels=64, height=224, width=224):
    return [torch.randn(batch_size, in_channels, height, width)]


def get_init_inputs():
    return []
