"""Transformer feed-forward layer with bias and exact GELU: proj(gelu(fc x))."""

import torch
import torch.nn as nn
import torch.nn.functional as F

INITS = {
    "kaiming": nn.init.kaiming_uniform_,
    "xavier": nn.init.xavier_uniform_,
    "normal": nn.init.normal_,
    "unit": nn.init.ones_,
}


def forward_fn(x, fc_weight, fc_bias, proj_weight, proj_bias):
    return F.linear(F.gelu(F.linear(x, fc_weight, fc_bias)), proj_weight, proj_bias)


class Model(nn.Module):
    def __init__(self, dim=768, hidden_dim=3072, init_method="kaiming"):
        super().__init__()
        self.fc_weight = nn.Parameter(torch.empty(hidden_dim, dim))
        self.fc_bias = nn.Parameter(torch.randn(hidden_dim))
        self.proj_weight = nn.Parameter(torch.empty(dim, hidden_dim))
        self.proj_bias = nn.Parameter(torch.randn(dim))
        INITS[init_method](self.fc_weight)
        INITS[init_method](self.proj_weight)

    def forward(self, x, fn=forward_fn):
        return fn(x, self.fc_weight, self.fc_bias, self.proj_weight, self.proj_bias)


def get_inputs(batch_size=8, seq_len=1024, dim=768):
    return [torch.randn(batch_size, seq_len, dim)]


def get_init_inputs():
    return []
