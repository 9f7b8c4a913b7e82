"""Tries the exported package rkb_layernorm on a GPU (run.sh)."""
import torch.nn.functional as F
import torch

from common import called, check, end, gradients, near, odd, on_a_stream
from rkb_layernorm import layernorm, verified

torch.manual_seed(1)
LIB = "rkb_layernorm"
shape = (4, 8, 33, 16)
x, weight, bias = torch.randn(shape, device="cuda"), torch.randn(shape[1:], device="cuda"), torch.randn(shape[1:], device="cuda")
inputs = [x, weight, bias, 1e-5]
reference = lambda x, w, b, eps: F.layer_norm(x, w.shape, w, b, eps)
doubles = [x.double(), weight.double(), bias.double(), 1e-5]
want = reference(*doubles)
check("forward", lambda: near(layernorm(*inputs), want, 1e-5) and called(LIB, lambda: layernorm(*inputs)) == ["forward_0"])
grad = torch.randn_like(x)
grads = gradients(reference, doubles, grad.double(), [0, 1, 2])
same = lambda got: all(near(a, b, 2e-5) for a, b in zip(got, grads))
check("backward, all three gradients against double", lambda: same(gradients(layernorm, inputs, grad, [0, 1, 2])))
check("backward, the weight's gradient alone", lambda: near(gradients(layernorm, inputs, grad, [1])[0], grads[1], 2e-5))
check("backward, a gradient that is not contiguous", lambda: same(gradients(layernorm, inputs, grad.transpose(2, 3).contiguous().transpose(2, 3), [0, 1, 2])))
check("odd alignment of all inputs", lambda: near(layernorm(odd(x), odd(weight), odd(bias), 1e-5), want, 1e-5))
last = x.contiguous(memory_format=torch.channels_last)
check("non-contiguous input (channels last)", lambda: near(layernorm(last, weight, bias, 1e-5), want, 1e-5))
check("an attribute at its bound", lambda: verified(x, weight, bias, 1e-2) and near(layernorm(x, weight, bias, 1e-2), reference(*doubles[:3], 1e-2), 1e-5))
check("fallback: an attribute outside", lambda: called(LIB, lambda: layernorm(x, weight, bias, 0.5)) == [] and
      near(layernorm(x, weight, bias, 0.5), reference(*doubles[:3], 0.5), 1e-5))
check("fallback: double", lambda: near(layernorm(*doubles), want, 1e-12))
check("another stream", lambda: on_a_stream(lambda t: layernorm(t, weight, bias, 1e-5), x, lambda y: near(y, want, 1e-5)))
check("opcheck", lambda: all(v == "SUCCESS" for v in torch.library.opcheck(
      torch.ops.rkb_layernorm.forward_0.default, tuple(t.clone().requires_grad_(True) if torch.is_tensor(t) else t for t in inputs)).values()))
compiled = torch.compile(layernorm, fullgraph=True)
check("torch.compile(fullgraph=True)", lambda: near(compiled(*inputs), want, 1e-5))
check("torch.compile(fullgraph=True), backward", lambda: same(gradients(compiled, inputs, grad, [0, 1, 2])))


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight, self.bias = torch.nn.Parameter(weight.clone()), torch.nn.Parameter(bias.clone())

    def forward(self, x):
        return F.relu(layernorm(x * 2, self.weight, self.bias, 1e-5)).sum()


def trained(compile):
    block = Block()
    (torch.compile(block, fullgraph=True) if compile else block)(x).backward()
    return block.weight.grad


check("inside a compiled module, as without the compiler", lambda: near(trained(True), trained(False), 1e-5))
end("layernorm")
