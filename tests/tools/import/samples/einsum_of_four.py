# import: --dim B=x:0 --dim B=y:0 --dim B=z:0
# graph: reshape reshape bmm reshape permute reshape reshape mul reshape permute reshape reshape bmm reshape sum reshape reshape mul reshape permute
# task: shape: "B, 3, 4"
# Four operands are joined in pairs, as state-space models write it; letters that nobody else has are added up first.
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(4, 5))
        self.scale = nn.Parameter(torch.randn(4, 5))

    def forward(self, x, y, z):
        mixed = torch.einsum("bij,jk,ik,bkl->bil", x, self.weight, self.scale, y)
        shared = torch.einsum("bil,bmn->bil", mixed, z)
        return torch.einsum("bil->bli", shared)


def get_inputs():
    return [torch.randn(3, 4, 4), torch.randn(3, 5, 3), torch.randn(3, 2, 2)]
