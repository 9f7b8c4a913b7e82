"""What the checks of exported packages share: one line a check."""
import sys
import traceback

import torch
from torch.utils._python_dispatch import TorchDispatchMode

failed = []


def check(what, holds):
    try:
        good = holds() if callable(holds) else holds
    except Exception as error:
        good = False
        what += f": {type(error).__name__}: {str(error)[:300]}"
        traceback.print_exc(limit=-3)
    good = bool(good)
    print(("ok    " if good else "FAIL  ") + what, flush=True)
    if not good:
        failed.append(what)


class Called(TorchDispatchMode):
    """The names of the operators of a package that were called."""

    def __init__(self, library):
        super().__init__()
        self.library, self.names = library, []

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        if function.namespace == self.library:
            self.names.append(function.name().split("::")[1])
        return function(*args, **(kwargs or {}))


def called(library, run):
    with Called(library) as mode:
        run()
    return mode.names


def near(got, want, relative):
    got, want = got.double(), want.double()
    scale = want.abs().max().item() or 1.0
    worst = (got - want).abs().max().item()
    if worst > relative * scale:
        print(f"      worst difference {worst:.3g}, scale {scale:.3g}")
    return got.shape == want.shape and worst <= relative * scale


def gradients(function, inputs, grad, wanted):
    leaves = [t.detach().clone().requires_grad_(i in wanted) if torch.is_tensor(t) else t for i, t in enumerate(inputs)]
    return torch.autograd.grad(function(*leaves), [leaves[i] for i in wanted], grad)


def on_a_stream(run, x, near_enough):
    """The input becomes what it is on a side stream, late: a launch on another stream would read it too early."""
    stream = torch.cuda.Stream()
    late = torch.zeros_like(x)
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(100_000_000)
        late.copy_(x)
        y = run(late)
    stream.synchronize()
    return near_enough(y)


def odd(x):
    """The same values, beginning one element past an aligned address."""
    buffer = torch.empty(x.numel() + 1, dtype=x.dtype, device=x.device)
    view = buffer[1:].view(x.shape)
    view.copy_(x)
    return view


def raises(run):
    try:
        run()
    except RuntimeError:
        return True
    return False


def end(name):
    print(f"{name}: {'every check holds' if not failed else str(len(failed)) + ' checks fail'}")
    sys.exit(1 if failed else 0)
