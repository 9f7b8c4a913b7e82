# import: --dim B=x:0 --dim D=x:2 --dim D=weight:0
# graph: mul mean add rsqrt mul mul
# task: x: {role: in, dtype: float32, shape: "B, 6, D", init: {kind: normal}}
# task: weight: {role: in, dtype: float32, shape: "D", init: {kind: normal, mean: 1, std: 0.5}}
# task: wants_grad: [x, weight]
import torch
import torch.nn as nn


def forward_fn(x, weight, eps):
    return x * torch.rsqrt(torch.mean(x.pow(2), dim=-1, keepdim=True) + eps) * weight


class Model(nn.Module):
    def __init__(self, dim=24, eps=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))
        self.eps = eps

    def forward(self, x, fn=forward_fn):
        return fn(x, self.weight, self.eps)


def get_inputs(batch_size=4, seq_len=6, dim=24):
    return [torch.randn(batch_size, seq_len, dim)]
