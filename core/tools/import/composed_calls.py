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

    def do_normalize(self, node, args, kwargs):
        (source,), given = bind("normalize", "@input p=2.0 dim=1 eps=1e-12 out~", args, kwargs)
        dim = given["dim"]
        if given["p"] != 2 or not isinstance(dim, int):
            raise Refused("normalize is covered with p = 2 along one dim alone")
        x, value = self.operand(source), source.meta["value"]
        like = value.sum(dim, keepdim=True)
        size = self.part(node, "norm", [x], {"dim": (dim,), "keepdim": True}, "size", like)
        return self.step(node, "div", [x, self.part(node, "clamp", [size], {"min": given["eps"]}, "kept", like)], {})

    def do__weight_norm(self, node, args, kwargs):
        """torch.nn.utils.weight_norm: g * v / ||v||, the norm over all dims but one."""
        (v, g), given = bind("_weight_norm", "@v @g dim=0", args, kwargs)
        x, value = self.operand(v), v.meta["value"]
        apart = given["dim"] != -1
        over = tuple(d for d in range(value.dim()) if not apart or d != given["dim"] % value.dim())
        size = self.part(node, "norm", [x], {"dim": over, "keepdim": apart}, "size", value.sum(over, keepdim=apart))
        return self.step(node, "mul", [x, self.part(node, "div", [self.operand(g), size], {}, "scale", g.meta["value"])], {})

    def do_glu(self, node, args, kwargs):
        (source,), given = bind("glu", "@input dim=-1", args, kwargs)
        x, value, dim = self.operand(source), node.meta["value"], given["dim"]
        half = value.shape[dim]
        first = self.part(node, "narrow", [x], {"dim": dim, "start": 0, "length": half}, "first")
        second = self.part(node, "narrow", [x], {"dim": dim, "start": half, "length": half}, "second")
        return self.step(node, "mul", [first, self.part(node, "sigmoid", [second], {}, "gate")], {})

    def do_prelu(self, node, args, kwargs):
        (source, weight), _ = bind("prelu", "@input @weight", args, kwargs)
        x, value = self.operand(source), source.meta["value"]
        slope, like = self.operand(weight), weight.meta["value"]
        if like.numel() > 1 and value.dim() > 2:
            like = like.reshape([-1] + [1] * (value.dim() - 2))
            slope = self.part(node, "reshape", [slope], {"shape": tuple(like.shape)}, "slopes", like)
        above = self.part(node, "gt", [x], {"other": 0.0}, "above", value)
        return self.step(node, "where", [above, x, self.part(node, "mul", [x, slope], {}, "sloped")], {})

    def do__threshold(self, node, args, kwargs):
        (source,), given = bind("threshold", "@input threshold value inplace~", args, kwargs)
        x, value = self.operand(source), source.meta["value"]
        above = self.part(node, "gt", [x], {"other": float(given["threshold"])}, "above", value)
        rest = self.part(node, "full", [], {"shape": (), "value": float(given["value"])}, "rest", value.new_empty(()))
        return self.step(node, "where", [above, x, rest], {})

    do_threshold = do__threshold

    def do_binary_cross_entropy(self, node, args, kwargs):
        """-(t log p + (1 - t) log (1 - p)), with logarithms of at least -100, as in PyTorch."""
        signature = "@input @target weight!None size_average~ reduce~ reduction='mean'"
        (p, t), given = bind("binary_cross_entropy", signature, args, kwargs)
        if given["reduction"] not in ("mean", "sum", "none"):
            raise Refused("the reduction %s is not covered" % given["reduction"])
        like = p.meta["value"]
        kinds = [str(value.dtype).replace("torch.", "") for value in (like, t.meta["value"])]
        if kinds[0] != kinds[1]:
            raise Refused(
                "binary_cross_entropy: its operands have the types %s, and PyTorch takes one type alone; convert one with .to()" % " and ".join(kinds)
            )

        def term(share, chance, label):
            log = self.part(node, "log", [chance], {}, "log_" + label, like)
            log = self.part(node, "clamp", [log], {"min": -100.0}, "kept_" + label, like)
            return self.part(node, "mul", [share, log], {}, label, like)

        yes = term(self.operand(t), self.operand(p), "yes")
        rest_p = self.part(node, "rsub", [self.operand(p)], {"other": 1.0}, "rest", like)
        rest_t = self.part(node, "rsub", [self.operand(t)], {"other": 1.0}, "rest_target", like)
        both = self.part(node, "add", [yes, term(rest_t, rest_p, "no")], {}, "both", like)
        loss = self.part(node, "neg", [both], {}, "loss", like)
        return loss if given["reduction"] == "none" else self.step(node, given["reduction"], [loss], {"dim": tuple(range(like.dim()))})

    def do_baddbmm(self, node, args, kwargs):
        (added, left, right), _ = bind("baddbmm", "@input @batch1 @batch2 beta!1 alpha!1", args, kwargs)
        product = self.part(node, "bmm", [self.operand(left), self.operand(right)], {}, "product")
        return self.step(node, "add", [product, self.operand(added)], {})

    def do_outer(self, node, args, kwargs):
        left, right = args[0], args[1]
        column = left.meta["value"].unsqueeze(1)
        name = self.part(node, "reshape", [self.operand(left)], {"shape": tuple(column.shape)}, "column", column)
        return self.step(node, "mul", [name, self.operand(right)], {})

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
