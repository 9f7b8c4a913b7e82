# graph: gt matmul to matmul add relu
import torch
import torch.nn as nn


class Model(nn.Module):
    def forward(self, x, y, counts):
        return torch.relu((x > 0).to(y.dtype) @ y + counts.to(torch.float32) @ x)


def get_inputs():
    return [torch.randn(4, 6), torch.randn(6, 6, dtype=torch.bfloat16), torch.randint(0, 9, (4, 4), dtype=torch.int32)]
