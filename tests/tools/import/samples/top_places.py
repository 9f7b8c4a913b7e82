# graph: topk gather mul sort full scatter_add add
import torch
import torch.nn as nn


class Model(nn.Module):
    """The largest elements, their places, and what is gathered and added up there."""

    def forward(self, x, z):
        values, places = torch.topk(x, 3, dim=1)
        picked = torch.gather(z, 1, places) * values
        ranked = torch.sort(x, dim=1, descending=True)[0]
        return torch.zeros_like(x).scatter_add(1, places, picked) + ranked


def get_inputs(batch=5, width=17):
    return [torch.randn(batch, width), torch.randn(batch, width)]
