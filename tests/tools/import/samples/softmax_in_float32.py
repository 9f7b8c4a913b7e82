# graph: linear to softmax to sum add to log_softmax sum mul div to
# text: op: to, in: [linear], attr: {dtype: float32}
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """Operations that are told a type to compute in convert what they take."""

    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(6, 5, bias=False)
        self.to(torch.bfloat16)

    def forward(self, x, mask):
        shares = F.softmax(self.gate(x), dim=-1, dtype=torch.float32)
        kept = mask.sum(-1, keepdim=True, dtype=torch.float32) + 1.0
        return (torch.log_softmax(x, -1, dtype=torch.float32).sum(-1, dtype=torch.float32, keepdim=True) * shares / kept).to(torch.bfloat16)


def get_inputs():
    return [torch.randn(4, 6, dtype=torch.bfloat16), torch.rand(4, 6) > 0.5]
