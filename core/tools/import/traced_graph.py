"""The graph that a trace records: its calls in order, under the names that torch.fx would give them.

torch.fx's own graph is made to be transformed: it keeps lists of users, checks each argument several times and looks for each
name from 1 on.  A trace at another size is looked at once and dropped, and an import makes fifty of them, so this one holds
what lowering.py reads and no more."""

import builtins
import functools
import keyword
import re

TAKEN = frozenset([*keyword.kwlist, *vars(builtins), "inf", "nan", "NoneType", "torch", "device", "fx_pytree", "pytree"])
NUMBERED = re.compile(r"(.*)_(\d+)$")


class Node:
    """One call, input or attribute.  args and kwargs hold other nodes and plain values."""

    __slots__ = ("op", "target", "args", "kwargs", "name", "meta", "users")

    def __init__(self, op, target, args, kwargs, name):
        self.op = op
        self.target = target
        self.args = args
        self.kwargs = kwargs
        self.name = name
        self.meta = {}
        self.users = []  # the calls that take it

    def __repr__(self):
        return self.name


def map_nodes(tree, function):
    """The same arguments with function(node) in place of each node."""
    if isinstance(tree, Node):
        return function(tree)
    if isinstance(tree, tuple):
        parts = [map_nodes(part, function) for part in tree]
        return type(tree)(*parts) if hasattr(tree, "_fields") else tuple(parts)
    if isinstance(tree, list):
        return [map_nodes(part, function) for part in tree]
    if isinstance(tree, dict):
        return {key: map_nodes(value, function) for key, value in tree.items()}
    if isinstance(tree, slice):
        return slice(map_nodes(tree.start, function), map_nodes(tree.stop, function), map_nodes(tree.step, function))
    return tree


@functools.lru_cache(maxsize=1 << 14)
def parted(wanted):
    """(base, number) of a wanted name as an identifier, and that identifier."""
    plain = re.sub("[^0-9a-zA-Z_]+", "_", wanted)
    plain = "_" + plain if plain[0].isdigit() else plain
    match = NUMBERED.match(plain)
    name = (match.group(1), int(match.group(2))) if match else (plain, 0)
    return name, "%s_%d" % name if match else plain


def snake_case(text):
    return re.sub(r"(?<=[a-z])([A-Z])", r"_\1", text).lower()


class Recording:
    def __init__(self):
        self.nodes = []
        self.used = set()  # names
        self.reached = {}  # wanted name -> the number that it got last
        self.bases = {}  # target -> the name that its nodes want

    def create_node(self, op, target, args, kwargs, name=None, type_expr=None):
        node = Node(op, target, args, kwargs, self.create_name(self._target_to_str(target) if name is None else name))
        self.nodes.append(node)
        return node

    def keep(self, node, taken):
        """Of a call that gave a tensor: tells the nodes among its arguments who takes them."""
        for other in taken:
            other.users.append(node)

    def drop_last(self):
        self.nodes.pop()

    def _target_to_str(self, target):  # torch.fx's own Proxy asks for it
        base = self.bases.get(target)
        if base is None:
            base = target.__name__ if callable(target) else target
            base = self.bases[target] = snake_case(base[2:-2] if base.startswith("__") and base.endswith("__") and not callable(target) else base)
        return base

    def create_name(self, wanted):
        name = self.reached.get(wanted)
        if name is None:
            name, plain = parted(wanted)
        else:
            name = (name[0], name[1] + 1)
            plain = "%s_%d" % name
        base, number = name
        while plain in self.used or plain in TAKEN:
            number += 1
            plain = "%s_%d" % (base, number)
        self.used.add(plain)
        self.reached[wanted] = (base, number)
        return plain
