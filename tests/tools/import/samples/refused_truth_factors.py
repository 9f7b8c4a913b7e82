# refused: 13: matmul has truth values as a factor, which PyTorch refuses too; convert them first, as in mask.to(x.dtype)
# refused: 14: linear has truth values as a factor
# refused: 15: einsum has truth values as a factor
# refused: 16: matmul has truth values as a factor
# refused: 17: matmul has whole numbers (int64) as a factor; convert them first, as in counts.to(x.dtype)
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def forward(self, x, mask):
        a = x @ mask
        b = F.linear(x, mask.t())
        c = torch.einsum("ij,jk->ik", x, mask)
        d = x @ (x.t() > 0)
        e = mask.long() @ mask.t().long()
        return a, b, c, d, e


def get_inputs():
    return [torch.randn(5, 7), torch.rand(7, 3) > 0.3]
