"""Truth values, which are 0 and 1 in the graph: not, and, or, unequal, any, all.  A part of Lowering."""

import torch

from traced_graph import Node
from refusal import Refused
from signatures import bind


class TruthCalls:
    """Uses operand(), step(), part() and binary() of Lowering."""

    def truths(self, node, *values):
        for value in values:
            if isinstance(value, Node) and value.meta["value"].dtype != torch.bool:
                raise Refused("an operation on the bits of whole numbers is not covered; on truth values it is")

    def do_invert(self, node, args, kwargs):
        self.truths(node, args[0])
        return self.step(node, "rsub", [self.operand(args[0])], {"other": 1.0})

    do_logical_not = do_bitwise_not = do___invert__ = do_invert

    def do_and(self, node, args, kwargs):
        self.truths(node, *args[:2])
        return self.step(node, "minimum", [self.operand(value) for value in args[:2]], {})

    do_and_ = do_bitwise_and = do_logical_and = do___and__ = do_and

    def do_or(self, node, args, kwargs):
        self.truths(node, *args[:2])
        return self.step(node, "maximum", [self.operand(value) for value in args[:2]], {})

    do_or_ = do_bitwise_or = do_logical_or = do___or__ = do_or

    def do_xor(self, node, args, kwargs):
        self.truths(node, *args[:2])
        return self.do_ne(node, args, kwargs)

    do_xor_ = do_bitwise_xor = do_logical_xor = do___xor__ = do_xor

    def one_of(self, node, op, args, kwargs):
        """The largest or the smallest truth along dims, or of all."""
        (source,), given = bind(op, "@input dim=None keepdim=False", args, kwargs)
        self.truths(node, source)
        dims = given.get("dim")
        dims = tuple(range(source.meta["value"].dim())) if dims is None else (dims,) if isinstance(dims, int) else tuple(dims)
        return self.step(node, op, [self.operand(source)], {"dim": dims, "keepdim": bool(given.get("keepdim"))})

    def do_any(self, node, args, kwargs):
        return self.one_of(node, "amax", args, kwargs)

    def do_all(self, node, args, kwargs):
        return self.one_of(node, "amin", args, kwargs)

    def do_ne(self, node, args, kwargs):
        value = node.meta["value"]
        operands, attributes = [self.operand(args[0])], {}
        if isinstance(args[1], (int, float)):
            attributes["other"] = float(args[1])
        else:
            operands.append(self.operand(args[1]))
        return self.step(node, "rsub", [self.part(node, "eq", operands, attributes, "equal", value)], {"other": 1.0})

    do___ne__ = do_ne
