"""Predicts a graph at sizes that were not traced, from its expressions, to find the sizes that are worth a trace."""

import functools


@functools.lru_cache(maxsize=1 << 12)
def compiled(text):
    return compile(text.replace("/", "//"), "size", "eval")


class Expected:
    """The graph at one assignment of the dims, with what check_cases.py reads of a Lowering."""

    def __init__(self, probe, assignment):
        self.assignment = dict(assignment)
        self.known = {}
        nodes, shapes = probe.expressions
        self.shapes = {key: self.at(shape) for key, shape in shapes.items()}
        self.extra = {name: {"shape": self.at(shape)} for name, shape in probe.extra_shapes.items()}
        self.nodes = [dict(node, shape=self.at(node["shape"]), attr={key: self.at(value) for key, value in node["attr"].items()},
                           more=[(name, dtype, self.at(shape)) for name, dtype, shape in node.get("more", ())]) for node in nodes]  # fmt: skip

    def at(self, leaf):
        """Replaces expressions by their numbers; other attributes stay."""
        if isinstance(leaf, tuple):
            return tuple([self.at(part) for part in leaf])
        if not isinstance(leaf, str):
            return leaf
        if leaf not in self.known:
            try:
                self.known[leaf] = eval(compiled(leaf), {}, self.assignment)
            except (SyntaxError, NameError, TypeError, ArithmeticError):  # a word, or the text of a real
                self.known[leaf] = leaf
        return self.known[leaf]


def expected(probe, case):
    return Expected(probe, case)
