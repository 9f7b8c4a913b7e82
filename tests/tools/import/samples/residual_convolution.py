# import: --dim N=x:0 --dim H=x:2
# graph: conv2d batch_norm relu conv2d batch_norm add relu max_pool2d mean
# task: bn1_running_var: {role: in, dtype: float32, shape: "4", init: {kind: positive, mean: 1, std: 0.5}}
# task: y: {role: out, dtype: float32, shape: "N, 4"}
# text: shape: "N, 4, H / 2, 5"
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, channels=4):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(channels)
        self.relu = nn.ReLU(inplace=True)
        self.pool = nn.MaxPool2d(2)
        self.eval()

    def forward(self, x):
        identity = x
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        out += identity
        return self.pool(self.relu(out)).mean(dim=(2, 3))


def get_inputs():
    return [torch.randn(2, 4, 8, 10)]


def get_init_inputs():
    return []
