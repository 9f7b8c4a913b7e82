# refused: forward returns last as it is, which a kernel has nothing to do for; leave it out, or return last.clone()
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, last):
        return x + last, last


def get_inputs():
    return [torch.randn(5, 8), torch.randn(5, 8)]
