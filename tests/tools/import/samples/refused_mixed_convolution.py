# refused: 12: conv1d: its operands have the types bfloat16 and float32, and PyTorch multiplies numbers of one type alone; the inputs are bfloat16 and the parameters float32: convert one || 12: the model does not trace: Input type (c10::BFloat16) and bias type (float) should be the same; the inputs are bfloat16 and the parameters float32: convert one
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Conv1d(6, 4, 3)

    def forward(self, x):
        return self.layer(x)


def get_inputs():
    return [torch.randn(3, 6, 9, dtype=torch.bfloat16)]
