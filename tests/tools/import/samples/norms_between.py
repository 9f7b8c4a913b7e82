# graph: conv2d batch_norm relu conv2d batch_norm relu conv2d batch_norm relu conv2d batch_norm relu conv2d batch_norm relu conv2d batch_norm relu mean linear
"""Six convolutions with a norm after each: bounds that are carried through all of them exceed the variances that the norms divide by."""

import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, channels, width, classes):
        super().__init__()
        parts = []
        for _ in range(6):
            parts += [nn.Conv2d(channels, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU()]
            channels = width
        self.features = nn.Sequential(*parts)
        self.last = nn.Linear(width, classes)

    def forward(self, x):
        return self.last(torch.mean(self.features(x), dim=[2, 3]))


channels = 3
width = 32
classes = 10
batch = 8
size = 56


def get_inputs():
    return [torch.rand(batch, channels, size, size)]


def get_init_inputs():
    return [channels, width, classes]
