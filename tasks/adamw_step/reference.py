"""One AdamW step on a parameter and its two moments, as torch.optim.AdamW takes it.

forward_fn returns the new values in the order param, exp_avg, exp_avg_sq; a kernel writes them in place.
"""

import torch
import torch.nn as nn


def forward_fn(param, grad, exp_avg, exp_avg_sq, lr, beta1, beta2, eps, weight_decay, bias_correction1, bias_correction2):
    exp_avg = exp_avg * beta1 + grad * (1 - beta1)
    exp_avg_sq = exp_avg_sq * beta2 + grad * grad * (1 - beta2)
    denominator = torch.sqrt(exp_avg_sq / bias_correction2) + eps
    param = param * (1 - lr * weight_decay) - exp_avg / bias_correction1 / denominator * lr
    return param, exp_avg, exp_avg_sq


class Model(nn.Module):
    def __init__(self, lr=1e-3, beta1=0.9, beta2=0.999, eps=1e-8, weight_decay=0.01, step=10):
        super().__init__()
        self.settings = (lr, beta1, beta2, eps, weight_decay, 1 - beta1**step, 1 - beta2**step)

    def forward(self, param, grad, exp_avg, exp_avg_sq, fn=forward_fn):
        return fn(param, grad, exp_avg, exp_avg_sq, *self.settings)


def get_inputs(elements=16777216):
    param, grad, exp_avg = (torch.randn(elements) for _ in range(3))
    return [param, grad, exp_avg, torch.rand(elements)]


def get_init_inputs():
    return []
