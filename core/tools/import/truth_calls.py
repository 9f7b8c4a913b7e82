"""Truth values, which are 0 and 1 in the graph: not, and, or, unequal.  A part of Lowering."""

import torch

from traced_graph import Node
from refusal import Refused


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
        return self.step(node, "mul", [self.operand(value) for value in args[:2]], {})

    do_and_ = do_bitwise_and = do_logical_and = do___and__ = do_and

    def do_or(self, node, args, kwargs):
        self.truths(node, *args[:2])
        return self.step(node, "maximum", [self.operand(value) for value in args[:2]], {})

    do_or_ = do_bitwise_or = do_logical_or = do___or__ = do_or

    def do_ne(self, node, args, kwargs):
        value = node.meta["value"]
        operands, attributes = [self.operand(args[0])], {}
        if isinstance(args[1], (int, float)):
            attributes["other"] = float(args[1])
        else:
            operands.append(self.operand(args[1]))
        return self.step(node, "rsub", [self.part(node, "eq", operands, attributes, "equal", value)], {"other": 1.0})

    do___ne__ = do_ne
