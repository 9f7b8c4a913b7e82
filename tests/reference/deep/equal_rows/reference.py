"""Eight linear layers with batch norms over rows that a relu made equal."""

import torch
import torch.nn.functional as F


def forward_fn(x, low, weight, bias, scale, shift, last):
    hidden = torch.relu(F.linear(x, weight, low))
    for _ in range(8):
        hidden = F.batch_norm(F.linear(hidden, weight, bias), None, None, scale, shift, True)
    return F.linear(hidden, last)
