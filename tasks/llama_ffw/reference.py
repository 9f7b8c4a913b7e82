"""Gated feed-forward layer of Llama: down(silu(gate x) * up x), without bias."""

import torch
import torch.nn as nn
import torch.nn.functional as F

INITS = {
    "kaiming": nn.init.kaiming_uniform_,
    "xavier": nn.init.xavier_uniform_,
    "normal": nn.init.normal_,
    "unit": nn.init.ones_,
}


def forward_fn(x, gate_weight, up_weight, down_weight):
    hidden = F.silu(F.linear(x, gate_weight)) * F.linear(x, up_weight)
    return F.linear(hidden, down_weight)


class Model(nn.Module):
    def __init__(self, dim=4096, hidden_dim=14336, init_method="kaiming"):
        super().__init__()
        self.gate_weight = nn.Parameter(torch.empty(hidden_dim, dim))
        self.up_weight = nn.Parameter(torch.empty(hidden_dim, dim))
        self.down_weight = nn.Parameter(torch.empty(dim, hidden_dim))
        for weight in self.parameters():
            INITS[init_method](weight)

    def forward(self, x, fn=forward_fn):
        return fn(x, self.gate_weight, self.up_weight, self.down_weight)


def get_inputs(batch_size=2, seq_len=128, dim=4096):
    return [torch.randn(batch_size, seq_len, dim)]


def get_init_inputs():
    return []
