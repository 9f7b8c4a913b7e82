# graph: full full reshape reshape lstm
# note: dim sequence: 1 to 4, published 3
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(4, 5)

    def forward(self, x):
        return self.lstm(x)[0]


def get_inputs():
    return [torch.randn(3, 2, 4)]
