#!/usr/bin/env python3
"""Builds an exported softmax as a PyTorch extension and calls it.  usage: extension.py FILE.cu

It has to agree with torch.softmax on rows that take the wide loads and on rows that do not, on a stream of its own and on every
device there is, and to refuse, with a sentence and before anything is launched, what it was not made for."""

import sys
import tempfile

import torch
from torch.utils.cpp_extension import load

failed = []


def expect(what, holds):
    print(f"{'ok  ' if holds else 'FAIL'}  {what}")
    if not holds:
        failed.append(what)


def softmax(module, x):
    result = module.forward(x)
    return result[0] if isinstance(result, (list, tuple)) else result


def agrees(module, x):
    y = softmax(module, x)
    same_kind = y.shape == x.shape and y.dtype == x.dtype and y.device == x.device
    return same_kind and (y.double() - torch.softmax(x.double(), -1)).abs().max().item() < 1e-6


def refuses(module, x, word):
    try:
        module.forward(x)
    except RuntimeError as error:
        return word in str(error)
    return False


def on_a_stream(module, x):
    """The input becomes what it is on a side stream, late: a launch on another stream would read it too early."""
    stream = torch.cuda.Stream()
    late = torch.zeros_like(x)
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(200_000_000)
        late.copy_(x)
        y = softmax(module, late)
    stream.synchronize()
    return (y.double() - torch.softmax(x.double(), -1)).abs().max().item() < 1e-6


with tempfile.TemporaryDirectory() as folder:
    module = load(name="rkb_exported_softmax", sources=[sys.argv[1]], build_directory=folder, verbose=False)
    print(f"torch {torch.__version__}, CUDA {torch.version.cuda}")
    for device in range(torch.cuda.device_count()):
        expect(f"33 x 1031 on device {device}", agrees(module, torch.randn(33, 1031, device=f"cuda:{device}")))
    x = torch.randn(64, 4096, device="cuda")
    expect("64 x 4096, wide loads", agrees(module, x))
    expect("on a stream of its own", on_a_stream(module, x))
    expect("refuses a tensor of the processor", refuses(module, x.cpu(), "CUDA tensor"))
    expect("refuses half precision", refuses(module, x.half(), "float"))
    expect("refuses three dimensions", refuses(module, x.view(8, 8, 4096), "2 dimensions"))
    expect("refuses a transposed view", refuses(module, x.t(), "contiguous"))
    expect("refuses a view that begins off its alignment", refuses(module, x.flatten()[1:4097].view(1, 4096), "multiple"))
    torch.cuda.synchronize()

print(f"exported softmax: {'every check holds' if not failed else str(len(failed)) + ' checks fail'}")
sys.exit(1 if failed else 0)
