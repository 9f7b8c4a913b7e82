# import:
# graph: conv2d batch_norm conv2d conv2d batch_norm conv2d conv2d batch_norm conv2d conv2d batch_norm conv2d conv2d
# task: require: ["B * ((H + 7) / 8) * ((H + 7) / 8) >= 8"]
# task: y: {role: out, dtype: float32, shape: "B, 3, (H + 15) / 16, (H + 15) / 16"}
# note: convolutions.1 normalises by batch statistics (and so do 3 others)
# note: every size satisfies B * ((H + 7) / 8) * ((H + 7) / 8) >= 8
import torch
import torch.nn as nn


class Model(nn.Module):
    """A deep network of norms: at sizes where one takes two numbers, rounding errors grow from norm to norm."""

    def __init__(self):
        super().__init__()
        layers = [nn.Conv2d(3, 3, 1)]
        for _ in range(4):
            layers += [nn.BatchNorm2d(3), nn.Conv2d(3, 3, 3, stride=2, padding=1), nn.Conv2d(3, 3, 1)]
        self.convolutions = nn.Sequential(*layers)

    def forward(self, x):
        return self.convolutions(x)


B = 10
H = 64


def get_inputs():
    return [torch.rand(B, 3, H, H)]
