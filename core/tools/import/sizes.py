"""Finds an expression for a number that has one value in each of several traces, at different values of the dims."""

import math
from itertools import combinations

import window_sizes
from refusal import Refused

MOST_STEP = 512  # most steps of a strided window, or of several one after another
MOST_FACTORS = 4
MOST_PLACES = 48  # most places that are examined to distinguish expressions
MOST_SHIFTS = 6  # most shifts of one step that one round distinguishes
MOST_FITS = 512  # most expressions that are distinguished


class Unexplained(Exception):
    """A number that follows the dims in a way that no expression covers.  names: the dims that move it; in_company: whether it may be that
    they do so only where other dims move too."""

    def __init__(self, sentence, names, in_company=True):
        super().__init__(sentence)
        self.sentence = sentence
        self.names = names
        self.in_company = in_company


def signed(offset):
    return "" if offset == 0 else " + %d" % offset if offset > 0 else " - %d" % -offset


def divisors(number):
    small = [d for d in range(1, min(int(math.isqrt(number)), 4096) + 1) if number % d == 0]
    return sorted({d for s in small for d in (s, number // s)}, reverse=True)


def affine(samples):
    """(slope, offset) of slope * d + offset through whole-number samples, or None."""
    (d0, v0), (d1, v1) = samples[0], samples[-1]
    if d0 == d1 or (v1 - v0) % (d1 - d0):
        return None
    slope = (v1 - v0) // (d1 - d0)
    offset = v0 - slope * d0
    return (slope, offset) if all(slope * d + offset == v for d, v in samples) else None


def fraction(samples, multiple):
    """(p, c, q) of (p * d + c) / q that is whole at every multiple, or None."""
    (d0, v0), (d1, v1) = samples[0], samples[-1]
    common = math.gcd(v1 - v0, d1 - d0)
    p, q = (v1 - v0) // common, (d1 - d0) // common
    c = q * v0 - p * d0
    return (p, c, q) if p > 1 and q > 1 and multiple % q == 0 and all(p * d + c == q * v for d, v in samples) else None


def divided(samples):
    """(step, rest) of d / step + rest where step divides all dims seen, or None."""
    (d0, v0), (d1, v1) = samples[0], samples[-1]
    if v1 <= v0 or (d1 - d0) % (v1 - v0):
        return None
    step = (d1 - d0) // (v1 - v0)
    rest = v0 - d0 // step
    return (step, rest) if all(d % step == 0 and d // step + rest == v for d, v in samples) else None


def strided(samples):
    """[(step, shift, rest)] of all (d + shift) / step + rest, rounded down, with 0 <= shift < step, through the samples; of shifts that
    follow each other some, the first and the last among them.

    Windows one after another are one such expression: ((d + a) / m + b) / n = (d + a + b m) / (m n)."""
    low, high = samples[0], samples[-1]
    across, risen = high[0] - low[0], high[1] - low[1]
    found = []
    if across <= 0 or risen <= 0:
        return found
    for step in range(2, MOST_STEP + 1):
        if abs(across - step * risen) >= step:
            continue
        # A sample's quotient is d // step, and one more from the shift step - d % step on.
        turns = [(d // step - v, step - d % step) for d, v in samples]
        lower = min(rest for rest, _ in turns)
        least = max([turn for rest, turn in turns if rest == lower] or [0])  # from here on these are lower + 1
        most = min([turn for rest, turn in turns if rest == lower + 1] or [step]) - 1
        ranges = [(least, most, -lower - 1)] if max(rest for rest, _ in turns) <= lower + 1 else []
        if all(rest == lower for rest, _ in turns):
            ranges = [(0, min(turn for _, turn in turns) - 1, -lower), (least, step - 1, -lower - 1)]
        for first, last, rest in ranges:
            wide = min(last, step - 1) - first
            found += [(step, shift, rest) for shift in sorted({first + wide * k // MOST_SHIFTS for k in range(MOST_SHIFTS + 1)}) if wide >= 0]
    return found


def places_between(low, high, fits, multiple):
    """Dims that may tell the fits apart: some spread over what was seen, and for each fit the first at which it steps up, for two that
    differ by their shift alone differ nowhere else."""
    places = range(-(-low // multiple) * multiple, high + 1, multiple)
    found = set(places[:: max(1, len(places) // MOST_PLACES)])
    for step, shift, _ in fits:
        found.update([d for d in places[:step] if (d + shift) % step < multiple][:1])
    return sorted(found)


def telling(samples, fits, multiple):
    """A dim between those seen at which the fits differ most evenly, or None where they agree at all that were looked at."""
    best, most = None, len(fits)
    for d in places_between(samples[0][0], samples[-1][0], fits, multiple):
        counts = {}
        for step, shift, rest in fits:
            value = (d + shift) // step + rest
            counts[value] = counts.get(value, 0) + 1
        if max(counts.values()) < most:
            best, most = d, max(counts.values())
    return best


class Curve:
    """factor * inner(d): a whole-number function of one dim."""

    def __init__(self, factor, text, function, plain):
        self.factor = factor
        self.text = text  # of inner
        self.function = function
        self.plain = plain  # inner is a name or a number alone

    def whole_text(self):
        if self.factor == 1:
            return self.text
        return "%d * %s" % (self.factor, self.text if self.plain else "(%s)" % self.text)

    def joined(self):
        return self.text if self.plain else "(%s)" % self.text


def window_curve(name, step, shift, rest, factor=1):
    text = (name if shift == 0 else "(%s%s)" % (name, signed(shift))) + " / %d" % step + signed(rest)
    return Curve(factor, text, lambda d: (d + shift) // step + rest, False)


def curve(name, samples, doubts=None, multiple=1, window=None):
    """The Curve through samples [(dim, value)], or None: affine ones first, then strided windows.  doubts: takes (name, dim) where a
    sample there would tell windows apart that these samples do not; multiple: of the dims that count; window: what they are a window function
    of (window_sizes.py), where that is known."""
    samples = sorted(set(samples))
    if len(samples) < 2 or len({d for d, _ in samples}) != len(samples):
        return None
    line = affine(samples)
    if line and line[0]:
        slope, offset = line
        common = math.gcd(slope, offset) if slope > 0 else 1
        slope, offset = slope // common, offset // common
        text = ("%s" % name if slope == 1 else "%d * %s" % (slope, name)) + signed(offset)
        if slope < 0:
            text = "%d - %s" % (offset, name if slope == -1 else "%d * %s" % (-slope, name))
        return Curve(common, text, lambda d: slope * d + offset, text == name)
    if len(samples) < 3 or min(v for _, v in samples) < 0:
        return None
    part = fraction(samples, multiple)
    if part:
        p, c, q = part
        text = "%d * %s" % (p, name)
        return Curve(1, ("(%s%s)" % (text, signed(c)) if c else text) + " / %d" % q, lambda d: (p * d + c) // q, False)
    if window:
        _, step, shift, rest = window
        return window_curve(name, step, shift - shift % math.gcd(multiple, step), rest)
    common = 0
    for _, value in samples:
        common = math.gcd(common, value)
    for factor in divisors(common) if common else []:
        small = [(d, v // factor) for d, v in samples]
        whole = divided(small)
        if whole:
            step, rest = whole
            return Curve(factor, name + " / %d" % step + signed(rest), lambda d: d // step + rest, False)
        fits = strided(small)
        if fits:
            place = telling(small, fits[:MOST_FITS], multiple) if doubts is not None else None
            if place is not None:
                doubts.add((name, place))
            return window_curve(name, *fits[0], factor)
    return None


class Sizes:
    """The expressions for all traces together.  assignments[i]: dim name -> value in trace i; the first is the published one.
    multiples: dim name -> what its values are multiples of."""

    def __init__(self, assignments, multiples=None):
        self.assignments = assignments
        self.multiples = multiples or {}
        self.doubts = set()  # (dim name, value) at which one more trace would exclude expressions
        self.names = list(assignments[0])
        base = assignments[0]
        self.alone = {
            name: [i for i, a in enumerate(assignments) if all(a[other] == base[other] for other in base if other != name)]
            for name in self.names
        }
        self.known = {}
        self.windows = {}  # a number in all traces -> the window function (window_sizes.py) that gives it
        for name in self.names:
            vector = tuple(a[name] for a in assignments)
            self.known.setdefault(vector, name)
            self.windows.setdefault(vector, (name, 1, 0, 0))

    def follow_windows(self, windows, source, result):
        """Notes what functions a node's sizes are whose windows slide over the sizes of its operand.  source, result: shapes, each size a tuple
        over the traces.  Gives the sizes of the result of which that is known."""
        told = set()
        for window, before, after in zip(windows, source[-len(windows) :], result[-len(windows) :]):
            if before not in self.windows or after.count(after[0]) == len(after):
                continue
            function = window_sizes.slid_over(self.windows[before], *window)
            name, step, _, _ = function
            if step > MOST_STEP or any(window_sizes.value_at(function, a[name]) != value for a, value in zip(self.assignments, after)):
                continue
            told.add(after)
            other = self.windows.setdefault(after, function)
            if other != function and other[0] == name:
                place = telling(sorted({(a[name], value) for a, value in zip(self.assignments, after)}), [other[1:], function[1:]], self.multiples.get(name, 1))
                if place is not None:
                    self.doubts.add((name, place))
        return told

    def not_a_window(self, vector):
        """Notes a size that looks like a window's and has another cause.  More traces must show which expression it is."""
        function = self.windows.get(vector)
        if function and function[1] > 1:
            name = function[0]
            self.curve(name, [(a[name], value) for a, value in zip(self.assignments, vector)])

    def moved_by(self, values):
        """The dims that change a number when they change alone; all dims, if it changes only when several do."""
        moved = [name for name in self.names if any(values[i] != values[0] for i in self.alone[name])]
        return moved or list(self.names)

    def expression(self, values, what, context=()):
        """The text for one whole number.  context: numbers that it may be a product or sum of, as tuples over the traces."""
        values = tuple(values)
        if all(value == values[0] for value in values):
            return str(values[0])
        text = self.known.get(values)
        if text is None:
            text = self.search(values, context)
            if text is None:
                moved = self.moved_by(values)
                seen = ", ".join("%s -> %d" % (" ".join("%s=%d" % (n, a[n]) for n in moved), v)
                                 for a, v in list(zip(self.assignments, values))[:4])  # fmt: skip
                raise Unexplained("%s depends on %s in a way that no expression covers (%s)" % (what, " and ".join(moved), seen), moved, not self.is_odd(moved, values, context))
            self.known[values] = text
        return text

    def is_odd(self, moved, values, context):
        """Whether a number has no expression even in the traces in which only these dims change."""
        own = [i for i, a in enumerate(self.assignments) if all(a[name] == self.assignments[0][name] for name in self.names if name not in moved)]
        if any(len({self.assignments[i][name] for i in own}) < 3 for name in moved):
            return False

        def of_these(vector):
            return tuple([vector[i] for i in own])

        alone = Sizes([self.assignments[i] for i in own], self.multiples)
        alone.known.update((of_these(vector), text) for vector, text in self.known.items())
        return alone.search(of_these(values), [of_these(vector) for vector in context]) is None

    def search(self, values, context):
        moved = self.moved_by(values)
        for name in moved if len(moved) == 1 else ():
            found = self.curve(name, [(a[name], v) for a, v in zip(self.assignments, values)], self.windows.get(values))
            found = found or self.squared(name, values)
            if found:
                return found if isinstance(found, str) else found.whole_text()
        return self.separable(moved, values) or self.combined(values, context) or self.added(moved, values)

    def curve(self, name, samples, window=None):
        return curve(name, samples, self.doubts, self.multiples.get(name, 1), window if window and window[0] == name else None)

    def squared(self, name, values):
        """factor * inner(d) * inner(d) + a small number: patches of a square image, and a token."""
        for offset in (0, 1, -1, 2):
            common = 0
            for value in values:
                common = math.gcd(common, value - offset)
            for factor in divisors(common)[-8:] if common else []:
                roots = [math.isqrt(abs(value - offset) // factor) for value in values]
                if all(root * root * factor + offset == value for root, value in zip(roots, values)):
                    found = self.curve(name, [(a[name], root) for a, root in zip(self.assignments, roots)])
                    if found:
                        inner = "(%s)" % found.whole_text()
                        return " * ".join(([str(factor)] if factor > 1 else []) + [inner, inner]) + signed(offset)
        return None

    def curves(self, moved, values):
        found = {}
        for name in moved:
            samples = [(self.assignments[i][name], values[i]) for i in self.alone[name]]
            found[name] = self.curve(name, samples)
            if found[name] is None:
                return None
        return found

    def separable(self, moved, values):
        """factor times one Curve a dim."""
        found = self.curves(moved, values)
        if not found or any(values[0] == 0 for _ in (0,)):
            return None
        whole = 1
        for name, part in found.items():
            whole *= part.function(self.assignments[0][name])
        if whole == 0 or values[0] % whole:
            return None
        factor = values[0] // whole
        for assignment, value in zip(self.assignments, values):
            product = factor
            for name, part in found.items():
                product *= part.function(assignment[name])
            if product != value:
                return None
        return " * ".join(([str(factor)] if factor != 1 else []) + [part.joined() for part in found.values()])

    def added(self, moved, values):
        """A sum of one Curve a dim, and a number."""
        parts = []
        for name in moved:
            samples = [(self.assignments[i][name], values[i] - values[0]) for i in self.alone[name]]
            line = affine(sorted(set(samples))) if len(set(samples)) > 1 else None
            if line is None:
                return None
            parts.append((name, line[0]))
        offset = values[0] - sum(slope * self.assignments[0][name] for name, slope in parts)
        for assignment, value in zip(self.assignments, values):
            if sum(slope * assignment[name] for name, slope in parts) + offset != value:
                return None
        return " + ".join(name if slope == 1 else "%d * %s" % (slope, name) for name, slope in parts) + signed(offset)

    def combined(self, values, context):
        """Expresses a number as a product, a quotient or a sum of numbers of its context."""
        around = []
        for vector in context:
            vector = tuple(vector)
            if vector in self.known and vector not in around:
                around.append(vector)
        around = around[:10]
        for count in range(1, min(MOST_FACTORS, len(around)) + 1):
            for chosen in combinations(around, count):
                text = self.product_of(values, chosen)
                if text:
                    return text
        for count in (2, 3):
            for chosen in combinations(around, count):
                rest = {v - sum(part[i] for part in chosen) for i, v in enumerate(values)}
                if len(rest) == 1:
                    return " + ".join("%s" % self.known[part] for part in chosen) + signed(rest.pop())
        return None

    def product_of(self, values, chosen):
        whole = [math.prod(part[i] for part in chosen) for i in range(len(values))]
        texts = " * ".join(self.grouped(part) for part in chosen)
        if all(w and v % w == 0 for v, w in zip(values, whole)):
            ratios = {v // w for v, w in zip(values, whole)}
            if len(ratios) == 1:
                factor = ratios.pop()
                return texts if factor == 1 else "%d * %s" % (factor, texts)
        if all(v and w % v == 0 for v, w in zip(values, whole)):
            ratios = {w // v for v, w in zip(values, whole)}
            if len(ratios) == 1:
                return "%s / %d" % (texts, ratios.pop())
        return None

    def grouped(self, vector):
        text = self.known[vector]
        return text if text.isidentifier() else "(%s)" % text

    # --- reals

    def real(self, values, what, context=()):
        """The text of a real that follows a size n as c * n, c / n, c * sqrt(n) or c / sqrt(n)."""
        candidates = [vector for vector in list(self.known) + [tuple(c) for c in context if tuple(c) in self.known]]
        for vector in dict.fromkeys(candidates):
            for label, power in (("%r / %s", -1.0), ("%r / sqrt(%s)", -0.5), ("%r * %s", 1.0), ("%r * sqrt(%s)", 0.5)):
                if min(vector) <= 0:
                    continue
                factor = values[0] / vector[0] ** power
                if factor and all(math.isclose(v, factor * n**power, rel_tol=1e-12) for v, n in zip(values, vector)):
                    nice = float("%.12g" % factor)
                    text = self.grouped(vector) if "sqrt" not in label else self.known[vector]
                    return label % (nice, text)
        raise Unexplained("%s changes with the dims in a way that no expression covers (%r, then %r)" % (
            what, values[0], next(v for v in values if v != values[0])), self.moved_by(values))

    def pick(self, values, what, context=()):
        """Text, real or truth of a leaf."""
        first = values[0]
        if type(first) is int and all(type(value) is int for value in values):
            return self.expression(values, what, context)
        if all(value == first for value in values):
            return first
        if all(type(value) in (int, float) and math.isfinite(value) for value in values):
            return self.real([float(value) for value in values], what, context)
        raise Unexplained("%s changes with the dims and is no number (%r, then %r)" % (
            what, first, next(value for value in values if value != first)), self.moved_by(values))


def refused(problem):
    """The message for a user who named the dims."""
    return Refused(problem.sentence + "; leave a dim out of --dim")
