# graph: transpose matmul div full tril narrow narrow eq masked_fill arange reshape arange reshape sub gt eq rsub minimum rsub masked_fill softmax matmul full mul
import math

import torch
import torch.nn as nn


class Model(nn.Module):
    """Masks and ramps that forward makes on the input's device, and a scale that follows a size."""

    def __init__(self):
        super().__init__()
        self.register_buffer("past", torch.tril(torch.ones(16, 16)).view(1, 16, 16))

    def forward(self, x):
        length, width = x.shape[1], x.shape[2]
        scores = x @ x.transpose(1, 2) / math.sqrt(width)
        scores = scores.masked_fill(self.past[:, :length, :length] == 0, float("-inf"))
        distance = torch.arange(length, device=x.device)[None, :] - torch.arange(length, device=x.device)[:, None]
        near = (distance > -4) & ~(distance == -2)
        scores = scores.masked_fill(~near, -1e4)
        return torch.softmax(scores, dim=-1) @ x * torch.tensor(0.5, device=x.device)


def get_inputs(batch=2, length=12, width=8):
    return [torch.randn(batch, length, width)]
