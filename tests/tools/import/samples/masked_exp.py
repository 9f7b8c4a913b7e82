# import:
# graph: cumsum reshape reshape sub full tril rsub masked_fill exp sum
import torch
import torch.nn as nn


class Model(nn.Module):
    """exp of a mask's infinity is an exact 0, not a value of no known error: Mamba's decay between two steps."""

    def forward(self, x):
        total = torch.cumsum(x, dim=-1)
        apart = total[..., :, None] - total[..., None, :]
        earlier = torch.tril(torch.ones(x.size(-1), x.size(-1), device=x.device, dtype=bool))
        return torch.exp(apart.masked_fill(~earlier, -torch.inf)).sum(dim=-1)


B = 8
T = 32


def get_inputs():
    return [torch.randn(B, T)]
