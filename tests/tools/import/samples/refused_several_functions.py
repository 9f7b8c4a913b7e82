# refused: it defines first (line 6), second (line 10); name the one that is meant: --entry second
"""Two functions, neither of which calls the other."""
import torch


def first(x=torch.randn(4, 4)):
    return x + 1


def second(x=torch.randn(4, 4)):
    return x + 2
