# graph: permute reshape reshape mul reshape permute reshape to matmul
import torch
import torch.nn as nn


class Model(nn.Module):
    """Where einsum sums nothing it multiplies element by element, and truths may be one side."""

    def forward(self, x, mask):
        return torch.einsum("bqk,bk->bqk", x, mask) @ mask[:, :, None].to(x.dtype)


def get_inputs():
    return [torch.randn(3, 5, 7), torch.rand(3, 7) > 0.3]
