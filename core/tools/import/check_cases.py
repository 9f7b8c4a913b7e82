"""Chooses the check cases: small, odd, prime sizes at which the model has the same graph, and the domain of each dim."""

import math

CHECK_ELEMENTS = 1 << 18  # of all tensors of a check case together
CHECK_WORK = 4e6  # operations of its reference
PRODUCTS = {"linear": -1, "matmul": -1, "bmm": -1}


def work_of(lowering, tensor_names):
    """About how many operations the graph takes."""
    shapes = {tensor_names[key]: tuple(shape) for key, shape in lowering.shapes.items()}
    shapes.update({name: tensor["shape"] for name, tensor in lowering.extra.items()})
    total = 0.0
    for node in lowering.nodes:
        shapes[node["out"]] = tuple(node["shape"])
        for extra, _, shape in node.get("more", ()):
            shapes[extra] = tuple(shape)
        made = math.prod(node["shape"])
        op, operands = node["op"], [shapes[name] for name in node["in"]]
        if op in PRODUCTS:
            made *= 2 * operands[0][-1]
        elif op.startswith("conv_transpose"):
            made = 2 * math.prod(operands[0]) * math.prod(operands[1][1:])
        elif op.startswith("conv"):
            made *= 2 * math.prod(operands[1][1:])
        elif op == "scaled_dot_product_attention":
            made *= 4 * operands[1][-2]
        elif op in ("lstm", "gru"):
            made = 2 * operands[0][0] * operands[0][1] * (math.prod(operands[-2]) + math.prod(operands[-1]))
        elif operands:
            made = max(made, max(math.prod(operand) for operand in operands))
        total += made
    return total


def elements_of(lowering):
    return sum(math.prod(lowering.shapes[key]) for key in lowering.used)


def choose(probe):
    """[(label, assignment)] of the check cases.  Where even the smallest are large, the two least of what there is."""
    names = list(probe.domains)
    if not names:
        return [("as_given", {})]
    base = probe.subject.base
    cases, large = [], []
    for number, label in enumerate(("smallest", "odd", "uneven", "larger")):
        assignment = {}
        for i, name in enumerate(names):
            values, multiple = probe.domains[name]
            small = [value for value in values if value < max(base[name], 2) and value <= 64 * multiple] or [min(values + [base[name]])]
            pick = 0 if number == 0 else (len(small) - 1 if number == 3 else 2 * number + i - 1)
            assignment[name] = small[min(pick, len(small) - 1)]
        if any(assignment == other for _, other in cases) or any(assignment == other for _, other, _ in large):
            continue
        if probe.attempt(assignment) is not None:
            continue
        lowering = probe.lowerings[probe.assignments.index(assignment)]
        work, elements = work_of(lowering, probe.subject.tensor_names), elements_of(lowering)
        if elements <= CHECK_ELEMENTS and work <= CHECK_WORK:
            cases.append((label, assignment))
        else:
            large.append((label, assignment, work + elements))
    joint = getattr(probe, "joint", None)  # the least that was seen together
    if joint and not cases and set(joint) == set(names) and probe.attempt(joint) is None:
        large.append(("least", dict(joint), 0.0))
    if not cases:
        cases = [(label, assignment) for label, assignment, _ in sorted(large, key=lambda entry: entry[2])[:2]]
    return cases or [("as_given", dict(base))]
