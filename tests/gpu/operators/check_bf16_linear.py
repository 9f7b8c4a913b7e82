"""Tries the exported package rkb_bf16_linear on a GPU (run.sh)."""
import time

import torch.nn.functional as F
import torch

from common import called, check, end, gradients, near, odd, on_a_stream, raises
from rkb_bf16_linear import bf16_linear

torch.manual_seed(1)
LIB = "rkb_bf16_linear"
type_ = torch.bfloat16
x, weight, bias = (torch.randn(s, device="cuda", dtype=type_) for s in ((67, 96), (128, 96), (128,)))
weight = weight / 10
inputs, doubles = [x, weight, bias], [t.double() for t in (x, weight, bias)]
want = F.linear(*doubles)
near16 = lambda a, b: near(a, b, 1e-2)
check("forward", lambda: near16(bf16_linear(*inputs), want) and called(LIB, lambda: bf16_linear(*inputs)) == ["forward_0"])
grad = torch.randn(67, 128, device="cuda", dtype=type_)
grads = gradients(F.linear, doubles, grad.double(), [0, 1, 2])
same = lambda got: all(near16(a, b) and a.dtype == type_ for a, b in zip(got, grads))
check("backward, all three gradients", lambda: same(gradients(bf16_linear, inputs, grad, [0, 1, 2])))
check("odd alignment", lambda: near16(bf16_linear(odd(x), odd(weight), odd(bias)), want))
check("a transposed weight", lambda: near16(bf16_linear(x, weight.t().contiguous().t(), bias), want))
check("fallback: float32", lambda: called(LIB, lambda: bf16_linear(*[t.float() for t in inputs])) == [])
check("fallback: inputs of two types raise PyTorch's own error", lambda: raises(lambda: bf16_linear(x.float(), weight, bias)))
check("another stream", lambda: on_a_stream(lambda t: bf16_linear(t, weight, bias), x, lambda y: near16(y, want)))
check("opcheck", lambda: all(v == "SUCCESS" for v in torch.library.opcheck(
      torch.ops.rkb_bf16_linear.forward_0.default, tuple(t.clone().requires_grad_(True) for t in inputs)).values()))
compiled = torch.compile(bf16_linear, fullgraph=True)
check("torch.compile(fullgraph=True)", lambda: near16(compiled(*inputs), want))
check("torch.compile(fullgraph=True), backward", lambda: same(gradients(compiled, inputs, grad, [0, 1, 2])))


def overhead(run):
    for _ in range(200):
        run()
    torch.cuda.synchronize()
    began = time.perf_counter()
    for _ in range(2000):
        run()
    took = (time.perf_counter() - began) / 2000 * 1e6
    torch.cuda.synchronize()
    return took


small = [t.contiguous() for t in (x[:1], weight, bias)]
with torch.no_grad():
    print(f"      a call on the host: {overhead(lambda: bf16_linear(*small)):.1f} us, torch.nn.functional.linear {overhead(lambda: F.linear(*small)):.1f} us, "
          f"the operator alone {overhead(lambda: torch.ops.rkb_bf16_linear.forward_0(*small)):.1f} us")
end("bf16_linear")
