# refused: 9: a value that was changed in place (line 8) is used again
import torch
import torch.nn as nn
import torch.nn.functional as F
class Model(nn.Module):
    def forward(self, x):
        a = x * 2
        b = F.relu(a, inplace=True)
        return a + b


def get_inputs():
    return [torch.randn(4, 4)]
