# import:
# graph: linear cat linear linear cat linear
# task: growth: {range: 4..32, multiple_of: 4}
# task: y: {role: out, dtype: float32, shape: "B, (3 * growth + 8) / 4"}
import torch
import torch.nn as nn


class Model(nn.Module):
    """Features grow and are halved twice, as in DenseNet: whole where growth is a multiple of 4."""

    def __init__(self, growth):
        super().__init__()
        features = 8
        self.grown, self.halved = nn.ModuleList(), nn.ModuleList()
        for _ in range(2):
            self.grown.append(nn.Linear(features, growth))
            self.halved.append(nn.Linear(features + growth, (features + growth) // 2))
            features = (features + growth) // 2

    def forward(self, x):
        for grown, halved in zip(self.grown, self.halved):
            x = halved(torch.cat([x, grown(x)], dim=1))
        return x


B = 4
growth = 32


def get_inputs():
    return [torch.rand(B, 8)]


def get_init_inputs():
    return [growth]
