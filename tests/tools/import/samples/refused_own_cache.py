# refused: forward writes to the buffer 'keys'; a task has no state: make it an argument of forward, and return what it becomes
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("keys", torch.zeros(2, 9, 4))

    def forward(self, query, key, position):
        self.keys.index_copy_(1, position, key)
        return query @ self.keys.transpose(-2, -1)


def get_inputs():
    return [torch.randn(2, 1, 4), torch.randn(2, 1, 4), torch.tensor([5])]
