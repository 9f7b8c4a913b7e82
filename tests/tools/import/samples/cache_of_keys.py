# graph: reshape expand scatter reshape expand scatter transpose matmul softmax matmul
# task: position: {role: in, dtype: int64, shape: "1", init: {kind: integers, low: 0, high: length}}
import torch
import torch.nn as nn


class Model(nn.Module):
    """One step of decoding: a key and a value are put into caches that are given and returned."""

    def forward(self, query, key, value, keys, values, position):
        keys = keys.index_copy(2, position, key)
        values.index_copy_(2, position, value)
        return torch.softmax(query @ keys.transpose(-2, -1), -1) @ values, keys, values


def get_inputs():
    length = 9
    new, caches = [torch.randn(2, 3, 1, 4) for _ in range(3)], [torch.randn(2, 3, length, 4) for _ in range(2)]
    return [*new, *caches, torch.tensor([5])]
