# graph: minimum maximum masked_fill masked_fill sum where gt narrow reshape narrow reshape minimum reshape narrow cat rsub where add
import torch
import torch.nn as nn


class Model(nn.Module):
    """`and` of two truths gives a third; `&=` changes the first, also where a view of it is read."""

    def forward(self, x, first, second):
        both = first & second
        either = first | second
        apart = x.masked_fill(first, 2.0).masked_fill(both, 3.0).masked_fill(either, x.sum())
        kept = x > 0
        row = kept[0]
        row &= second[0]
        return apart + torch.where(kept, x, 1.0 - x)


def get_inputs():
    return [torch.randn(3, 7), torch.rand(3, 7) > 0.3, torch.rand(3, 7) > 0.6]
