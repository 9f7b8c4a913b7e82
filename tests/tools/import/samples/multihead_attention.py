# import: --dim B=x:0
# graph: reshape permute narrow narrow linear reshape transpose narrow narrow linear reshape transpose narrow narrow linear reshape transpose mul transpose bmm softmax bmm transpose reshape linear add layer_norm
# task: shape: "24"
# text: shape: "15, 2 * B, 4"
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.attention = nn.MultiheadAttention(width, heads)
        self.norm = nn.LayerNorm(width)

    def forward(self, x):
        batch, channels, height, width = x.shape
        x = x.view(batch, channels, height * width).permute(2, 0, 1)
        y, _ = self.attention(x, x, x)
        return self.norm(y + x)


def get_inputs():
    return [torch.randn(2, 8, 3, 5)]


def get_init_inputs():
    return [8, 2]
