# graph: linear to softmax to softmax matmul to mul sum amax mul add
# text: op: softmax, in: [softmax_typed], attr: {dim: "-1"}, out: [{name: softmax, dtype: bfloat16
# text: op: softmax, in: [float_1], attr: {dim: "-1"}, out: [{name: softmax_1, dtype: float32
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    """A softmax in float32 whose result is converted at once is one of the narrow type. One that something else reads is rounded by the conversion."""

    def __init__(self):
        super().__init__()
        self.score = nn.Linear(6, 4, bias=False)
        self.to(torch.bfloat16)

    def forward(self, x, v):
        shares = F.softmax(self.score(x), dim=-1, dtype=torch.float32).to(x.dtype)
        read_again = x.float().softmax(-1)
        return shares @ v + (read_again.to(torch.bfloat16) * x).sum(-1, keepdim=True) * read_again.amax(-1, keepdim=True)


def get_inputs():
    return [torch.randn(5, 6, dtype=torch.bfloat16), torch.randn(4, 3, dtype=torch.bfloat16)]
