# graph: sort gather sort add
# text: op: sort, in: [x], attr: {dim: "1", descending: true, stable: true}
# text: op: sort, in: [z], attr: {dim: "0", descending: false}
import torch
import torch.nn as nn


class Model(nn.Module):
    """A stable sort alone promises the order of equal elements."""

    def forward(self, x, z):
        places = torch.sort(x, dim=1, descending=True, stable=True)[1]
        return torch.gather(z, 1, places) + torch.sort(z, dim=0)[0]


def get_inputs(batch=5, width=17):
    return [torch.randn(batch, width), torch.randn(batch, width)]
