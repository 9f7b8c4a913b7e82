# rows=64 a_columns=32 b_rows=32 b_columns=48 c_size=48 d_axis0=2 d_axis1=3 d_axis2=4 d_axis3=5 d_axis4=6 d_axis5=7
"""Where nothing says what an axis is, its place does.  The helper that is called with an argument of the same name unpacks it."""
import torch


def product(a, b):
    rows, _ = a.size()
    return (a @ b).reshape(rows, -1)


class Model(torch.nn.Module):
    def forward(self, a, b, c, d):
        return product(a, b) + c, d


def get_inputs():
    return [torch.randn(64, 32), torch.randn(32, 48), torch.randn(48), torch.randn(2, 3, 4, 5, 6, 7)]
