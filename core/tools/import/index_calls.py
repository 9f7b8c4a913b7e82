"""Tensors as indices, elements put into tensors, sorting.  A part of Lowering."""

import torch

from layout_calls import number
from traced_graph import Node
from refusal import Refused
from signatures import bind


class IndexCalls:
    """Uses operand(), step() and part() of Lowering."""

    def indexed(self, node, source, full):
        """x[..., index, ...] with one tensor of whole numbers among whole dims: rows of a table."""
        tensors = [(place, item) for place, item in enumerate(full) if isinstance(item, Node)]
        plain = [item for item in full if not isinstance(item, Node)]
        if len(tensors) != 1 or any(item != slice(None) for item in plain):
            raise Refused("an index that is a tensor is covered once, beside whole dims; take the parts apart")
        place, index = tensors[0]
        if index.meta["value"].dtype == torch.bool:
            raise Refused("an index that is a mask gives a size that depends on data; multiply by the mask or use torch.where")
        return self.rows(node, source, place, index)

    def rows(self, node, source, dim, index):
        value, picks = source.meta["value"], index.meta["value"]
        name, rank = self.operand(source), value.dim()
        order = [dim] + [d for d in range(rank) if d != dim]
        turned = value.permute(order)
        if dim:
            name = self.part(node, "permute", [name], {"dims": tuple(order)}, "front", turned)
        flat = turned.reshape(turned.shape[0], -1)
        if rank != 2:
            name = self.part(node, "reshape", [name], {"shape": tuple(flat.shape)}, "table", flat)
        picked = flat.new_empty(tuple(picks.shape) + (flat.shape[1],))
        if dim == 0 and rank == 2:
            return self.step(node, "embedding", [name, self.operand(index)], {}, picked)
        name = self.part(node, "embedding", [name, self.operand(index)], {}, "rows", picked)
        apart = picked.reshape(tuple(picks.shape) + tuple(turned.shape[1:]))
        back = list(range(picks.dim(), picks.dim() + dim)) + list(range(picks.dim())) + list(range(picks.dim() + dim, apart.dim()))
        if dim == 0:
            return self.step(node, "reshape", [name], {"shape": tuple(apart.shape)}, apart)
        name = self.part(node, "reshape", [name], {"shape": tuple(apart.shape)}, "apart", apart)
        return self.step(node, "permute", [name], {"dims": tuple(back)}, apart.permute(back))

    def do_index_select(self, node, args, kwargs):
        (source, index), given = bind("index_select", "@input dim @index", args, kwargs)
        return self.rows(node, source, given["dim"] % source.meta["value"].dim(), index)

    # --- elements put into a tensor

    def do_written(self, node, args, kwargs):
        """Puts value into `below` at index (shaped_proxy.py)."""
        below, index, value = args
        like = below.meta["value"]
        if index is None:
            return self.step(node, "reshape", [self.operand(value)], {"shape": tuple(like.shape)}, like)
        if isinstance(index, Node):
            if index.meta["value"].dtype != torch.bool:
                raise Refused("assignment at indices that are a tensor is not covered; use torch.scatter")
            return self.step(node, "where", [self.operand(index), self.operand(value), self.operand(below)], {}, like)
        if any(isinstance(item, Node) for item in index):
            raise Refused("assignment at indices that are a tensor is not covered; use torch.scatter")
        region, shape = self.region(like, index)
        name = self.operand(value)
        if tuple(value.meta["value"].shape) != shape:
            wide = like.new_empty(shape)
            name = self.part(node, "expand", [name], {"shape": shape}, "wide", wide)
        sizes = tuple(length for _, length in region)
        if sizes != shape:
            name = self.part(node, "reshape", [name], {"shape": sizes}, "placed", like.new_empty(sizes))
        return self.around(node, self.operand(below), like, name, region, 0, "")

    def region(self, like, index):
        """[(start, length)] for every dim, and the shape of the indexed part."""
        region, shape, dim = [], [], 0
        for item in self.every_dim(like, index):
            if item is None:
                shape.append(1)
                continue
            extent = like.shape[dim]
            if isinstance(item, slice):
                start, stop, step = item.indices(extent)
                if step != 1 or stop <= start:
                    raise Refused("assignment to every n-th element, or to none, is not covered")
                region.append((start, stop - start))
                shape.append(stop - start)
            else:
                region.append((item % extent, 1))
            dim += 1
        return region, tuple(shape)

    def around(self, node, below, like, name, region, dim, label):
        """Joins the parts before, in and after the region along each dim, beginning with the last dim."""
        while dim < like.dim() and region[dim] == (0, like.shape[dim]):
            dim += 1
        if dim == like.dim():
            return name
        start, length = region[dim]
        middle = like.narrow(dim, start, length)
        inner = self.part(node, "narrow", [below], {"dim": dim, "start": start, "length": length}, "in%s%d" % (label, dim), middle)
        rest = list(region)
        rest[dim] = (0, length)
        inner = self.around(node, inner, middle, name, rest, dim + 1, label + "i")
        parts = [inner]
        if start:
            piece = like.narrow(dim, 0, start)
            parts.insert(0, self.part(node, "narrow", [below], {"dim": dim, "start": 0, "length": start}, "before%s%d" % (label, dim), piece))
        behind = like.shape[dim] - start - length
        if behind:
            place = {"dim": dim, "start": start + length, "length": behind}
            parts.append(self.part(node, "narrow", [below], place, "behind%s%d" % (label, dim), like.narrow(dim, start + length, behind)))
        return self.step(node, "cat", parts, {"dim": dim}, like, "" if not label else "_joined" + label)

    def do_copy(self, node, args, kwargs):
        """a.copy_(b): b in a's shape."""
        below, value = args[0].meta["value"], args[1]
        if tuple(value.meta["value"].shape) == tuple(below.shape):
            return self.operand(value)
        return self.step(node, "expand", [self.operand(value)], {"shape": tuple(below.shape)}, below)

    def scatter(self, node, op, args, kwargs):
        (x, index, source), given = bind(op, "@input dim @index @src reduce!None", args, kwargs)
        if not isinstance(source, Node):
            raise Refused("%s of a number is not covered; make it a tensor" % op)
        sizes, picks = x.meta["value"].shape, index.meta["value"].shape
        dim = given["dim"] % len(sizes)
        if tuple(picks) != tuple(source.meta["value"].shape) or any(a != b for d, (a, b) in enumerate(zip(sizes, picks)) if d != dim):
            raise Refused("%s is covered where index and src have x's shape, except along dim" % op)
        return self.step(node, op, [self.operand(x), self.operand(index), self.operand(source)], {"dim": dim})

    def do_scatter(self, node, args, kwargs):
        return self.scatter(node, "scatter", args, kwargs)

    def do_scatter_add(self, node, args, kwargs):
        return self.scatter(node, "scatter_add", args, kwargs)

    def placed_along(self, node, op, x, index, source, dim):
        """scatter or scatter_add by one index for each slice of the source along a dim."""
        dim, like = dim % x.meta["value"].dim(), source.meta["value"]
        column = like.new_empty([like.shape[dim] if d == dim else 1 for d in range(like.dim())], dtype=index.meta["value"].dtype)
        name = self.part(node, "reshape", [self.operand(index)], {"shape": tuple(column.shape)}, "column", column)
        wide = column.expand(like.shape)
        name = self.part(node, "expand", [name], {"shape": tuple(wide.shape)}, "wide", wide)
        return self.step(node, op, [self.operand(x), name, self.operand(source)], {"dim": dim})

    def do_index_add(self, node, args, kwargs):
        (x, index, source), given = bind("index_add", "@input dim @index @source alpha!1", args, kwargs)
        return self.placed_along(node, "scatter_add", x, index, source, given["dim"])

    def do_index_copy(self, node, args, kwargs):
        (x, index, source), given = bind("index_copy", "@input dim @index @source", args, kwargs)
        return self.placed_along(node, "scatter", x, index, source, given["dim"])

    def do_one_hot(self, node, args, kwargs):
        (index,), given = bind("one_hot", "@tensor num_classes", args, kwargs)
        value, count = index.meta["value"], given["num_classes"]
        apart = value.unsqueeze(-1)
        name = self.part(node, "reshape", [self.operand(index)], {"shape": tuple(apart.shape)}, "apart", apart)
        classes = self.part(node, "arange", [], {"start": 0.0, "step": 1.0, "count": count}, "classes", value.new_empty((count,)))
        return self.step(node, "eq", [name, classes], {})

    # --- sorting

    def ordered(self, node, op, source, attributes):
        values, places = node.meta["value"][0], node.meta["value"][1]
        name = self.emit(op, [self.operand(source)], attributes, values, node.meta["line"], node.name)
        index = node.name + "_places"
        while index in self.taken:
            index += "_"
        self.taken.add(index)
        self.nodes[-1]["more"] = ((index, "int64", tuple(places.shape)),)
        return name, index

    def do_topk(self, node, args, kwargs):
        (source,), given = bind("topk", "@input k dim=-1 largest=True sorted~", args, kwargs)
        return self.ordered(node, "topk", source, {"k": given["k"], "dim": given["dim"], "largest": bool(given["largest"])})

    def sorting(self, node, source, given):
        attributes = {"dim": given["dim"], "descending": bool(given["descending"])}
        if given["stable"]:  # equal elements keep their order
            attributes["stable"] = True
        return self.ordered(node, "sort", source, attributes)

    def do_sort(self, node, args, kwargs):
        (source,), given = bind("sort", "@input dim=-1 descending=False stable=False", args, kwargs)
        return self.sorting(node, source, given)

    def do_argsort(self, node, args, kwargs):
        (source,), given = bind("argsort", "@input dim=-1 descending=False stable=False", args, kwargs)
        node.meta["value"] = (source.meta["value"], node.meta["value"])
        return self.sorting(node, source, given)[1]

    # --- windows

    def do_unfold(self, node, args, kwargs):
        """x.unfold(dim, size, step): the windows along dim, each in a new last dim."""
        if node.meta["value"].dim() != args[0].meta["value"].dim() + 1:
            raise Refused("torch.nn.functional.unfold is not covered; write the convolution, or x.unfold")
        (source,), given = bind("unfold", "@input dimension size step", args, kwargs)
        value, dim, size, step = source.meta["value"], given["dimension"] % source.meta["value"].dim(), given["size"], given["step"]
        name, count = self.operand(source), node.meta["value"].shape[dim]
        if step == size:
            if value.shape[dim] != count * size:
                value = value.narrow(dim, 0, count * size)
                name = self.part(node, "narrow", [name], {"dim": dim, "start": 0, "length": count * size}, "whole", value)
            apart = value.reshape(tuple(value.shape[:dim]) + (count, size) + tuple(value.shape[dim + 1 :]))
            name = self.part(node, "reshape", [name], {"shape": tuple(apart.shape)}, "apart", apart)
            order = [d for d in range(apart.dim()) if d != dim + 1] + [dim + 1]
            return self.step(node, "permute", [name], {"dims": tuple(order)}, apart.permute(order))
        if size > 16:
            raise Refused("unfold with overlapping windows of more than 16 elements is not covered")
        parts = []
        for k in range(size):
            end = k + (count - 1) * step + 1
            piece = value[(slice(None),) * dim + (slice(k, end, step),)]
            cut = self.part(node, "slice", [name], {"dim": dim, "start": k, "end": end, "step": step}, "shift%d" % k, piece)
            piece = piece.unsqueeze(-1)
            parts.append(self.part(node, "reshape", [cut], {"shape": tuple(piece.shape)}, "column%d" % k, piece))
        return self.step(node, "cat", parts, {"dim": node.meta["value"].dim() - 1})

    def do_pad(self, node, args, kwargs):
        (source,), given = bind("pad", "@input pad mode='constant' value=None", args, kwargs)
        if given["mode"] != "constant":
            raise Refused("pad with mode = %s is not covered; pad with a constant" % given["mode"])
        value = given.get("value") or 0.0
        if not number(value):
            raise Refused("pad with a tensor as value is not covered")
        return self.step(node, "pad", [self.operand(source)], {"pad": tuple(given["pad"]), "value": float(value)})

    do_constant_pad_nd = do_pad
