"""Calls that are several graph operations: activations and losses by their definitions.  A part of Lowering."""

from refusal import Refused
from signatures import bind

# torch.nn.SELU's constants (Klambauer et al. 2017).
SELU_ALPHA = 1.6732632423543772848170429916717
SELU_SCALE = 1.0507009873554804934193349852946


class ComposedCalls:
    """Uses operand() and step() of Lowering; the last operation of each has the call's own name."""

    def part(self, node, op, operands, attributes, suffix, like=None):
        return self.step(node, op, operands, attributes, like, "_" + suffix)

    def do_selu(self, node, args, kwargs):
        curve = self.part(node, "elu", [self.operand(args[0])], {"alpha": SELU_ALPHA}, "curve")
        return self.step(node, "mul", [curve], {"other": SELU_SCALE})

    def do_softsign(self, node, args, kwargs):
        x = self.operand(args[0])
        size = self.part(node, "abs", [x], {}, "size")
        return self.step(node, "div", [x, self.part(node, "add", [size], {"other": 1.0}, "below")], {})

    def do_mish(self, node, args, kwargs):
        x = self.operand(args[0])
        inner = self.part(node, "tanh", [self.part(node, "softplus", [x], {}, "soft")], {}, "tanh")
        return self.step(node, "mul", [x, inner], {})

    def do_logsigmoid(self, node, args, kwargs):
        turned = self.part(node, "neg", [self.operand(args[0])], {}, "turned")
        return self.step(node, "neg", [self.part(node, "softplus", [turned], {}, "soft")], {})

    def hard_step(self, node, x):
        shifted = self.part(node, "add", [x], {"other": 3.0}, "shifted")
        return self.part(node, "relu6", [shifted], {}, "clipped")

    def do_hardsigmoid(self, node, args, kwargs):
        return self.step(node, "div", [self.hard_step(node, self.operand(args[0]))], {"other": 6.0})

    def do_hardswish(self, node, args, kwargs):
        x = self.operand(args[0])
        product = self.part(node, "mul", [x, self.hard_step(node, x)], {}, "product")
        return self.step(node, "div", [product], {"other": 6.0})

    def do_where(self, node, args, kwargs):
        condition, *sides = args
        value = node.meta["value"]
        names = []
        for label, side in zip(("yes", "no"), sides):
            if isinstance(side, (int, float)):
                point = value.new_empty(())
                names.append(self.part(node, "full", [], {"shape": (), "value": float(side)}, label, point))
            else:
                names.append(self.operand(side))
        return self.step(node, "where", [self.operand(condition)] + names, {})

    def huber(self, node, pair, width, scale, reduction):
        """m * (d - m / 2) * scale with d = |a - b| and m = min(d, width)."""
        if reduction not in ("mean", "sum", "none"):
            raise Refused("the reduction %s is not covered" % reduction)
        like = pair[0].meta["value"]
        gap = self.part(node, "sub", [self.operand(value) for value in pair], {}, "gap", like)
        size = self.part(node, "abs", [gap], {}, "size", like)
        small = self.part(node, "clamp", [size], {"max": float(width)}, "small", like)
        half = self.part(node, "mul", [small], {"other": 0.5}, "half", like)
        rest = self.part(node, "sub", [size, half], {}, "rest", like)
        loss = self.part(node, "mul", [small, rest], {}, "loss", like)
        loss = self.part(node, "mul", [loss], {"other": float(scale)}, "scaled", like)
        return loss if reduction == "none" else self.step(node, reduction, [loss], {"dim": tuple(range(like.dim()))})

    def do_smooth_l1_loss(self, node, args, kwargs):
        operands, given = bind("smooth_l1_loss", "@input @target size_average~ reduce~ reduction='mean' beta=1.0", args, kwargs)
        return self.huber(node, operands, given["beta"], 1 / given["beta"], given["reduction"])

    def do_huber_loss(self, node, args, kwargs):
        operands, given = bind("huber_loss", "@input @target reduction='mean' delta=1.0", args, kwargs)
        return self.huber(node, operands, given["delta"], 1.0, given["reduction"])
