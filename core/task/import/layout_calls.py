"""Calls that move elements and compute nothing: indexing, splitting, joining, turning.  A part of Lowering."""

from refusal import Refused
from signatures import bind


def number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


class LayoutCalls:
    """Uses operand() and step() of Lowering."""

    def convert(self, node, value):
        if node.meta["value"].dtype != value.meta["value"].dtype:
            raise Refused("a conversion to %s is not covered" % str(node.meta["value"].dtype).replace("torch.", ""))
        return self.operand(value)

    def do_t(self, node, args, kwargs):
        if node.meta["value"].dim() < 2:
            return self.operand(args[0])
        return self.step(node, "transpose", [self.operand(args[0])], {"dim0": 0, "dim1": 1})

    def do_getattr(self, node, args, kwargs):
        if args[1] in ("T", "mT") and node.meta["value"].dim() == 2:
            return self.do_t(node, args, kwargs)
        raise Refused("the attribute .%s is not covered" % args[1])

    def do_getitem(self, node, args, kwargs):
        source, index = args
        name = self.operand(source)
        if isinstance(name, tuple):
            picked = name[index]
            if picked is None and node.users:
                raise Refused("the indices of a maximum are not covered")
            return picked
        index = index if isinstance(index, tuple) else (index,)
        value = source.meta["value"]
        given = sum(1 for item in index if item is not None and item is not Ellipsis)
        full = []
        for item in index:
            full += [slice(None)] * (value.dim() - given) if item is Ellipsis else [item]
        dim, kept = 0, []
        for part, item in enumerate(full):
            if item is None:
                kept.append(1)
                continue
            extent = value.shape[dim]
            if isinstance(item, slice):
                start, stop, stride = item.indices(extent)
                if stride != 1:
                    raise Refused("a slice with a step is not covered")
                length = max(stop - start, 0)
            elif number(item):
                start, length = item % extent, 1
            else:
                raise Refused("an index that is a tensor is not covered")
            if (start, length) != (0, extent):
                value = value.narrow(dim, start, length)
                name = self.step(node, "narrow", [name], {"dim": dim, "start": start, "length": length}, value, "_cut%d" % part)
            if isinstance(item, slice):
                kept.append(length)
            dim += 1
        kept += list(value.shape[dim:])
        if tuple(kept) != tuple(value.shape):
            name = self.step(node, "reshape", [name], {"shape": tuple(node.meta["value"].shape)})
        return name

    def do_select(self, node, args, kwargs):
        operands, attributes = bind("select", "@input dim index", args, kwargs)
        index = [slice(None)] * operands[0].meta["value"].dim()
        index[attributes["dim"]] = attributes["index"]
        return self.do_getitem(node, (operands[0], tuple(index)), {})

    def pieces(self, node, name, args, kwargs):
        dim = kwargs.get("dim", args[2] if len(args) > 2 else 0)
        if name == "unbind":
            dim = kwargs.get("dim", args[1] if len(args) > 1 else 0)
        source = self.operand(args[0])
        dim %= args[0].meta["value"].dim()
        names, start = [], 0
        for i, piece in enumerate(node.meta["value"]):
            length = 1 if name == "unbind" else piece.shape[dim]
            cut = piece.unsqueeze(dim) if name == "unbind" else piece
            part = self.step(node, "narrow", [source], {"dim": dim, "start": start, "length": length}, cut, "_%d" % i)
            if name == "unbind":
                part = self.step(node, "reshape", [part], {"shape": tuple(piece.shape)}, piece, "_%d_flat" % i)
            names.append(part)
            start += length
        return tuple(names)

    def do_interpolate(self, node, args, kwargs):
        signature = "@input size=None scale_factor=None mode='nearest' align_corners=None recompute_scale_factor~ antialias!False"
        (source,), given = bind("interpolate", signature, args, kwargs)
        if given["mode"] not in ("nearest", "linear", "bilinear", "trilinear"):
            raise Refused("interpolate with mode = %s is not covered" % given["mode"])
        before, after = source.meta["value"].shape[2:], tuple(node.meta["value"].shape[2:])
        factors = given.get("scale_factor")
        factors = factors if isinstance(factors, (tuple, list)) else [factors] * len(after)
        if any(factor is not None and factor * size != wanted for factor, size, wanted in zip(factors, before, after)):
            raise Refused("interpolate by a factor that gives no whole size is not covered; name the size")
        attributes = {"size": after, "mode": given["mode"]}
        if given.get("align_corners"):
            attributes["align_corners"] = True
        return self.step(node, "interpolate", [self.operand(source)], attributes)

    def do_cat(self, node, args, kwargs):
        dim = kwargs.get("dim", args[1] if len(args) > 1 else 0)
        return self.step(node, "cat", [self.operand(value) for value in args[0]], {"dim": dim})

    do_concat = do_cat

    def do_stack(self, node, args, kwargs):
        dim = kwargs.get("dim", args[1] if len(args) > 1 else 0) % node.meta["value"].dim()
        parts = []
        for i, value in enumerate(args[0]):
            wide = value.meta["value"].unsqueeze(dim)
            parts.append(self.step(node, "reshape", [self.operand(value)], {"shape": tuple(wide.shape)}, wide, "_part%d" % i))
        return self.step(node, "cat", parts, {"dim": dim})
