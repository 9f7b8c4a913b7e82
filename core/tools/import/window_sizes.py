"""Output sizes of convolutions and pools, as functions of one dim.  Kernel, stride and padding give the function, so no further trace is
needed to distinguish it from other functions that agree at the sizes that were traced.

A window function is (name, step, shift, rest): (d + shift) / step + rest, rounded down, with 0 <= shift < step.  Several windows in sequence
are one such function: ((d + a) / m + b) / n = (d + a + b m) / (m n)."""


def value_at(function, d):
    _, step, shift, rest = function
    return (d + shift) // step + rest


def slid_over(function, kernel, stride, padding, dilation):
    """Returns the function of the output's size, when a window slides over a dim whose size has the given function."""
    name, step, shift, rest = function
    moved = shift + step * (rest + 2 * padding - dilation * (kernel - 1) - 1)
    return name, step * stride, moved % (step * stride), 1 + moved // (step * stride)


def each(value, spatial, axis):
    return value[axis % len(value)] if isinstance(value, (tuple, list)) else value


def windows_of(versions, vectors):
    """[(kernel, stride, padding, dilation)] of a node's windows along its last dims, or [] where it has none or their numbers depend on the dims.
    versions: the node in all traces; vectors: name -> its shape, each size a tuple over the traces."""
    node = versions[0]
    op, attributes = node["op"], node["attr"]
    if not op.startswith(("conv", "max_pool", "avg_pool")) or op.startswith("conv_transpose") or attributes.get("ceil_mode"):
        return []
    if any(version["attr"] != attributes for version in versions):
        return []
    spatial = int(op[-2])
    found = []
    for axis in range(spatial):
        if op.startswith("conv"):
            kernels = set(vectors.get(node["in"][1], ())[2 + axis : 3 + axis])
            kernel = next(iter(kernels))[0] if kernels and len(set(next(iter(kernels)))) == 1 else None
            stride = attributes.get("stride", 1)
        else:
            kernel = each(attributes["kernel_size"], spatial, axis)
            stride = attributes.get("stride") or attributes["kernel_size"]
        window = (kernel, each(stride, spatial, axis), each(attributes.get("padding", 0), spatial, axis), each(attributes.get("dilation", 1), spatial, axis))
        if not all(type(number) is int for number in window):
            return []
        found.append(window)
    return found
