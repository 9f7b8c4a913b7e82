"""Traces a model at several values of its dims and merges the traces into one graph of expressions.

A dim is a number of the user's file (user_file.py), or axes that --dim named.  An expression enters the graph only if it gives the right number in
each trace."""

import torch

import sizes
import thresholds
from check_cases import LEAST_PUBLISHED
from refusal import Refused
from window_sizes import windows_of

SMALL = (1, 2, 3, 5, 7, 8, 16, 31, 33)
LADDER = (1, 2, 3, 5, 7, 11, 13, 17, 23, 29, 31, 33, 47, 64, 67, 97, 128, 131, 193, 257, 512, 1024)
MULTIPLES = (2, 4, 8, 16, 32, 64, 128)
MOST_MULTIPLES = 16  # most multiples of one dim that are tried
SMALLEST_WIDTH = 16  # the least number that counts as a size if it shows only in parameters' shapes
MOST_RESTRICTED = 16  # the largest number of which a dim is made a multiple, so that expressions cover the sizes that depend on it
SETTLED = 4  # how many values of a dim are tried besides the published one
SETTLED_LARGE = 2  # of a graph of LARGE nodes, whose traces cost most of an import; what is then in doubt is traced again (import_task.py)
LARGE = 250
BUDGET = 11000  # nodes that are traced to look for dims; those not looked at by then stay as they are
MODEL_COST = 0.25  # making one parameter or buffer counts as this many nodes


def outline(lowering):
    """The parts of a graph that must be equal in all traces: operations, operands, kinds of attributes, ranks."""
    return [
        (n["op"], n["in"], n["out"], n["dtype"], len(n["shape"]),
         sorted((k, type(v), len(v) if isinstance(v, tuple) else 0) for k, v in n["attr"].items()))
        for n in lowering.nodes
    ] + [lowering.outputs, list(lowering.extra)]  # fmt: skip


