# refused: it defines no function and no torch.nn.Module; define Model, or a function of tensors
import torch


def get_inputs():
    return [torch.randn(4, 4)]
