# import: --dim B=x:0 --dim B=z:0 --dim B=w:0
# graph: full triu eq rsub transpose transpose transpose linear reshape transpose linear reshape transpose linear reshape transpose mul transpose bmm masked_fill softmax bmm transpose reshape linear reshape mean transpose
# text: attr: {diagonal: "1"}
import torch
import torch.nn as nn


class Model(nn.Module):
    """Keys and values of other widths, a causal mask, and the weights as a second result."""

    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(6, 3, bias=False, kdim=4, vdim=5, batch_first=True)

    def forward(self, x, z, w):
        mask = torch.triu(torch.ones(7, 7), diagonal=1).bool()
        return self.attention(x, z, w, attn_mask=mask)


def get_inputs():
    return [torch.randn(3, 7, 6), torch.randn(3, 7, 4), torch.randn(3, 7, 5)]
