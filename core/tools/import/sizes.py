"""Finds the expression behind a number that several traces saw, each at other values of the named dims."""

from refusal import Refused


def only_dim_changed(assignments, name):
    base = assignments[0]
    return [i for i, a in enumerate(assignments) if all(a[other] == base[other] for other in base if other != name)]


def affine(samples):
    """slope * d + offset with whole numbers, or None."""
    (d0, v0), (d1, v1) = samples[0], samples[1]
    if (v1 - v0) % (d1 - d0):
        return None
    slope = (v1 - v0) // (d1 - d0)
    return slope, v0 - slope * d0


def signed(offset):
    return "" if offset == 0 else " + %d" % offset if offset > 0 else " - %d" % -offset


def affine_text(slope, name, offset):
    return (name if slope == 1 else "%d * %s" % (slope, name)) + signed(offset)


def fits(samples, function):
    return all(function(d) == v for d, v in samples)


def one_dim(name, samples):
    """An expression in one dim for samples [(dim, value)], or None.  Covers pools and strided windows: k * ((d + a) / s + b)."""
    line = affine(samples)
    if line and fits(samples, lambda d: line[0] * d + line[1]):
        return affine_text(line[0], name, line[1])
    values = [v for _, v in samples]
    for factor in sorted({f for f in range(1, max(values) + 1) if all(v % f == 0 for v in values)}, reverse=True):
        for step in range(2, 17):
            for shift in sorted(range(-16, 17), key=abs):
                if any(d + shift < 0 for d, _ in samples):
                    continue
                rest = samples[0][1] // factor - (samples[0][0] + shift) // step
                if abs(rest) <= 1 and fits(samples, lambda d: factor * ((d + shift) // step + rest)):
                    inner = (name if shift == 0 else "(%s%s)" % (name, signed(shift))) + " / %d" % step + signed(rest)
                    return inner if factor == 1 else "%d * (%s)" % (factor, inner)
    return None


def product(names, assignments, values):
    """factor * d1 * d2 ..., or None."""
    base = 1
    for name in names:
        base *= assignments[0][name]
    if values[0] % base:
        return None
    factor = values[0] // base
    for assignment, value in zip(assignments, values):
        whole = factor
        for name in names:
            whole *= assignment[name]
        if whole != value:
            return None
    return " * ".join(([str(factor)] if factor != 1 else []) + list(names))


def total(names, assignments, values):
    """a1 * d1 + a2 * d2 + offset, or None."""
    slopes = []
    for name in names:
        picked = only_dim_changed(assignments, name)
        line = affine([(assignments[i][name], values[i]) for i in picked])
        if line is None:
            return None
        slopes.append(line[0])
    offset = values[0] - sum(s * assignments[0][n] for s, n in zip(slopes, names))
    for assignment, value in zip(assignments, values):
        if sum(s * assignment[n] for s, n in zip(slopes, names)) + offset != value:
            return None
    return " + ".join(affine_text(s, n, 0) for s, n in zip(slopes, names)) + signed(offset)


def expression(assignments, values, what):
    """The text for one integer, given what it was in each trace (assignments[i]: dim name -> value)."""
    if all(value == values[0] for value in values):
        return str(values[0])
    moved = []
    for name in assignments[0]:
        picked = only_dim_changed(assignments, name)
        if any(values[i] != values[0] for i in picked):
            moved.append((name, picked))
    text = None
    if len(moved) == 1:
        name, picked = moved[0]
        samples = sorted({(assignments[i][name], values[i]) for i in range(len(values))})
        text = one_dim(name, samples) if len(samples) > 1 else None
    elif moved:
        names = [name for name, _ in moved]
        text = product(names, assignments, values) or total(names, assignments, values)
    if text is None:
        seen = ", ".join("%s -> %d" % (" ".join("%s=%d" % pair for pair in a.items()), v) for a, v in zip(assignments[:4], values))
        raise Refused("%s depends on the named dims in a way that no expression covers (%s); leave a dim out of --dim" % (what, seen))
    return text


def pick(assignments, values, what):
    """Text, real or truth of a leaf: integers may follow the dims, everything else has to stay what it was."""
    first = values[0]
    if type(first) is int and all(type(value) is int for value in values):
        return expression(assignments, values, what)
    if any(value != first for value in values):
        raise Refused("%s changes with the named dims and is no integer (%r, then %r); leave a dim out of --dim" % (
            what, first, next(value for value in values if value != first)))
    return first
