# graph: transpose narrow narrow linear reshape transpose narrow narrow linear reshape transpose narrow narrow linear reshape transpose mul transpose bmm reshape reshape masked_fill reshape softmax bmm transpose reshape linear reshape mean transpose
# task: padding: {role: in, dtype: uint8
# text: shape: "3, 1, 1, sequence"
import torch
import torch.nn as nn


class Model(nn.Module):
    """Keys that nobody looks at, one list a sequence."""

    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)

    def forward(self, x, padding):
        return self.attention(x, x, x, key_padding_mask=padding)


def get_inputs():
    return [torch.randn(3, 7, 8), torch.arange(7)[None] >= torch.tensor([7, 5, 3])[:, None]]
