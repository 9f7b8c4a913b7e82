"""einsum as sums, permutations and batched matrix products: operands are joined two at a time, from left to right, as PyTorch
does where no better order is known to it.  A part of Lowering."""

import math

from refusal import Refused
from shape_rules import check_factors


class EinsumCalls:
    """Uses operand(), part() and step() of Lowering.  A value under way is (name, its letters, a meta tensor like it)."""

    def do_einsum(self, node, args, kwargs):
        equation, *operands = args
        operands = operands[0] if len(operands) == 1 and isinstance(operands[0], (list, tuple)) else operands
        terms, arrow, out = equation.replace(" ", "").partition("->")
        terms = terms.split(",")
        simple = arrow and len(operands) == len(terms) and all(len(set(t)) == len(t) and t.isalpha() for t in terms + [out or "a"])
        if not simple or not set(out) <= set("".join(terms)):
            raise Refused("einsum of %r is not covered: each letter once in each operand, no dots, and an arrow" % equation)
        values = []
        for k, (value, term) in enumerate(zip(operands, terms)):
            elsewhere = set(out).union(*terms[:k], *terms[k + 1 :])
            values.append(self.summed(node, (self.operand(value), term, value.meta["value"]), elsewhere, "sum%d" % k if k else "sum"))
        while len(values) > 2:
            kept = set(out).union(*[term for _, term, _ in values[2:]])
            values[:2] = [self.joined_pair(node, values[0], values[1], kept, "pair%d" % len(values))]
        if len(values) == 2:
            values = [self.joined_pair(node, values[0], values[1], set(out), "", out)]
        name, made, like = values[0]
        if made == out:
            return name if len(operands) > 1 else self.step(node, "reshape", [name], {"shape": tuple(like.shape)}, like)
        return self.step(node, "permute", [name], {"dims": tuple(made.index(letter) for letter in out)})

    def summed(self, node, value, kept, label):
        """Sums value over the letters that neither the result nor another operand has."""
        name, term, like = value
        dims = tuple(k for k, letter in enumerate(term) if letter not in kept)
        if not dims:
            return value
        less = like.sum(dims)
        return self.part(node, "sum", [name], {"dim": dims, "keepdim": False}, label, less), "".join(x for x in term if x in kept), less

    def joined_pair(self, node, left, right, kept, label, out=None):
        """The product of two values: over what both have and nobody else needs, for each of what both have and is needed.  out: the
        letters of einsum's own result."""
        sizes = dict(zip(left[1] + right[1], tuple(left[2].shape) + tuple(right[2].shape)))
        groups = {"batch": "", "rows": "", "depth": "", "columns": ""}
        for letter in dict.fromkeys(left[1] + right[1]):
            both = letter in left[1] and letter in right[1]
            kind = ("batch" if letter in kept else "depth") if both else "rows" if letter in left[1] else "columns"
            groups[kind] += letter
        batch, rows, depth, columns = groups.values()
        a, like_a = self.arranged(node, left, (batch, rows, depth), sizes, label + "left")
        b, like_b = self.arranged(node, right, (batch, depth, columns), sizes, label + "right")
        if depth:
            check_factors("einsum", [like_a, like_b])
        product = like_a @ like_b if depth else like_a * like_b
        name = self.part(node, "bmm" if depth else "mul", [a, b], {}, label + "product", product)  # of a column and a row: each with each
        made = batch + rows + columns
        apart = product.reshape([sizes[letter] for letter in made])
        shape = {"shape": tuple(apart.shape)}
        last = made == out
        return self.step(node, "reshape", [name], shape, apart) if last else self.part(node, "reshape", [name], shape, label + "apart", apart), made, apart

    def arranged(self, node, value, order, sizes, label):
        """The value with its letters in this order, and each group of them as one dim."""
        name, term, like = value
        letters = "".join(order)
        if letters != term:
            dims = tuple(term.index(letter) for letter in letters)
            like = like.permute(dims)
            name = self.part(node, "permute", [name], {"dims": dims}, label, like)
        shape = tuple(math.prod(sizes[letter] for letter in group) for group in order)
        return self.part(node, "reshape", [name], {"shape": shape}, label + "_joined", like.reshape(shape)), like.reshape(shape)
