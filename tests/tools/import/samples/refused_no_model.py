# refused: it has no Model; a file in the robust-kbench or KernelBench form defines Model and get_inputs
import torch


def get_inputs():
    return [torch.randn(4, 4)]
