# refused: 12: the model does not trace: Input type (bfloat16) and weight type (float32) should be the same; the inputs are bfloat16 and
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
