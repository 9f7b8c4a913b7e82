"""Keeps what PyTorch said of a call's result, for the same call in other traces: an import makes fifty traces, which make mostly the same calls.

The answers are a dict that the traces of one import share.  A call is known by what it calls and by the shapes, strides and types of its
arguments."""

import torch

NUMBERS = frozenset((int, float, bool, str, type(None), torch.dtype, torch.device, torch.memory_format, torch.layout, type(...)))
MOST_ANSWERS = 200_000


class Unkeyed(Exception):
    """The call's arguments do not decide the shape of its result."""


def key_of(value):
    """A key of all that the shape of a call's result may depend on.  Two calls with equal keys have results of the same shape."""
    kind = type(value)
    if kind in NUMBERS:
        return kind, value
    if hasattr(kind, "known_by"):  # a value of the graph: the tensor that it stands for
        if value.known_by is None:
            value.known_by = key_of(value.value)
        return value.known_by
    if kind is torch.Tensor:
        if value.device.type != "meta":
            raise Unkeyed()
        return value.shape, value.stride(), value.dtype
    if isinstance(value, (tuple, list)):
        return kind, tuple([key_of(part) for part in value])
    if kind is slice:
        return kind, key_of(value.start), key_of(value.stop), key_of(value.step)
    raise Unkeyed()


def is_fresh(value, args):
    """Whether a call's result shares nothing with its arguments, so that it may stand for the result of the same call elsewhere."""
    if type(value) is torch.Tensor:
        return not value._is_view() and not any(value is other for other in args)
    return isinstance(value, tuple) and len(value) > 0 and all(part is None or is_fresh(part, args) for part in value)


def find(answers, target, args, kwargs):
    """Returns (key, result) of a call.  The key is None if the call has none, the result None if it was not kept."""
    try:
        key = (target, key_of(args), tuple([(name, key_of(value)) for name, value in kwargs.items()]))
        return key, answers.get(key)
    except (Unkeyed, TypeError):
        return None, None


def keep(answers, key, args, result):
    if len(answers) < MOST_ANSWERS and is_fresh(result, args):
        answers[key] = result
