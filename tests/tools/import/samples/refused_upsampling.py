# refused: 10: interpolate with mode = bicubic is not covered
# refused: 10: interpolate by a factor that gives no whole size is not covered
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def forward(self, x):
        return F.interpolate(x, size=(7, 9), mode="bicubic") + F.interpolate(x, size=(7, 9)) + F.interpolate(x, scale_factor=1.8)


def get_inputs():
    return [torch.randn(2, 3, 4, 5)]
