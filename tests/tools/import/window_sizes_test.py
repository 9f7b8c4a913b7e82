"""Sizes after windows one after another, from their functions alone, held against PyTorch's.

    /usr/bin/python3 window_sizes_test.py
"""

import itertools
import os
import random
import sys

import torch
import torch.nn.functional as F

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "core", "tools", "import"))

import sizes  # noqa: E402
from window_sizes import slid_over, value_at, windows_of  # noqa: E402


def chains_give_what_pytorch_gives():
    random.seed(1)
    for _ in range(40):
        chain = [(random.randint(1, 4), random.randint(1, 3), random.randint(0, 2), random.randint(1, 2)) for _ in range(random.randint(1, 4))]
        chain = [(kernel, stride, min(padding, kernel // 2), dilation) for kernel, stride, padding, dilation in chain]
        function = ("d", 1, 0, 0)
        for window in chain:
            function = slid_over(function, *window)
        assert 0 <= function[2] < function[1], function
        for d in range(60, 140):
            x = torch.empty(1, 1, d, device="meta")
            for kernel, stride, padding, dilation in chain:
                x = F.conv1d(x, torch.empty(1, 1, kernel, device="meta"), None, stride, padding, dilation)
            assert value_at(function, d) == x.shape[-1], (chain, d)


def node(op, operands, shape, **attributes):
    return {"op": op, "in": operands, "attr": attributes, "shape": shape}


def windows_are_those_of_the_node():
    vectors = {"x": [(2, 2), (3, 3), (9, 12), (7, 7)], "w": [(4, 4), (3, 3), (3, 3), (2, 2)], "v": [(4, 4), (3, 3), (3, 4), (2, 2)]}
    alike = [node("conv2d", ["x", "w"], (2, 4, 4, 6), stride=(2, 1), padding=1, dilation=1, groups=1)] * 2
    assert windows_of(alike, vectors) == [(3, 2, 1, 1), (2, 1, 1, 1)]
    assert windows_of([dict(alike[0], **{"in": ["x", "v"]})] * 2, vectors) == []  # the kernel moves
    assert windows_of([alike[0], dict(alike[0], attr=dict(alike[0]["attr"], padding=2))], vectors) == []
    assert windows_of([node("max_pool2d", ["x"], (), kernel_size=2, padding=0)] * 2, vectors) == [(2, 2, 0, 1)] * 2
    for other in (node("max_pool2d", ["x"], (), kernel_size=2, ceil_mode=True), node("conv_transpose2d", ["x", "w"], (), stride=1), node("relu", ["x"], ())):
        assert windows_of([other, other], vectors) == []


def a_window_needs_no_more_traces():
    assignments = [{"d": d} for d in (64, 31, 33)]
    function = slid_over(slid_over(("d", 1, 0, 0), 3, 2, 1, 1), 2, 2, 0, 1)
    values = tuple(value_at(function, a["d"]) for a in assignments)
    between = tuple((a["d"] - 1) // 2 + 1 for a in assignments)
    known, unknown = sizes.Sizes(assignments), sizes.Sizes(assignments)
    shapes = [[(1, 1, 1), tuple(a["d"] for a in assignments)], [(1, 1, 1), between], [(1, 1, 1), values]]
    assert known.follow_windows([(3, 2, 1, 1)], *shapes[:2]) == {between}
    assert known.follow_windows([(2, 2, 0, 1)], *shapes[1:]) == {values}
    text = known.expression(values, "a size")
    assert all(eval(text.replace("/", "//"), {"d": d}) == value_at(function, d) for d in range(1, 300)), text
    assert not known.doubts
    unknown.expression(values, "a size")
    assert unknown.doubts
    known.not_a_window(values)  # as of a slice that gives as many
    assert known.doubts


def windows_that_differ_elsewhere_are_told_apart():
    for first, second in itertools.permutations([(2, 2, 0, 1), (1, 2, 0, 1)]):  # d / 2 and (d + 1) / 2
        seen = sizes.Sizes([{"d": d} for d in (64, 32, 40)])
        shape, half = [(64, 32, 40)], [(32, 16, 20)]
        seen.follow_windows([first], shape, half)
        assert not seen.doubts
        seen.follow_windows([second], shape, half)
        assert seen.doubts and all(value % 2 for _, value in seen.doubts)


def main():
    for test in (chains_give_what_pytorch_gives, windows_are_those_of_the_node, a_window_needs_no_more_traces, windows_that_differ_elsewhere_are_told_apart):
        test()
        print("ok     %s" % test.__name__.replace("_", " "))
    return 0


if __name__ == "__main__":
    sys.exit(main())
