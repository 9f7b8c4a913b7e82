# import: --dim B=x:0 --dim W=x:3
# graph: interpolate conv2d interpolate interpolate
# text: attr: {size: "8, 2 * W", mode: bilinear, align_corners: true}
# text: attr: {size: "8, W", mode: nearest}
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True)
        self.conv = nn.Conv2d(3, 2, 1)

    def forward(self, x):
        y = self.conv(self.up(x))
        y = F.interpolate(y, scale_factor=(1, 0.5))
        return F.interpolate(y, size=(7, 9), mode="bilinear")


def get_inputs():
    return [torch.randn(2, 3, 4, 5)]
