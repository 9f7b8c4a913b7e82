"""Calls that PyTorch would refuse, seen from their shapes alone.

PyTorch notes the C++ stack of each error, which takes some milliseconds.  Most sizes that an import tries are refused in one of a few kinds of
calls, so this file checks these first.  PyTorch still checks the calls that pass here."""

import math


def each(value, count):
    return value if isinstance(value, (tuple, list)) else (value,) * count


def linear(x, weight, bias=None):
    if x.dim() and weight.dim() == 2 and x.shape[-1] != weight.shape[1]:
        return "mat1 and mat2 shapes cannot be multiplied (%dx%d and %dx%d)" % (x.numel() // x.shape[-1] if x.shape[-1] else 0, x.shape[-1], *weight.shape[::-1])
    return None


def convolution(spatial):
    def check(x, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
        if x.dim() != spatial + 2 or weight.dim() != spatial + 2 or isinstance(padding, str):
            return None
        if x.shape[1] != weight.shape[1] * groups:
            return "Given groups=%d, weight of size %s, expected input%s to have %d channels, but got %d channels instead" % (
                groups, list(weight.shape), list(x.shape), weight.shape[1] * groups, x.shape[1])
        for size, kernel, around, apart in zip(x.shape[2:], weight.shape[2:], each(padding, spatial), each(dilation, spatial)):
            if size + 2 * around < apart * (kernel - 1) + 1:
                return "Calculated padded input size per channel: %d. Kernel size: %d. Kernel size can't be greater than actual input size" % (
                    size + 2 * around, apart * (kernel - 1) + 1)
        return None

    return check


def pool(spatial):
    def check(x, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
        if x.dim() not in (spatial + 1, spatial + 2) or ceil_mode is not False or isinstance(dilation, bool):
            return None
        for size, kernel, around, apart in zip(x.shape[-spatial:], each(kernel_size, spatial), each(padding, spatial), each(dilation, spatial)):
            if size + 2 * around < apart * (kernel - 1) + 1:
                return "Given input size %s, the calculated output size is too small" % list(x.shape)
        return None

    return check


def view(x, *shape):
    wanted = shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
    if not all(type(size) is int for size in wanted):
        return None
    known = math.prod(size for size in wanted if size >= 0)
    fits = x.numel() == known if -1 not in wanted else known and x.numel() % known == 0
    return None if fits else "shape '%s' is invalid for input of size %d" % (list(wanted), x.numel())


CHECKS = {"linear": linear, "view": view, "reshape": view, "conv1d": convolution(1), "conv2d": convolution(2), "conv3d": convolution(3),
          "max_pool1d": pool(1), "max_pool2d": pool(2), "max_pool3d": pool(3)}  # fmt: skip


def problem(name, args, kwargs):
    """Why PyTorch would refuse the call; None: it may accept it."""
    check = CHECKS.get(name)
    if check is None:
        return None
    try:
        return check(*args, **kwargs)
    except (TypeError, ValueError, AttributeError, ZeroDivisionError):
        return None  # the arguments have another form
