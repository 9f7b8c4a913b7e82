"""Chooses the check cases: small, odd, prime sizes at which the model has the same graph, and the domain of each dim."""

import math

import torch

import thresholds
from expected_sizes import expected

CHECK_ELEMENTS = 1 << 18  # most elements of all tensors of a check case together
CHECK_WORK = 4e6  # most operations of a check case's reference
SETTLED_NORMS = 3  # a network with this many norms one after another needs norms of many numbers
SETTLED_COUNT = 8  # the least numbers that each norm must take: of one or two it gives the same values always, and of few its bounds are wide
SETTLED_WIDTH = 16
DEEP_PRODUCTS = 9  # from this many products one after another, bounds come from evaluations with random errors
LONGER_WORK = 1e7  # most operations of an additional case, which gives a second size to dims that have only one
COSTLY_WORK = 3e8  # most operations of a case that is searched
DEAR_WORK = 1e8  # if all cases have more operations, the least case is made smaller and the others are left out
MOST_SHRUNK = 4  # most smaller values of a dim that are tried
LEAST_PUBLISHED = 8  # a dim whose published size is larger reaches up to this size
GROWING = (8, 16, 33, 47, 64, 97, 128, 193, 257)
LIVE_RELUS = 6  # with this many relus, a narrow network may give the same outputs for all inputs
LIVE_SIZES = (9, 16, 33)
LIVE_CHANNELS = 16  # a network whose relus have this many channels is not examined
LIVE_SHARE = 0.4  # share of outputs that must depend on the inputs; a relu at the end leaves about a half
PRODUCTS = {"linear": -1, "matmul": -1, "bmm": -1}
RELUS = ("relu", "relu6")
NORMS_BY_CHANNEL = ("batch_norm", "instance_norm", "group_norm")


def highest(values, published):
    """The most of a dim's domain: its published size, or more if this size is small."""
    return published if published > LEAST_PUBLISHED else max(values + [published])


def with_shapes(lowering, tensor_names):
    """Each node, and the shapes of all tensors up to its own."""
    shapes = {tensor_names[key]: tuple(shape) for key, shape in lowering.shapes.items()}
    shapes.update({name: tensor["shape"] for name, tensor in lowering.extra.items()})
    for node in lowering.nodes:
        shapes[node["out"]] = tuple(node["shape"])
        for extra, _, shape in node.get("more", ()):
            shapes[extra] = tuple(shape)
        yield node, shapes


def normalised_sizes(node, shape):
    """(sizes whose product is how many numbers a norm takes, the divisor of this product); None: the node is no norm of this kind."""
    op, attributes = node["op"], node["attr"]
    if op == "batch_norm" and attributes.get("training"):
        return [*shape[:1], *shape[2:]], 1
    if op == "instance_norm":
        return list(shape[2:]), 1
    if op == "group_norm":
        return list(shape[1:]), attributes["num_groups"]
    if op in ("layer_norm", "rms_norm"):
        return list(attributes["normalized_shape"]), 1
    return None


