# refused: 11: einsum of 'bij->b' is not covered: two operands, each letter once in each, and an arrow
# refused: 12: einsum of 'bij,bj->b' is not covered: i is summed over in one operand alone
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, z):
        # three calls that no operation stands for

        a = torch.einsum("bij->b", x)
        b = torch.einsum("bij,bj->b", x, z)
        c, _ = torch.topk(z, 2)
        return a + b + c.sum(1)


def get_inputs():
    return [torch.randn(3, 5, 4), torch.randn(3, 4)]
