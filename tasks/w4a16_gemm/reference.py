"""Linear layer of bfloat16 activations and int4 weights, two a byte, with a bfloat16 scale a group of inputs."""

import torch
import torch.nn as nn
import torch.nn.functional as F


def forward_fn(x, packed, scale, G):
    weight = torch.stack((packed & 15, packed >> 4), -1).reshape(packed.shape[0], -1, G)
    weight = (weight.to(scale.dtype) - 8) * scale[:, :, None]
    return F.linear(x, weight.flatten(1))


class Model(nn.Module):
    def __init__(self, inputs=4096, outputs=14336, group=128):
        super().__init__()
        self.group = group
        self.register_buffer("packed", torch.randint(256, (outputs, inputs // 2), dtype=torch.uint8))
        self.register_buffer("scale", (torch.rand(outputs, inputs // group) * 0.01).to(torch.bfloat16))

    def forward(self, x, fn=forward_fn):
        return fn(x, self.packed, self.scale, self.group)


def get_inputs(tokens=16, inputs=4096):
    return [torch.randn(tokens, inputs, dtype=torch.bfloat16)]


def get_init_inputs():
    return []