class Probe:
    """All traces so far: assignments[i] belongs to lowerings[i]; the first is the file's own sizes."""

    def __init__(self, subject):
        self.subject = subject
        self.assignments = [dict(subject.base)]
        self.lowerings = [subject.lower(subject.base)]
        self.outline = outline(self.lowerings[0])
        self.failures = {}  # assignment that was tried -> why it failed
        self.domains = {}
        self.notes = []
        self.extra_shapes = {}
        self.joint = None  # the least sizes that work together, if the least size of each dim does not work with the others
        self.settled = SETTLED if len(self.outline) < LARGE else SETTLED_LARGE
        self.moved_together = set()  # ids of literals that were changed at the same time and have no domain
        self.waits = len(self.outline) >= LARGE  # smaller values of a dim are searched after the other dims have been found
        self.waiting = {}  # dim -> the values that will be tried
        self.together = {}  # dim -> small values that were traced only together with small values of other dims
        self.expressions = None  # the last result of merged()
        self.spent = 0.0

    def attempt(self, assignment):
        """Traces an assignment.  Returns None if the graph is the same, else the reason."""
        if assignment in self.assignments:
            return None
        key = tuple(assignment.items())
        if key not in self.failures:
            self.failures[key] = self.trace(assignment)
        return self.failures[key]

    def spend(self):
        self.spent += 1

    def trace(self, assignment):
        self.spent += MODEL_COST * len(self.subject.parameters)
        try:
            lowering = self.subject.lower(assignment, self.lowerings[0].calls, self.spend)
        except Refused as refusal:
            return refusal.sentences[0]
        if outline(lowering) != self.outline:
            return "the graph is another one"
        self.assignments.append(dict(assignment))
        self.lowerings.append(lowering)
        return None

    def name_dims(self):
        """Finds the domains of the dims that the user named.  Each must be able to change alone."""
        for name in self.subject.base:
            self.domains[name] = self.probe_dim(name)
        if len(self.subject.base) > 1:
            together = {name: values[0] for name, (values, _) in self.domains.items()}
            failure = self.attempt(together)
            if failure:
                raise Refused("the model does not trace with %s: %s" % (
                    ", ".join("%s = %d" % pair for pair in together.items()), failure))

    def probe_dim(self, name):
        """Other values at which the model has the same graph, and what they are multiples of."""
        base = self.subject.base[name]
        failure = None
        for multiple in (1,) + tuple(m for m in MULTIPLES if base % m == 0):
            values = []
            for value in sorted({v * multiple for v in SMALL} | {base + multiple}):
                if value == base:
                    continue
                problem = self.attempt(dict(self.subject.base, **{name: value}))
                failure = failure or problem
                if problem is None:
                    values.append(value)
            if any(value % (2 * multiple) for value in values) or len(values) > 3:
                return values, multiple
        raise Refused("--dim %s: the size cannot change: %s" % (name, failure))

    # --- dims that nobody named

    def find_dims(self):
        """Gives every literal that can move a domain, and drops the others.  Later literals move beside the small values of
        those before them, where that works, so the domains hold together."""
        subject = self.subject
        for name in list(subject.base):
            domain = self.search_dim(name, not self.waits) if self.spent < BUDGET else None
            if domain:
                self.domains[name] = domain
            if domain and self.waits:
                self.waiting[name] = self.smaller(name, domain[1])[: self.settled]
                self.spent += self.price_of_waiting()
                if len(self.waiting) in (2, 4, 8) and not self.works_together(0):
                    self.waits = False  # as in most networks of images: a height of 1 goes with no width of 1
                    self.find_smaller_together()
        self.find_smaller_together()
        for name in list(subject.base):
            self.find_followers(name)
        self.keep_only(self.domains)

    def find_followers(self, name):
        """Changes a size that stands in the file several times in all its places at the same time."""
        base, literal = self.subject.base[name], self.subject.literals[name]
        others = [other for key, other in self.subject.literals.items() if other.value == base and other is not literal and other.node]
        taken = any(literal in other.followers for other in self.subject.literals.values())
        if base < SMALLEST_WIDTH:  # a kernel or a count may be as large; numbers of get_inputs are sizes
            inputs = self.subject.file.of_inputs_alone
            others = [other for other in others if id(other.node) in inputs] if base > 1 and id(literal.node) in inputs else []
        if name in self.domains or taken or not others or literal.multiples:
            return
        free = [other for other in others if other.name not in self.domains and not other.followers]
        for group in [[other] for other in free] + [[other] for other in others if other not in free] + [free, others]:
            moving = frozenset(map(id, [literal, *group]))
            if not group or moving in self.moved_together or self.spent > BUDGET:
                continue
            self.moved_together.add(moving)
            literal.followers = group
            self.failures = {}
            domain = self.search_dim(name)
            if domain:
                self.domains[name] = domain
                for other in group:
                    if other.name in self.domains:  # it moved alone, and moves with this one as well: one dim of the two
                        self.domains.pop(other.name)
                return
        literal.followers = []

    def join_domains(self):
        """Searches small sizes of all dims at the same time.  Drops a dim that has no small size together with others."""
        joint = dict(self.subject.base)
        small = {name: min(values) for name, (values, _) in self.domains.items()}
        if not small or self.attempt(small) is None:
            return
        lost = []
        for name, (values, _) in self.domains.items():
            base, multiple = self.subject.base[name], self.domains[name][1]
            for value in sorted({v for v in values if v <= base} | {step * multiple for step in LADDER if min(values) <= step * multiple < base} | {base}):
                failure = self.attempt(dict(joint, **{name: value}))
                if failure is None:
                    joint[name] = value
                    break
            else:
                lost.append(name)
        self.joint = joint
        if lost:
            self.keep_only([name for name in self.domains if name not in lost])

    def keep_only(self, names):
        """Forgets the other dims, and the traces that had them elsewhere."""
        base = self.subject.base
        kept = [i for i, a in enumerate(self.assignments) if all(a[name] == base[name] for name in base if name not in names)]
        self.assignments = [{name: self.assignments[i][name] for name in names} for i in kept]
        self.lowerings = [self.lowerings[i] for i in kept]
        for name in list(base):
            if name not in names:
                del base[name]
                self.subject.literals.pop(name, None)
                self.domains.pop(name, None)
        self.failures = {}
        self.expressions = None

    def restrict(self, name):
        """Doubles the number of which a dim is a multiple: a size without an expression may be half of an odd number.  False: not possible."""
        values, multiple = self.domains[name]
        base, multiple = self.subject.base[name], 2 * multiple
        if base % multiple or multiple > MOST_RESTRICTED:
            return False
        self.assignments, self.lowerings = zip(*[pair for pair in zip(self.assignments, self.lowerings) if pair[0][name] % multiple == 0])
        self.assignments, self.lowerings = list(self.assignments), list(self.lowerings)
        kept = [value for value in values if value % multiple == 0]
        for value in [step * multiple for step in LADDER if step * multiple < base] + [base + step * multiple for step in (1, 2, 3)]:
            if len(kept) <= self.settled and value not in kept and self.works(name, value):
                kept.append(value)
        if len(kept) < self.settled:
            return False
        self.domains[name] = (sorted(kept), multiple)
        if self.joint and self.joint.get(name, 0) % multiple:
            self.joint = None
        return True

    def works(self, name, value):
        return value >= 1 and self.attempt(dict(self.subject.base, **{name: value})) is None

    def search_dim(self, name, smaller=True):
        """(values, multiple) at which the graph is the same and the shapes move, or None.  smaller: smaller values are looked for too."""
        base = self.subject.base[name]
        if not self.may_move(name, base):
            return None
        if not self.works(name, base + 1) and not self.works(name, 2 * base):
            return None  # a number that cannot even be doubled is no dim
        for multiple in [m for m in range(1, min(base, 4096) + 1) if base % m == 0][:MOST_MULTIPLES]:
            if not self.works(name, base + multiple):
                continue
            if not self.moves(name, base):
                return None
            return self.with_smaller(name, multiple) if smaller else ([base + multiple], multiple)
        return None

    def smaller(self, name, multiple):
        return [step * multiple for step in LADDER if step * multiple < self.subject.base[name]]

    def with_smaller(self, name, multiple, known=()):
        """The same of a dim that was seen to move by a multiple.  known: values that need no trace."""
        base = self.subject.base[name]
        values = [base + multiple]
        for value in self.smaller(name, multiple):
            if value in known or self.works(name, value):
                values.append(value)
            if len(values) > self.settled:
                break
        if base > LEAST_PUBLISHED and min(values) > base:
            return None  # it can only grow, and no case is larger than the published size
        for value in (base + 2 * multiple, base + 3 * multiple):
            if len(values) < 3 and self.works(name, value):
                values.append(value)
        return sorted(values), multiple

    def price_of_waiting(self):
        return self.settled * len(self.lowerings[0].calls)

    def works_together(self, i):
        sizes = {name: own[i] for name, own in self.waiting.items() if i < len(own)}
        return self.attempt(dict(self.subject.base, **sizes)) is None

    def find_smaller_together(self):
        """The smaller values of the dims of a large graph that wait for them: the least of all are traced at once, and then the next."""
        self.spent -= self.price_of_waiting() * len(self.waiting)
        for i in range(self.settled):
            self.trace_together({name: own[i] for name, own in self.waiting.items() if i < len(own)})
        for name in self.waiting:
            domain = self.with_smaller(name, self.domains[name][1], self.together.get(name, ()))
            if domain:
                self.domains[name] = domain
            else:
                self.domains.pop(name)
        self.waiting = {}

    def trace_together(self, sizes):
        """Traces the sizes at once, or one half of them and the other where that does not work."""
        if len(sizes) > 1 and self.attempt(dict(self.subject.base, **sizes)) is None:
            for name, value in sizes.items():
                self.together.setdefault(name, []).append(value)
        elif len(sizes) > 2:
            names = list(sizes)
            for half in (names[: len(names) // 2], names[len(names) // 2 :]):
                self.trace_together({name: sizes[name] for name in half})

    def trace_alone(self):
        """Traces each dim alone at the small sizes that were traced together; False: all of them were."""
        together, self.together = self.together, {}
        return any([name in self.domains and self.works(name, value) for name, values in together.items() for value in values])

    def is_wide(self, name, base):
        """Whether the number counts as a size even if it shows only in a parameter's shape."""
        return base >= SMALLEST_WIDTH or (name in self.subject.literals and self.subject.literals[name].multiples)

    def may_move(self, name, base):
        """Whether a trace can show that the number is a size: a small one of the model that moves no input is none, which is told without a trace,
        where it is no threshold."""
        literal = self.subject.literals.get(name)
        if self.is_wide(name, base) or literal is None or id(literal.node) in self.subject.file.of_inputs_alone:
            return True
        if thresholds.may_be(base, self.lowerings[0]):
            return True
        for value in (base + 1, 2 * base):
            try:
                _, inputs = self.subject.traced(dict(self.subject.base, **{name: value}))
            except Refused:
                continue
            if any(isinstance(other, torch.Tensor) and other.shape != getattr(inputs.get(key), "shape", None) for key, other in self.subject.inputs.items()):
                return True
        return False

    def moves(self, name, base):
        """Whether the number is a size: it shows in the shape of an input, or is large and shows in a parameter's, or is a threshold of places.
        Small ones that do not (a stride, a kernel, a number of groups or heads) say how the model works."""
        wide = self.is_wide(name, base)
        keys = [key for key in self.lowerings[0].used if wide or key in self.subject.inputs]
        for assignment, lowering in zip(self.assignments, self.lowerings):
            if assignment[name] != base:
                return self.reshapes(lowering, keys) or thresholds.of(lowering) != thresholds.of(self.lowerings[0])
        return False

    def reshapes(self, lowering, keys):
        return any(lowering.shapes[key] != self.lowerings[0].shapes[key] for key in keys)

    def is_threshold(self, name):
        """Whether a dim changes no tensor's shape."""
        moved = [lowering for assignment, lowering in zip(self.assignments, self.lowerings) if all(
            (assignment[other] != value) == (other == name) for other, value in self.subject.base.items())]  # fmt: skip
        return bool(moved) and not any(self.reshapes(lowering, self.lowerings[0].used) for lowering in moved)

    # --- the merged graph

    def merged(self):
        """(nodes, shapes): the graph's nodes and the shape of each tensor, as expressions."""
        self.sizes = sizes.Sizes(self.assignments, {name: multiple for name, (_, multiple) in self.domains.items()})
        first = self.lowerings[0]
        shapes = {}
        for key in self.subject.tensor_names:
            if key in first.used:
                versions = [tuple(lowering.shapes[key]) for lowering in self.lowerings]
                shapes[key] = self.leaf(versions, "the shape of %s" % key, ())
        vectors = {self.subject.tensor_names[key]: list(zip(*[lowering.shapes[key] for lowering in self.lowerings])) for key in first.used}
        for name in first.extra:
            versions = [lowering.extra[name]["shape"] for lowering in self.lowerings]
            self.extra_shapes[name] = self.leaf(versions, "the shape of %s" % name, ())
            vectors[name] = list(zip(*versions))
        nodes = []
        for i, node in enumerate(first.nodes):
            versions = [lowering.nodes[i] for lowering in self.lowerings]
            what = "%s:%d: %s" % (self.subject.path, node["line"], node["op"])
            context = [axis for operand in node["in"] for axis in vectors.get(operand, ())]
            vectors[node["out"]] = list(zip(*[version["shape"] for version in versions]))
            windows = windows_of(versions, vectors)
            told = self.sizes.follow_windows(windows, vectors[node["in"][0]], vectors[node["out"]]) if windows else ()
            for axis in vectors[node["out"]]:
                if axis not in told and axis not in context:
                    self.sizes.not_a_window(axis)
            shape = self.leaf([version["shape"] for version in versions], what + ": its shape", context)
            context = context + vectors[node["out"]]
            attributes = {
                key: self.leaf([version["attr"][key] for version in versions], "%s: %s" % (what, key), context) for key in node["attr"]
            }
            merged = dict(node, attr=attributes, shape=shape)
            if node.get("more"):
                merged["more"] = []
                for j, (name, dtype, _) in enumerate(node["more"]):
                    seen = [version["more"][j][2] for version in versions]
                    vectors[name] = list(zip(*seen))
                    merged["more"].append((name, dtype, self.leaf(seen, what + ": its shape", context)))
            nodes.append(merged)
        self.expressions = nodes, shapes
        return nodes, shapes

    def leaf(self, values, what, context):
        if values.count(values[0]) == len(values) and isinstance(values[0], tuple):
            return tuple(self.leaf([value], what, context) for value in values[0])
        if isinstance(values[0], tuple):
            return tuple(self.leaf([value[i] for value in values], what, context) for i in range(len(values[0])))
        return self.sizes.pick(values, what, context)
