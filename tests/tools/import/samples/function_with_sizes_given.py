# import: --input x=24x33 --input gate=24x33 --entry gated
# graph: sigmoid mul
# task:   x: {role: in, dtype: float32, shape: "x_rows, x_columns", init: {kind: normal}}
# task:   gate: {role: in, dtype: float32, shape: "x_rows, x_columns", init: {kind: normal}}
"""Two functions: --entry chooses one, --input gives its example inputs."""
import torch


def plain(x):
    return x * 2


def gated(x, gate):
    return x * torch.sigmoid(gate)
