"""One AdamW step of a bfloat16 gradient on float32 master weights and moments, and the new bfloat16 weights.

forward_fn returns the new values in the order master, exp_avg, exp_avg_sq, param; a kernel writes the first three in place.
"""

import torch
import torch.nn as nn


def forward_fn(master, grad, exp_avg, exp_avg_sq, lr, beta1, beta2, eps, weight_decay, bias_correction1, bias_correction2):
    wide = grad.float()
    exp_avg = exp_avg * beta1 + wide * (1 - beta1)
    exp_avg_sq = exp_avg_sq * beta2 + wide * wide * (1 - beta2)
    denominator = torch.sqrt(exp_avg_sq / bias_correction2) + eps
    master = master * (1 - lr * weight_decay) - exp_avg / bias_correction1 / denominator * lr
    return master, exp_avg, exp_avg_sq, master.to(torch.bfloat16)


class Model(nn.Module):
    def __init__(self, lr=1e-3, beta1=0.9, beta2=0.999, eps=1e-8, weight_decay=0.01, step=10):
        super().__init__()
        self.settings = (lr, beta1, beta2, eps, weight_decay, 1 - beta1**step, 1 - beta2**step)

    def forward(self, master, grad, exp_avg, exp_avg_sq, fn=forward_fn):
        return fn(master, grad, exp_avg, exp_avg_sq, *self.settings)


def get_inputs(elements=58720256):
    return [torch.randn(elements), torch.randn(elements).to(torch.bfloat16), torch.randn(elements), torch.rand(elements)]


def get_init_inputs():
    return []
