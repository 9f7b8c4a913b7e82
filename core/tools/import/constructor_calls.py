"""Tensors that forward makes itself: constants, ramps, the patterns of buffers, and random numbers, which become inputs.
A part of Lowering."""

import math

import torch

from layout_calls import number
from refusal import Refused
from signatures import bind

OPTIONS = " out~ dtype~ layout~ device~ pin_memory~ requires_grad~ memory_format~"
DRAWN = {"rand": "{kind: uniform, low: 0, high: 1}", "rand_like": "{kind: uniform, low: 0, high: 1}", "randn": "{kind: normal}",
         "randn_like": "{kind: normal}"}  # fmt: skip


class ConstructorCalls:
    """Uses operand(), step(), part() and emit() of Lowering."""

    def filled(self, node, value, like=None, suffix=""):
        like = node.meta["value"] if like is None else like
        return self.step(node, "full", [], {"shape": tuple(like.shape), "value": float(value)}, like, suffix)

    def do_zeros(self, node, args, kwargs):
        return self.filled(node, 0.0)

    def do_ones(self, node, args, kwargs):
        return self.filled(node, 1.0)

    do_zeros_like = do_new_zeros = do_zeros
    do_ones_like = do_new_ones = do_ones

    def do_full(self, node, args, kwargs):
        value = kwargs.get("fill_value", args[1] if len(args) > 1 else None)
        if not number(value) and not isinstance(value, bool):
            raise Refused("full with a value that is a tensor is not covered")
        return self.filled(node, value)

    do_full_like = do_new_full = do_full

    def do_empty(self, node, args, kwargs):
        raise Refused("a tensor without values (empty) is not covered; write torch.zeros")

    do_empty_like = do_new_empty = do_empty

    def do_tensor(self, node, args, kwargs):
        """A tensor of numbers written in the code."""
        data = torch.tensor(args[0])
        if data.numel() == 0 or not bool((data == data.reshape(-1)[0]).all()):
            if data.dim() == 1 and data.numel() <= 16:
                value = node.meta["value"]
                parts = [self.filled(node, number, value.new_empty((1,)), "_%d" % i) for i, number in enumerate(data.tolist())]
                return self.step(node, "cat", parts, {"dim": 0})
            raise Refused("a tensor of several numbers written in forward is not covered; make it a buffer or an input")
        return self.filled(node, data.reshape(-1)[0].item())

    def ramp(self, node, start, step, count, like=None, suffix=""):
        like = node.meta["value"] if like is None else like
        return self.step(node, "arange", [], {"start": float(start), "step": float(step), "count": count}, like, suffix)

    def do_arange(self, node, args, kwargs):
        ends = [value for value in args if number(value)]
        start = kwargs.get("start", ends[0] if len(ends) > 1 else 0)
        step = kwargs.get("step", ends[2] if len(ends) > 2 else 1)
        return self.ramp(node, start, step, node.meta["value"].shape[0])

    def do_linspace(self, node, args, kwargs):
        (start, end), count = (kwargs.get("start", args[0] if args else 0), kwargs.get("end", args[1] if len(args) > 1 else 1)), node.meta["value"].shape[0]
        if count == 1:
            return self.filled(node, start)
        return self.ramp(node, start, (end - start) / (count - 1), count)

    def do_eye(self, node, args, kwargs):
        value = node.meta["value"]
        whole = self.filled(node, 1.0, None, "_ones")
        lower = self.part(node, "tril", [whole], {"diagonal": 0}, "lower", value)
        return self.step(node, "triu", [lower], {"diagonal": 0})

    def drawn(self, node, name):
        """Random numbers cannot be compared, so they become an input of the task."""
        value = node.meta["value"]
        key = self.draw(node, node.name, value, "float32", DRAWN[name])
        self.notes.append("forward draws random numbers (line %d): the task takes them as the input %s" % (node.meta["line"], key))
        return key

    def draw(self, node, name, value, dtype, init):
        while name in self.taken:
            name += "_drawn"
        self.taken.add(name)
        self.extra[name] = {"shape": tuple(value.shape), "dtype": dtype, "init": init}
        return name

    def do_randn(self, node, args, kwargs):
        return self.drawn(node, "randn")

    do_randn_like = do_randn

    def do_rand(self, node, args, kwargs):
        return self.drawn(node, "rand")

    do_rand_like = do_rand

    def pattern(self, node, found):
        """A buffer whose numbers the graph can compute (number_patterns.py)."""
        value, kind = node.meta["value"], found[0]
        if kind == "full":
            return self.filled(node, found[1])
        if kind == "arange":
            flat = value.reshape(-1)
            name = self.ramp(node, found[1], found[2], flat.shape[0], flat, "_flat")
            return self.step(node, "reshape", [name], {"shape": tuple(value.shape)})
        whole = self.filled(node, found[1], None, "_whole")
        return self.step(node, kind, [whole], {"diagonal": found[2]})
