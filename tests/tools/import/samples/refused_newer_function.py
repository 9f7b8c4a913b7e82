# refused: 8: the model does not trace: module 'torch.nn.functional' has no attribute 'attention_of_tomorrow'; this is PyTorch
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x):
        return nn.functional.attention_of_tomorrow(x)


def get_inputs():
    return [torch.randn(3, 6)]
