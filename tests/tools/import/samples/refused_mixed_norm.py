# refused: 12: layer_norm: its operands have the types float32 and bfloat16, and PyTorch takes no such weights; the inputs are float32 and the parameters bfloat16: convert one
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(6, dtype=torch.bfloat16)

    def forward(self, x):
        return self.norm(x) + 1


def get_inputs():
    return [torch.randn(3, 6)]
