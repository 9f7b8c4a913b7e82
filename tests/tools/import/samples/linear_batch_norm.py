# import: --dim B=x:0
# graph: linear batch_norm relu reshape sum mul
# task: bn_weight: {role: in, dtype: float32, shape: "64", init: {kind: normal, mean: 1, std: 0.5}}
# task: y: {role: out, dtype: float32, shape: "B, 2"}
# task: B: {range: 2..
# note: bn normalises by batch statistics
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.fc = nn.Linear(inputs, outputs)
        self.bn = nn.BatchNorm1d(outputs)

    def forward(self, x):
        rows, _ = x.size()
        y = torch.relu(self.bn(self.fc(x)))
        return y.view(rows, 2, -1).sum(dim=-1) * 0.5


def get_inputs():
    return [torch.randn(16, 32)]


def get_init_inputs():
    return [32, 64]
