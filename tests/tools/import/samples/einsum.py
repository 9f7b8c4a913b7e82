# import: --dim B=x:0 --dim B=z:0
# graph: permute reshape permute reshape bmm reshape permute cumsum logsumexp cosine_similarity
# task: shape: "B, 5"
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(4, 6, 7))

    def forward(self, x, z):
        y = torch.einsum("bihd,hed->bihe", x, self.weight)
        y = torch.logsumexp(torch.cumsum(y, dim=1), dim=3)
        return F.cosine_similarity(y, z, dim=2)


def get_inputs():
    return [torch.randn(3, 5, 4, 7), torch.randn(3, 5, 4)]
