# graph: matmul matmul matmul add
# task:   a: {role: in, dtype: float32, shape: "n, n", init: {kind: normal}, structure: upper}
# task:   b: {role: in, dtype: float32, shape: "n, n", init: {kind: normal}, structure: lower}
# task:   c: {role: in, dtype: float32, shape: "n, n", init: {kind: normal, std: 1.4
# task:   d: {role: in, dtype: float32, shape: "n, n", init: {kind: normal}, structure: diagonal}
# note: the input a is an upper triangle, and stays so in every family of inputs
# note: the input c is symmetric, and stays so in every family of inputs
"""Triangles, a symmetric and a diagonal matrix."""
import torch
import torch.nn as nn

n = 96


class Model(nn.Module):
    def forward(self, a, b, c, d):
        return torch.matmul(torch.matmul(a, b), c) + torch.matmul(c, d)


def get_inputs():
    square = torch.randn(n, n)
    return [torch.triu(torch.randn(n, n)), torch.tril(torch.randn(n, n)), square + square.T, torch.diag(torch.randn(n))]
