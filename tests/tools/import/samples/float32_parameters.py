# graph: to mul
# task: y: {role: out, dtype: float32
# note: the inputs are bfloat16 and the parameters float32, so results of both are float32; for a model in bfloat16 write self.to(torch.bfloat16)
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(6))

    def forward(self, x):
        return x.float() * self.weight


def get_inputs():
    return [torch.randn(3, 6, dtype=torch.bfloat16)]
