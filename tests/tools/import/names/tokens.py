# vocabulary=1000 batch=8 sequence=16 y_size=8
"""A number that has a name keeps it; token numbers are a batch of sequences; an argument's own name is no size."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, vocabulary):
        super().__init__()
        self.table = nn.Embedding(vocabulary, 64)

    def forward(self, tokens, y):
        y = y.shape[0] + tokens
        return self.table(y)


vocabulary = 1000


def get_inputs():
    batch = 8
    return [torch.randint(0, vocabulary, (batch, 16)), torch.rand(8)]


def get_init_inputs():
    return [vocabulary]
