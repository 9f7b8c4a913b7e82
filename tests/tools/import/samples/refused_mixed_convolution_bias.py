# refused: 9: conv1d: its operands have the types bfloat16 and float32, || 9: the model does not trace: Input type (c10::BFloat16) and bias type (float) should be the same
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def forward(self, x, weight, bias):
        return F.conv1d(x, weight, bias)


def get_inputs():
    return [torch.randn(2, 6, 9, dtype=torch.bfloat16), torch.randn(4, 6, 3, dtype=torch.bfloat16), torch.randn(4)]
