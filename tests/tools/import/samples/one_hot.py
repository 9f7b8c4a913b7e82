# graph: reshape arange eq to mean softmax mean mul sum mul sum mul
# text: op: eq, in: [one_hot_apart, one_hot_classes]
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Which experts are asked, counted: PyTorch's own one_hot looks at the numbers."""

    def forward(self, x, chosen):
        asked = F.one_hot(chosen, num_classes=5)
        share = asked.float().mean(dim=0)
        return (share * x.softmax(-1).mean(dim=0)).sum() * 5, asked.sum(1) * x


def get_inputs():
    return [torch.randn(4, 5), torch.randint(0, 5, (4, 2))]
