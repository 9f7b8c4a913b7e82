# sequence=20 batch=4 features=32 input_size=32 hidden_size=64
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, input_size, hidden_size):
        super().__init__()
        self.lstm = nn.LSTM(input_size, hidden_size)

    def forward(self, x):
        return self.lstm(x)[0]


def get_inputs():
    return [torch.randn(20, 4, 32)]


def get_init_inputs():
    return [32, 64]
