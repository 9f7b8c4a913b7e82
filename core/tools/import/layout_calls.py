"""Calls that move elements and compute nothing: indexing, splitting, joining, turning.  A part of Lowering."""

import torch

import meta_shapes
from traced_graph import Node
from refusal import Refused
from signatures import bind


EXACT = {torch.int64, torch.int32, torch.uint8, torch.int16}  # types of whole numbers that every operation of the graph takes without a conversion
CONVERTED = {torch.float32, torch.float16, torch.bfloat16}
MOST_JOINED = 16  # most operands of one node of the graph


def number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


class LayoutCalls:
    """Uses operand() and step() of Lowering."""

    def stored_share(self, node, name):
        """softmax(x, dim, dtype=float32).to(x.dtype) is how a model spells the softmax of x in its own type: PyTorch computes that in float32, too, and
        rounds what it stores.  The graph has it as one node of the narrow type, where a kernel may round and may leave it: kernels of attention
        round before they divide by the row's sum.  So only where nothing else reads the softmax."""
        made = next((entry for entry in self.nodes if entry["out"] == name), None)
        if made is None or made["op"] != "softmax":
            return False
        same = {other for other, known in self.names.items() if known == name}
        if any(user not in same and user is not node for other in same for user in other.users):
            return False
        made["dtype"] = str(node.meta["value"].dtype).replace("torch.", "")
        return True

    def convert(self, node, value):
        """A conversion.  Truth is exact in every type, whole numbers are in wider ones.  Those that become floats may be factors, which have one type."""
        before, after = value.meta["value"].dtype, node.meta["value"].dtype
        name = self.operand(value)
        if before == after or before == torch.bool and not (name in self.bytes and after in CONVERTED):
            return name
        if after == torch.bool:
            zero = self.step(node, "eq", [name], {"other": 0.0}, node.meta["value"], "_zero")
            return self.step(node, "rsub", [zero], {"other": 1.0})
        if not before.is_floating_point and before in EXACT and after in (torch.float64, torch.int64, torch.int32):
            return name
        if before == torch.float32 and after in CONVERTED and self.stored_share(node, name):
            return name
        if after in CONVERTED and (before in CONVERTED or not before.is_floating_point):  # rounds at the same place as PyTorch
            return self.step(node, "to", [name], {"dtype": str(after).replace("torch.", "")})
        raise Refused("a conversion from %s to %s is not covered" % tuple(str(kind).replace("torch.", "") for kind in (before, after)))

    def do_t(self, node, args, kwargs):
        if node.meta["value"].dim() < 2:
            return self.operand(args[0])
        return self.step(node, "transpose", [self.operand(args[0])], {"dim0": 0, "dim1": 1})

    def do_getattr(self, node, args, kwargs):
        if args[1] in ("T", "mT") and node.meta["value"].dim() == 2:
            return self.do_t(node, args, kwargs)
        if args[1] in ("values", "indices") and isinstance(self.operand(args[0]), tuple):
            return self.do_getitem(node, (args[0], ("values", "indices").index(args[1])), {})
        raise Refused("the attribute .%s is not covered" % args[1])

    def every_dim(self, value, index):
        """An index with whole slices for the dims that it leaves out."""
        given = sum(1 for item in index if item is not None and item is not Ellipsis)
        full = []
        for item in index:
            full += [slice(None)] * (value.dim() - given) if item is Ellipsis else [item]
        return full + [slice(None)] * (value.dim() - sum(item is not None for item in full))

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
        full = self.every_dim(value, index)
        dim, kept = 0, []
        for part, item in enumerate(full):
            if item is None:
                kept.append(1)
                continue
            extent = value.shape[dim]
            if isinstance(item, slice):
                start, stop, stride = item.indices(extent)
                length = max(stop - start, 0)
                if stride != 1:
                    place = {"dim": dim, "start": start, "end": stop, "step": stride}
                    value = value[(slice(None),) * dim + (slice(start, stop, stride),)]
                    name = self.step(node, "slice", [name], place, value, "_every%d" % part)
                    start, length, extent = 0, value.shape[dim], value.shape[dim]
            elif number(item):
                start, length = item % extent, 1
            else:
                return self.indexed(node, source, full)
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

    def do_narrow(self, node, args, kwargs):
        operands, attributes = bind("narrow", "@input dim start length", args, kwargs)
        return self.step(node, "narrow", [self.operand(operands[0])], attributes)

    def do_diag(self, node, args, kwargs):
        """A matrix with a vector on its diagonal: each row has one element of the vector."""
        (source,), _ = bind("diag", "@input diagonal!0", args, kwargs)
        value = source.meta["value"]
        if value.dim() != 1:
            raise Refused("diag of a matrix is not covered")
        square = node.meta["value"]
        wide = self.step(node, "expand", [self.operand(source)], {"shape": tuple(square.shape)}, square, "_rows")
        lower = self.step(node, "tril", [wide], {"diagonal": 0}, square, "_lower")
        return self.step(node, "triu", [lower], {"diagonal": 0})

    def do_roll(self, node, args, kwargs):
        (source,), given = bind("roll", "@input shifts dims=None", args, kwargs)
        dims, shifts = given.get("dims"), given["shifts"]
        if dims is None:
            raise Refused("roll without dims is not covered")
        pairs = list(zip(shifts, dims)) if isinstance(dims, (tuple, list)) else [(shifts, dims)]
        name, value = self.operand(source), source.meta["value"]
        for turn, (shift, dim) in enumerate(pairs):
            extent = value.shape[dim]
            cut = -shift % extent
            last = turn == len(pairs) - 1
            parts = []
            for label, start, length in (("tail", cut, extent - cut), ("head", 0, cut)):
                if length:
                    piece = value.narrow(dim, start, length)
                    parts.append(self.step(node, "narrow", [name], {"dim": dim, "start": start, "length": length}, piece,
                                           "_%s%d" % (label, turn)))  # fmt: skip
            name = self.step(node, "cat", parts, {"dim": dim}, value, "" if last else "_turned%d" % turn)
        return name

    def do_pixel_shuffle(self, node, args, kwargs):
        (source,), given = bind("pixel_shuffle", "@input upscale_factor", args, kwargs)
        value, factor = source.meta["value"], given["upscale_factor"]
        if value.dim() != 4:
            raise Refused("pixel_shuffle of a tensor without batch and channels is not covered")
        batch, channels, height, width = value.shape
        apart = value.reshape(batch, channels // factor**2, factor, factor, height, width)
        order = (0, 1, 4, 2, 5, 3)
        name = self.step(node, "reshape", [self.operand(source)], {"shape": tuple(apart.shape)}, apart, "_apart")
        name = self.step(node, "permute", [name], {"dims": order}, apart.permute(order), "_turned")
        return self.step(node, "reshape", [name], {"shape": tuple(node.meta["value"].shape)})

    def do_repeat(self, node, args, kwargs):
        source, times = args[0], args[1:]
        times = tuple(times[0]) if len(times) == 1 and isinstance(times[0], (tuple, list)) else tuple(times)
        value = source.meta["value"]
        sizes = (1,) * (len(times) - value.dim()) + tuple(value.shape)
        ones = [part for size in sizes for part in (1, size)]
        wide = [part for count, size in zip(times, sizes) for part in (count, size)]
        if len(ones) > 8:
            raise Refused("repeat of more than 4 dims is not covered")
        name = self.step(node, "reshape", [self.operand(source)], {"shape": tuple(ones)}, value.reshape(ones), "_apart")
        name = self.step(node, "expand", [name], {"shape": tuple(wide)}, value.reshape(ones).expand(wide), "_wide")
        return self.step(node, "reshape", [name], {"shape": tuple(node.meta["value"].shape)})

    def do_repeat_interleave(self, node, args, kwargs):
        """Repeats each element of a dim several times in a row, as for keys and values that heads share."""
        (source,), given = bind("repeat_interleave", "@input repeats dim=None output_size~", args, kwargs)
        value, times = source.meta["value"], given["repeats"]
        dim = given["dim"] % value.dim() if given.get("dim") is not None else 0  # without dim only a vector is covered
        return self.repeated(node, self.operand(source), value, dim, times)

    def repeated(self, node, name, value, dim, times, label=""):
        """Each element of a dim that many times in a row.  label: what tells its names from the node's own."""
        one = value.unsqueeze(dim + 1)
        wide = one.expand(value.shape[: dim + 1] + (times,) + value.shape[dim + 1 :])
        name = self.step(node, "reshape", [name], {"shape": tuple(one.shape)}, one, label + "_apart")
        name = self.step(node, "expand", [name], {"shape": tuple(wide.shape)}, wide, label + "_wide")
        whole = wide.flatten(dim, dim + 1)
        return self.step(node, "reshape", [name], {"shape": tuple(whole.shape)}, whole, label)

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
        dim %= node.meta["value"].dim()
        values = [value.meta["value"] if isinstance(value, Node) else value for value in args[0]]
        return self.joined(node, list(zip([self.operand(value) for value in args[0]], values)), dim)

    def joined(self, node, parts, dim):
        """Joins parts, [(name, value)].  A node takes at most MOST_JOINED, so more parts are joined in a tree."""
        level = 0
        while len(parts) > MOST_JOINED:
            groups = [parts[first : first + MOST_JOINED] for first in range(0, len(parts), MOST_JOINED)]
            made = []
            for i, group in enumerate(groups):
                values = [value for _, value in group]
                value = meta_shapes.told("cat", (values, dim), {})
                value = torch.cat(values, dim) if value is None else value
                name = group[0][0] if len(group) == 1 else self.step(node, "cat", [name for name, _ in group], {"dim": dim}, value, "_some%d_%d" % (level, i))
                made.append((name, value))
            parts, level = made, level + 1
        return self.step(node, "cat", [name for name, _ in parts], {"dim": dim})

    do_concat = do_cat

    def do_stack(self, node, args, kwargs):
        dim = kwargs.get("dim", args[1] if len(args) > 1 else 0) % node.meta["value"].dim()
        parts = []
        for i, value in enumerate(args[0]):
            wide = value.meta["value"].unsqueeze(dim)
            parts.append((self.step(node, "reshape", [self.operand(value)], {"shape": tuple(wide.shape)}, wide, "_part%d" % i), wide))
        return self.joined(node, parts, dim)
