# import: --dim T=x:1
# graph: narrow reshape narrow reshape std reshape norm
# task: y0: {role: out, dtype: float32, shape: "T"}
# task: y1: {role: out, dtype: float32, shape: "T, 1"}
# note: the input unused is not used
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, unused):
        first = x[0]
        rest = x[1, :, None]
        return first.std(dim=-1), rest.squeeze(1).norm(dim=1, keepdim=True)


def get_inputs():
    return [torch.randn(2, 6, 5), torch.randn(3)]
