"""The work that is timed: a task's function in one PyTorch variant on one set of buffers, or a copy."""

import importlib.util
import inspect
import os

import torch


def load_forward(directory):
    spec = importlib.util.spec_from_file_location("reference", os.path.join(directory, "reference.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.forward_fn


def draw(tensor, generator):
    """Draws values with the spread of the task's values, because the power, and so the speed, of multiplications depends on values a little."""
    shape, dtype = tensor["shape"], getattr(torch, tensor["dtype"])
    if not dtype.is_floating_point:
        return torch.randint(int(tensor["low"]), int(tensor["high"]) + 1, shape, generator=generator, device="cuda", dtype=dtype)
    values = torch.randn(shape, generator=generator, device="cuda", dtype=torch.float32)
    return values.mul_(tensor["std"]).add_(tensor["mean"]).clamp_(tensor["low"], tensor["high"]).to(dtype)


class Work:
    """One variant on one set of buffers: call it to enqueue a run."""

    def __init__(self, function, case, backward, mode, graph, stream, generator):
        inputs = {t["name"]: draw(t, generator) for t in case["tensors"] if t["role"] != "out"}
        names = list(inspect.signature(function).parameters)
        self.inputs, self.fresh = inputs, {name: value.clone() for name, value in inputs.items()}
        self.stream, self.graph = stream, None
        if mode:
            function = torch.compile(function, mode=mode, dynamic=False, fullgraph=True)
        settings = case["settings"]

        def forward():
            return function(*[inputs[name] if name in inputs else settings[name] for name in names])

        if backward:
            wanted = [inputs[t["name"][len("grad_") :]] for t in case["tensors"] if t["role"] == "out"]
            for leaf in wanted:
                leaf.requires_grad_()
            outputs = forward()
            outputs = outputs if isinstance(outputs, tuple) else (outputs,)
            given = [inputs[t["name"]] for t in case["tensors"] if t["role"] == "in" and t["name"].startswith("grad_")]
            self.eager = lambda: torch.autograd.grad(outputs, wanted, given, retain_graph=True)
        else:
            self.eager = torch.no_grad()(forward)
        for _ in range(3):
            self.result = self.eager()
        torch.cuda.synchronize()
        if graph:
            self.graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self.graph, stream=stream):
                self.result = self.eager()

    def refresh(self):
        for name, value in self.inputs.items():
            value.data.copy_(self.fresh[name])

    def __call__(self):
        if self.graph:
            self.graph.replay()
        else:
            self.result = self.eager()


def flat(result):
    return [part.detach() for part in (result if isinstance(result, (tuple, list)) else (result,))]


def far_from(result, reference):
    """Largest difference over the largest value: variants of one computation agree to about 1e-4, or to a few units of a narrow
    type that they store."""
    worst = 0.0
    for got, want in zip(flat(result), flat(reference)):
        got, want = got.float(), want.float()  # an 8-bit type has no arithmetic
        scale = want.abs().max().item() or 1.0
        worst = max(worst, (got - want).abs().max().item() / scale)
    return worst


class Copy:
    """A copy that moves as many bytes as the case must move.  A kernel limited by memory could be as fast."""

    def __init__(self, moved_bytes):
        count = max(int(moved_bytes / 8), 1)
        self.source, self.target = torch.randn(count, device="cuda"), torch.empty(count, device="cuda")

    def refresh(self):
        pass

    def __call__(self):
        self.target.copy_(self.source)