def normalised(lowering, tensor_names):
    """How many numbers each norm takes, in the graph's order."""
    found = [normalised_sizes(node, node["shape"]) for node in lowering.nodes]
    return [math.prod(sizes) // divisor for sizes, divisor in filter(None, found)]


def deep(nodes):
    """Whether the graph may be one whose bounds come from evaluations with random errors (docs/numerics.md)."""
    return sum(node["op"] in PRODUCTS or node["op"].startswith("conv") for node in nodes) >= DEEP_PRODUCTS


def count_text(sizes, divisor):
    known = math.prod(int(size) for size in sizes if size.isdigit())
    moving = [size if size.isidentifier() else "(%s)" % size for size in sizes if not size.isdigit()]
    text = " * ".join(([str(known)] if known > 1 or not moving else []) + moving)
    return text if str(divisor) == "1" else "%s / %s" % (text, divisor if str(divisor).isalnum() else "(%s)" % divisor)


def conditions(probe, nodes, check):
    """What every size has to satisfy, as texts: in a deep network each norm takes numbers enough.  A norm of two numbers gives 1 and -1
    whatever they are, and the errors of their difference grow from norm to norm.  nodes: merged, their sizes are texts.  Of norms that
    follow each other the last has the fewest numbers, so only those count that have the fewest in some trace."""
    names = probe.subject.tensor_names
    counts = [normalised(lowering, names) for lowering in probe.lowerings]
    if not deep(nodes) or len(counts[0]) < SETTLED_NORMS:
        return []
    least = min([SETTLED_COUNT, min(counts[0])] + [min(counts[probe.assignments.index(case)]) for _, case in check if case in probe.assignments])
    fewest = {max(i for i, count in enumerate(seen) if count == min(seen)) for seen in counts}
    found = [normalised_sizes(node, node["shape"]) for node in nodes]
    texts = [count_text(sizes, divisor) for sizes, divisor in filter(None, found)]
    kept = dict.fromkeys(text for i, text in enumerate(texts) if i in fewest and not text.isdigit())
    return ["%s >= %d" % (text, least) for text in kept] if least > 2 else []


def least_count(lowering, tensor_names):
    """The fewest numbers that any norm takes; infinite for a graph of few norms."""
    counts = normalised(lowering, tensor_names)
    return min(counts) if len(counts) >= SETTLED_NORMS else math.inf


def work_at(probe, case):
    return work_of(probe.lowerings[probe.assignments.index(case)], probe.subject.tensor_names)


def count_at(probe, case):
    return least_count(probe.lowerings[probe.assignments.index(case)], probe.subject.tensor_names)


def traced(probe, case):
    """The Lowering of a case; None: its graph is another graph."""
    return probe.lowerings[probe.assignments.index(case)] if probe.attempt(case) is None else None


def shrunk(probe, case, moving, count, most=COSTLY_WORK):
    """Makes some dims of a case of more than `most` operations smaller, such that its norms still take `count` numbers."""
    if probe.expressions:  # these show which sizes are worth a trace
        found = shrunk_by(expected, probe, case, moving, count, most)
        if probe.attempt(found) is None:
            return found
    return shrunk_by(traced, probe, case, moving, count, most)


def shrunk_by(look, probe, case, moving, count, most):
    """look: gives the graph of a case."""
    names = probe.subject.tensor_names
    for name in sorted(moving, key=lambda name: -case[name]):
        if work_of(look(probe, case), names) <= most:
            break
        for value in sorted(value for value in probe.domains[name][0] if value < case[name])[:MOST_SHRUNK]:
            smaller = dict(case, **{name: value})
            graph = look(probe, smaller)
            if graph is not None and least_count(graph, names) >= count:
                case = smaller
                break
    return case


def grown_to(probe, size, moving, least):
    """Sizes of at least `least`: about `size` of those that decide how many numbers a norm has, and layers of some width."""
    grown, base = dict(least), probe.subject.base
    for name, (values, multiple) in probe.domains.items():
        wanted = size if name in moving else SETTLED_WIDTH  # with a single channel the first relu may give only zeros
        most = highest(values, base[name])
        if name in moving and base[name] <= LEAST_PUBLISHED:
            most = max(most, SETTLED_COUNT)  # if two is the most of a batch, eight may be allowed too
        grown[name] = max(least[name], min(most, -(-wanted // multiple) * multiple))
    return grown


def settled(probe, least):
    """[(label, assignment)] of cases whose norms have numbers enough, grown from the least; where there are none, the one in which the
    smallest norm has most, if that is more than two."""
    names = probe.subject.tensor_names
    counts = [normalised(lowering, names) for lowering in probe.lowerings]
    base = probe.subject.base
    moving = []  # the dims that decide how many numbers a norm has
    for name in probe.domains:
        for assignment, seen in zip(probe.assignments, counts):
            if assignment[name] != base[name] and all(assignment[other] == base[other] for other in base if other != name) and seen != counts[0]:
                moving.append(name)
                break
    cases, best = [], (2, None)
    minima = {name: min(values + [base[name]]) for name, (values, _) in probe.domains.items()}
    for size in GROWING if moving else ():
        sizes = [grown_to(probe, size, moving, low) for low in (minima, least)]  # the least of each dim may not go together
        grown = next((found for found in sizes if probe.attempt(found) is None), None)
        if grown is None or any(grown == other for _, other in cases):
            continue
        for name, (values, multiple) in probe.domains.items():
            if grown[name] > highest(values, base[name]):
                probe.domains[name] = (values + [grown[name]], multiple)
        count = count_at(probe, grown)
        if count >= SETTLED_COUNT:
            cases.append(("settled", shrunk(probe, grown, moving, SETTLED_COUNT)) if not cases else ("larger", grown))
        elif count > best[0]:
            best = (count, grown)
        if len(cases) == 2 or work_at(probe, grown) > COSTLY_WORK:
            break
    return cases or ([("settled", best[1])] if best[1] else [])


def flat(made):
    """All floating-point numbers of a model's results, in one tensor."""
    if isinstance(made, torch.Tensor):
        return [made.detach().double().reshape(-1)] if made.dtype.is_floating_point else []
    return [part for other in (made if isinstance(made, (tuple, list)) else ()) for part in flat(other)]


def liveness(probe, assignment):
    """The share of outputs that depend on the inputs in this case.  A relu network of one channel mostly gives zeros."""
    given = []
    try:
        model, inputs = probe.subject.variant(assignment, None)
        for seed in (1, 2):
            generator = torch.Generator().manual_seed(seed)
            drawn = {key: torch.randn(value.shape, generator=generator).to(value.dtype) if isinstance(value, torch.Tensor) and value.dtype.is_floating_point
                     else value for key, value in inputs.items()}  # fmt: skip
            torch.manual_seed(0)  # for random numbers that forward draws itself
            with torch.no_grad():
                given.append(torch.cat(flat(model(**drawn))))
    except Exception:  # a model that fails on real numbers is no reason against a size that can be traced
        return 1.0
    return float((given[0] != given[1]).double().mean())


def channels_of(node, makers):
    """How many channels a relu has.  makers: value -> the node that gives it."""
    shape, maker = node["shape"], node
    while maker is not None and maker["in"]:
        op = maker["op"]
        if op.startswith("conv") or op in NORMS_BY_CHANNEL:
            return shape[1]
        if op in PRODUCTS or op in ("layer_norm", "rms_norm"):
            return shape[-1]
        maker = makers.get(maker["in"][0])
    return min(shape[1:], default=1)


def narrowest(lowering):
    """The fewest channels of a relu."""
    makers = {node["out"]: node for node in lowering.nodes}
    return min((channels_of(node, makers) for node in lowering.nodes if node["op"] in RELUS), default=math.inf)


def live(probe, cases):
    """The cases, and one more case if too few outputs of all others depend on the inputs."""
    relus = sum(node["op"] in RELUS for node in probe.lowerings[0].nodes)
    wide = any(narrowest(probe.lowerings[probe.assignments.index(case)]) >= LIVE_CHANNELS for _, case in cases)
    most = max(liveness(probe, case) for _, case in cases) if relus >= LIVE_RELUS and not wide else 1.0
    base, least, found = probe.subject.base, cases[0][1], None
    for size in LIVE_SIZES if most < LIVE_SHARE else ():
        grown = dict(least)
        for name, (values, multiple) in probe.domains.items():
            if base[name] > 1:
                grown[name] = max(least[name], min(highest(values, base[name]), -(-size // multiple) * multiple))
        share = liveness(probe, grown) if probe.attempt(grown) is None else 0.0
        if share > most:
            most, found = share, grown
        if share >= LIVE_SHARE:
            break
    return cases + [("live", found)] if found else cases


def work_of(lowering, tensor_names):
    """About how many operations the graph takes."""
    total = 0.0
    for node, shapes in with_shapes(lowering, tensor_names):
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


def longer(probe, cases):
    """One more case in which dims that have the same size in all others are larger: of one block of a sequence nothing is carried on.
    The other dims are not 1 there if that costs little, for the order of dims does not show where all but one of them are 1."""
    for before in list({id(case): case for _, case in cases[-1:] + cases[:1]}.values()):
        found = longer_than(probe, cases, before)
        if found:
            return [("longer", found)]
    return []


def longer_than(probe, cases, before):
    least = dict(before)
    for name, value in list(least.items()):
        larger = [other for other in sorted({*probe.domains[name][0], probe.subject.base[name]}) if value < other <= highest(probe.domains[name][0], probe.subject.base[name])]
        if larger and all(case[name] == value for _, case in cases) and probe.attempt(dict(least, **{name: larger[0]})) is None:
            least[name] = larger[0]
    if least == before or probe.attempt(least) is not None or work_at(probe, least) > LONGER_WORK:
        return None
    return least


def reaching(probe, cases):
    """The cases, and one more case if a threshold that is written in the model is larger than all of them reach."""
    base, added = probe.subject.base, []
    for i, value in thresholds.fixed(probe.lowerings):
        node = probe.lowerings[0].nodes[i]
        if any(thresholds.reaches(traced(probe, case), i, value) for _, case in cases + added) or not thresholds.reaches(probe.lowerings[0], i, value):
            continue
        most = max(node["shape"])
        for name in [name for name in probe.domains if base[name] > abs(value)]:
            multiple = probe.domains[name][1]
            larger = dict(cases[0][1], **{name: min(base[name], (int(abs(value)) // multiple + 1) * multiple)})
            graph = traced(probe, larger)
            if graph is not None and thresholds.reaches(graph, i, value) and work_of(graph, probe.subject.tensor_names) <= COSTLY_WORK:
                added.append(("reaching", larger))
                break
        else:
            probe.notes.append("no check case reaches the %g that line %d compares places with, of which there are %d: a kernel that forgets it may be accepted; "
                               "make it an argument of Model, or edit the cases" % (value, node["line"], most))  # fmt: skip
    return cases + [("reaching%s" % (number or ""), case) for number, (_, case) in enumerate(added)]


def choose(probe):
    """[(label, assignment)] of the check cases.  Where even the smallest are large, the two least of what there is."""
    names = list(probe.domains)
    if not names:
        return [("as_given", {})]
    base = probe.subject.base
    compared = [name for name in names if probe.is_threshold(name)]
    cases, large = [], []
    for number, label in enumerate(("smallest", "odd", "uneven", "larger")):
        assignment = {}
        for i, name in enumerate(names):
            values, multiple = probe.domains[name]
            few = base[name] <= LEAST_PUBLISHED  # of such a dim, say a batch, more than was published is small too
            small = [value for value in sorted({*values, base[name]}) if (few or value < base[name]) and value <= 64 * multiple] or [min(values + [base[name]])]
            pick = 0 if number == 0 else (len(small) - 1 if number == 3 else 2 * number + i - 1)
            pick = min(pick, 1) if name in compared else pick  # so small that the other sizes reach it
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
    cases += longer(probe, cases)
    joint = probe.joint
    if joint and not cases and set(joint) == set(names) and probe.attempt(joint) is None:
        large.append(("least", dict(joint), 0.0))
    if not cases:
        cases = [(label, assignment) for label, assignment, _ in sorted(large, key=lambda entry: entry[2])[:2]]
    counts = [count_at(probe, case) for _, case in cases]
    if cases and max(counts) < SETTLED_COUNT:
        cases = settled(probe, cases[0][1]) or cases
    elif deep(probe.lowerings[0].nodes):
        cases = [case for case, count in zip(cases, counts) if count >= SETTLED_COUNT]
    if cases and min(work_at(probe, case) for _, case in cases) > DEAR_WORK:
        label, least = min(cases, key=lambda pair: work_at(probe, pair[1]))
        cases = [(label, shrunk(probe, least, names, min(SETTLED_COUNT, count_at(probe, least)), DEAR_WORK))]
    return reaching(probe, live(probe, cases)) if cases else [("as_given", dict(base))]
