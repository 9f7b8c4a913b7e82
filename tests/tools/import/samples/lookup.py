# import: --dim N=index:0 --dim V=table.weight:0
# graph: embedding sum sum sub abs clamp mul sub mul mul mean
# task: index: {role: in, dtype: int64, shape: "N, 5", init: {kind: integers, low: 0, high: V}}
# task: wants_grad: [target, table_weight]
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(11, 6)

    def forward(self, index, target):
        return F.smooth_l1_loss(self.table(index).sum(dim=1).sum(0), target, beta=0.5)


def get_inputs():
    return [torch.randint(0, 11, (4, 5)), torch.randn(6)]
