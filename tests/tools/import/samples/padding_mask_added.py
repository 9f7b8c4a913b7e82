# graph: narrow narrow linear reshape transpose narrow narrow linear reshape transpose narrow narrow linear reshape transpose mul transpose bmm reshape reshape add reshape softmax bmm transpose reshape linear add narrow narrow linear reshape transpose narrow narrow linear reshape transpose narrow narrow linear reshape transpose mul transpose bmm add reshape reshape masked_fill reshape softmax bmm transpose reshape linear
# task: penalty: {role: in, dtype: float32
import torch
import torch.nn as nn


class Model(nn.Module):
    """Numbers to add for each key; and padding beside a mask for each pair. Queries and keys have different lengths."""

    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(8, 2)

    def forward(self, x, memory, pairs, penalty, padding):
        x = x + self.attention(x, memory, memory, key_padding_mask=penalty, need_weights=False)[0]
        return self.attention(x, memory, memory, key_padding_mask=padding, attn_mask=pairs, need_weights=False)[0]


def get_inputs():
    return [torch.randn(5, 3, 8), torch.randn(7, 3, 8), torch.randn(5, 7), torch.randn(3, 7), torch.rand(3, 7) > 0.8]
