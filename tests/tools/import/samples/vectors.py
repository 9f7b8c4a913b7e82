# import: --dim N=v:0 --dim N=m:1
# graph: expand tril triu matmul matmul reshape mul bmm add
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, v, m, w, z):
        y = torch.mv(m, torch.diag(v) @ v)
        return torch.baddbmm(torch.outer(y, w), z, z)


def get_inputs():
    return [torch.randn(5), torch.randn(4, 5), torch.randn(4), torch.randn(2, 4, 4)]
