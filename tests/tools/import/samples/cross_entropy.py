# import: --dim N=predictions:0 --dim N=targets:0 --dim C=predictions:1
# graph: cross_entropy
# task: targets: {role: in, dtype: int64, shape: "N", init: {kind: integers, low: 0, high: C}}
# task: y: {role: out, dtype: float32, shape: ""}
# task: wants_grad: [predictions]
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def forward(self, predictions, targets):
        return F.cross_entropy(predictions, targets)


def get_inputs():
    return [torch.randn(12, 5), torch.randint(0, 5, (12,))]


def get_init_inputs():
    return []
