"""Tries the exported package rkb_softmax on a GPU (run.sh)."""
import torch

from common import called, check, end, gradients, near, odd, on_a_stream
from rkb_softmax import softmax, verified

torch.manual_seed(1)
LIB = "rkb_softmax"
right = lambda x: torch.softmax(x.double(), -1)
x = torch.randn(64, 4096, device="cuda")
check("a single output is a tensor", lambda: torch.is_tensor(softmax(x)))
for shape in ((1, 1), (33, 1031), (64, 4096), (16, 16384)):
    given = torch.randn(shape, device="cuda") * 2
    check(f"forward {shape}", lambda: near(softmax(given), right(given), 1e-5))
check("dispatch: forward_0 for 4096 columns", lambda: called(LIB, lambda: softmax(x)) == ["forward_0"])
check("dispatch: forward_1 for 16384 columns", lambda: called(LIB, lambda: softmax(torch.randn(4, 16384, device="cuda"))) == ["forward_1"])
grad = torch.randn_like(x)
want = gradients(lambda t: torch.softmax(t, -1), [x.double()], grad.double(), [0])[0]
check("backward, against double", lambda: near(gradients(softmax, [x], grad, [0])[0], want, 1e-5))
check("backward of a sum, whose gradient is expanded", lambda: near(gradients(lambda t: softmax(t)[:, :7].sum(), [x], None, [0])[0],
      gradients(lambda t: torch.softmax(t, -1)[:, :7].sum(), [x.double()], None, [0])[0], 1e-5))
check("odd alignment", lambda: odd(x).data_ptr() % 256 != 0 and near(softmax(odd(x)), right(x), 1e-5))
check("non-contiguous input", lambda: near(softmax(x.t()), right(x.t()), 1e-5) and called(LIB, lambda: softmax(x.t())) == ["forward_0"])
check("sliced input", lambda: near(softmax(x[:, ::3]), right(x[:, ::3]), 1e-5))
check("fallback: float64", lambda: called(LIB, lambda: softmax(x.double())) == [] and near(softmax(x.double()), right(x), 1e-12))
check("fallback: half precision", lambda: called(LIB, lambda: softmax(x.half())) == [] and softmax(x.half()).dtype == torch.float16)
check("fallback: three dimensions", lambda: near(softmax(x.view(8, 8, 4096)), right(x.view(8, 8, 4096)), 1e-5))
check("fallback: the processor", lambda: near(softmax(x.cpu()), right(x.cpu()), 1e-5))
check("fallback: more columns than were verified", lambda: not verified(torch.empty(1, 65537, device="cuda")) and
      near(softmax(torch.ones(1, 65537, device="cuda")), right(torch.ones(1, 65537, device="cuda")), 1e-5))
check("another stream", lambda: on_a_stream(softmax, x, lambda y: near(y, right(x), 1e-5)))
check("opcheck: schema, fake, autograd, compiler", lambda: all(v == "SUCCESS" for v in torch.library.opcheck(
      torch.ops.rkb_softmax.forward_0.default, (x[:8].clone().requires_grad_(True),)).values()))
compiled = torch.compile(softmax, fullgraph=True)
check("torch.compile(fullgraph=True)", lambda: near(compiled(x), right(x), 1e-5))
check("torch.compile(fullgraph=True), backward", lambda: near(gradients(compiled, [x], grad, [0])[0], want, 1e-5))
check("torch.compile(fullgraph=True), another shape", lambda: near(compiled(x[:5, :77]), right(x[:5, :77]), 1e-5))
check("torch.compile(fullgraph=True), in the fallback", lambda: near(compiled(x.double()), right(x), 1e-12))
end("softmax")
