# graph: mul full where detach add
# task: dropout_kept: {role: in, dtype: uint8, shape: "x_rows, x_columns", init: {kind: integers, low: 0, high: 2}}
# note: dropout draws which elements it keeps (line 11): the task takes them as the input dropout_kept
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def forward(self, x):
        return F.dropout(x, 0.25) + x.detach()


def get_inputs():
    return [torch.randn(4, 24)]
