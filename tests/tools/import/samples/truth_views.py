# graph: reshape rsub masked_fill reshape to rsub mul add reshape reshape expand minimum full tril eq rsub masked_fill to reshape mul flip reshape masked_fill amax mul amin reshape masked_fill
# text: out: [{name: getitem, dtype: uint8
# task: mask: {role: in, dtype: uint8
import torch
import torch.nn as nn


class Model(nn.Module):
    """Views of an input of truth values, as masks mostly come; and any, all and unequal."""

    def forward(self, x, mask):
        scores = x.masked_fill(~mask[:, None, :], -1e9) + (1.0 - mask[:, None].to(x.dtype)) * -3.0
        pairs = mask[:, None] & mask.unsqueeze(2).expand(-1, -1, x.shape[2])
        scores = scores.masked_fill(pairs ^ torch.tril(torch.ones(7, 7, dtype=torch.bool)), 0.5)
        kept = x * mask.float().unsqueeze(-1)
        kept = kept.masked_fill_(mask.flip(1)[:, None], 0.25) * mask.any()
        return scores.masked_fill(mask.all(1, keepdim=True)[:, None], 0.0), kept


def get_inputs():
    return [torch.randn(3, 7, 7), torch.rand(3, 7) > 0.3]
