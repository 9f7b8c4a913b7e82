"""Numbers of a graph that places are compared with: a window of attention, a diagonal, the width of a bucket.

A place is an index that the graph makes itself (arange), or a value that is computed from one.  If the sizes of a check case are too small to reach
a threshold, the case does not show whether a kernel respects it."""

COMPARED = {"gt": ("other",), "ge": ("other",), "lt": ("other",), "le": ("other",), "eq": ("other",), "clamp": ("min", "max")}
DIAGONALS = ("tril", "triu", "causal_mask")
SOURCES = ("arange", "full")


def found(lowering):
    """[(index of a node, attribute)] of the thresholds."""
    places, all_found = set(), []
    for i, node in enumerate(lowering.nodes):
        made = node["op"] in SOURCES or bool(node["in"]) and all(name in places for name in node["in"])
        if made:
            places.add(node["out"])
        names = ("diagonal",) if node["op"] in DIAGONALS else COMPARED.get(node["op"], ()) if made else ()
        all_found += [(i, name) for name in names if name in node["attr"]]
    return all_found


def of(lowering):
    """Their values."""
    return [lowering.nodes[i]["attr"][name] for i, name in found(lowering)]


def may_be(number, lowering):
    """Whether a threshold may come from this number: a window of 128 may be written as 127 or -128."""
    return any(abs(abs(value) - number) <= 1 for value in of(lowering))


def reaches(graph, i, value):
    """Whether a node has places on both sides of the threshold."""
    return max(graph.nodes[i]["shape"], default=1) > abs(value)


def fixed(lowerings):
    """[(index of a node, value)] of the thresholds that are the same in all traces."""
    return [(i, lowerings[0].nodes[i]["attr"][name]) for i, name in found(lowerings[0])
            if len({lowering.nodes[i]["attr"][name] for lowering in lowerings}) == 1]  # fmt: skip
