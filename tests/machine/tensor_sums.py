"""Expected sums of tests/machine/test_tensor_arithmetic.c, by exact fractions: an implementation of the rule of its own.

    python3 tensor_sums.py > tensor_sums.txt

Operands come from a counter (splitmix64), which the test repeats; a line is a kind of terms and the FNV-1a digest of 64 results.
"""
from fractions import Fraction

MASK = (1 << 64) - 1
FORMATS = {"f16": (5, 10, 0, 16), "bf16": (8, 7, 0, 16), "tf32": (8, 10, 13, 8)}
KINDS = ("any", "near", "wide", "tiny", "cancelling", "border")
RULES = ((25, -133), (24, -133), (13, -133))


def random(seed, n):
    z = (seed * 0x9E3779B97F4A7C15 + n * 0xD1B54A32D192ED03 + 0x9E3779B97F4A7C15) & MASK
    z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ z >> 27) * 0x94D049BB133111EB) & MASK
    return z ^ z >> 31


def draw(kind, exponent_bits, fraction_bits, r):
    bias, top = (1 << exponent_bits - 1) - 1, (1 << exponent_bits) - 2
    sign, fraction, choice = r >> 63, r & (1 << fraction_bits) - 1, r >> 32 & 0xFFFF
    if kind == "any":
        exponent = choice % (top + 1)
    elif kind == "near":
        exponent = bias - 3 + choice % 7
    elif kind == "wide":
        exponent = bias - 14 + choice % 29
    elif kind == "tiny":
        exponent = choice % 3
    elif kind == "cancelling":
        exponent = bias + (12 if choice % 2 else 0 if choice % 3 else -12)
        fraction = fraction if choice % 7 == 0 else 0
    else:
        exponent = bias // 2 - 10 + choice % 20
    exponent = min(max(exponent, 0), top)
    return sign << exponent_bits + fraction_bits | exponent << fraction_bits | fraction


def number(bits, exponent_bits, fraction_bits):
    """The value, and the exponent that it is aligned by; None for zeros."""
    field, fraction = bits >> fraction_bits & (1 << exponent_bits) - 1, bits & (1 << fraction_bits) - 1
    magnitude = fraction | (1 << fraction_bits if field else 0)
    exponent = max(field, 1) - ((1 << exponent_bits - 1) - 1)
    value = Fraction(magnitude) * Fraction(2) ** (exponent - fraction_bits)
    return (-value if bits >> exponent_bits + fraction_bits & 1 else value), (exponent if magnitude else None)


def cut(value, place):
    """Toward zero, to a multiple of 2^place."""
    unit = Fraction(2) ** place
    return (abs(value) // unit) * unit * (-1 if value < 0 else 1)


def exponent_of(value):
    value, exponent = abs(value), 0
    while value >= 2:
        value /= 2
        exponent += 1
    while value < 1:
        value *= 2
        exponent -= 1
    return exponent


def to_bits(value, exponent_bits, fraction_bits, nearest):
    bias = (1 << exponent_bits - 1) - 1
    if value == 0:
        return 0
    sign = (1 << exponent_bits + fraction_bits) if value < 0 else 0
    place = max(exponent_of(value), 1 - bias) - fraction_bits
    places = abs(value) / Fraction(2) ** place
    whole = places.numerator // places.denominator
    rest = places - whole
    if nearest and (rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole % 2)):
        whole += 1
    if whole == 0:
        return 0 if nearest else sign
    encoded = whole + (place + bias + fraction_bits - 1 << fraction_bits)
    top = (1 << exponent_bits) - 1 << fraction_bits
    return sign | min(encoded, top)


def sum_of(pairs, addend, formats, rule):
    terms = [number(addend[0], *addend[1])]
    for a, b in pairs:
        (x, i), (y, j) = number(a, *formats), number(b, *formats)
        terms.append((x * y, None if i is None or j is None else i + j))
    most = max([rule[1]] + [e for _, e in terms if e is not None])
    return sum(cut(value, most - rule[0]) for value, _ in terms)


def main():
    seed = 0
    for name, (exponent_bits, fraction_bits, dropped, count) in FORMATS.items():
        for kind in KINDS:
            for rule in RULES:
                for halves in (False, True):
                    if halves and name != "f16":
                        continue
                    seed += 1
                    digest = 0xCBF29CE484222325
                    for result in range(64):
                        draws = [random(seed, result * 64 + n) for n in range(2 * count + 1)]
                        pairs = [(draw(kind, exponent_bits, fraction_bits, draws[2 * k]),
                                  draw(kind, exponent_bits, fraction_bits, draws[2 * k + 1])) for k in range(count)]
                        into = (5, 10) if halves else (8, 23)
                        addend = draw(kind if result % 2 else "near", *into, draws[2 * count])
                        value = sum_of(pairs, (addend, into), (exponent_bits, fraction_bits), rule)
                        bits = to_bits(value, *into, halves)
                        digest = ((digest ^ bits) * 0x100000001B3) & MASK
                    print(name, kind, rule[0], "f16" if halves else "f32", "%016x" % digest)


main()
