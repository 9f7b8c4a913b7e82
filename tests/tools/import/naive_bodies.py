"""The body of each operation's naive kernel: what one thread does for output element i with coordinates c0, c1, ..."""

PRELUDE = """#include <math_constants.h>
__device__ float sigmoid_of(float x) { return x >= 0 ? 1.0f / (1.0f + expf(-x)) : expf(x) / (1.0f + expf(x)); }
__device__ float softplus_of(float x) { return x > 20.0f ? x : log1pf(expf(x)); }
__device__ long long window_start(long long o, long long in, long long out) { return o * in / out; }
__device__ long long window_end(long long o, long long in, long long out) { return ((o + 1) * in + out - 1) / out; }
"""

UNARY = {
    "neg": "-x", "abs": "fabsf(x)", "sign": "(x > 0) - (x < 0)", "relu": "x < 0 ? 0.0f : x", "exp": "expf(x)", "log": "logf(x)",
    "sqrt": "sqrtf(x)", "rsqrt": "1.0f / sqrtf(x)", "reciprocal": "1.0f / x", "sin": "sinf(x)", "cos": "cosf(x)", "erf": "erff(x)",
    "tanh": "tanhf(x)", "sigmoid": "sigmoid_of(x)", "silu": "x * sigmoid_of(x)", "softplus": "softplus_of(x)",
    "softsign": "x / (1.0f + fabsf(x))", "square": "x * x", "mish": "x * tanhf(softplus_of(x))", "logsigmoid": "-softplus_of(-x)",
    "hardsigmoid": "fminf(fmaxf(x + 3.0f, 0.0f), 6.0f) / 6.0f", "hardswish": "x * fminf(fmaxf(x + 3.0f, 0.0f), 6.0f) / 6.0f",
    "floor": "floorf(x)", "ceil": "ceilf(x)", "trunc": "truncf(x)", "round": "rintf(x)",
    "selu": "1.0507009873554805f * (x > 0 ? x : 1.6732632423543772f * expm1f(x))",
}  # fmt: skip
BINARY = {"add": "a + b", "sub": "a - b", "mul": "a * b", "div": "a / b", "rsub": "b - a", "rdiv": "b / a", "gt": "a > b", "ge": "a >= b",
          "lt": "a < b", "le": "a <= b", "eq": "a == b", "maximum": "a > b || a != a ? a : b", "minimum": "a < b || a != a ? a : b"}  # fmt: skip
REDUCTIONS = ("sum", "mean", "amax", "amin", "max", "min", "var", "std", "norm", "prod", "logsumexp", "argmax", "argmin")
LOSSES = {"mse_loss": "(a - b) * (a - b)", "l1_loss": "fabsf(a - b)",
          "kl_div": "b > 0 ? b * (logf(b) - a) : 0.0f",
          "hinge_embedding_loss": "b > 0 ? a : fmaxf(0.0f, %(margin)s - a)",
          "smooth_l1_loss": "fabsf(a - b) < %(beta)s ? 0.5f * (a - b) * (a - b) / %(beta)s : fabsf(a - b) - 0.5f * %(beta)s",
          "huber_loss": "fabsf(a - b) < %(delta)s ? 0.5f * (a - b) * (a - b) : %(delta)s * (fabsf(a - b) - 0.5f * %(delta)s)",
          "binary_cross_entropy_with_logits": "fmaxf(a, 0.0f) - a * b + log1pf(expf(-fabsf(a)))"}  # fmt: skip


NORMS = ("batch_norm", "instance_norm", "group_norm")
RECURRENT = {"lstm": 4, "gru": 3, "rnn_tanh": 1}  # op -> gates


def write(node):
    op = node.op
    if op in RECURRENT:
        return recurrent(node)
    if op in UNARY:
        return put(node, "float x = %s;" % node.spread(0), UNARY[op])
    if op in BINARY:
        return binary(node)
    if op in REDUCTIONS:
        return reduction(node)
    if op in LOSSES:
        return loss(node)
    for names, body in BODIES:
        if op in names:
            return body(node)
    from naive_kernel import Unwritten

    raise Unwritten(op)


def put(node, *lines):
    """All but the last line as they are; the last is the element's value."""
    for line in lines[:-1]:
        node.add(line)
    node.add("q0[i] = %s;" % lines[-1])


def binary(node):
    kind = "long long" if node.outputs[0].dtype.startswith("int") and not node.has("other") else "float"
    second = node.spread(1) if len(node.operands) > 1 else node.real("other")
    put(node, "%s a = %s;" % (kind, node.spread(0)), "%s b = %s;" % (kind, second), BINARY[node.op])


def loops(node, which, dims, fixed):
    """Opens a loop for each of dims of operand `which`; gives its coordinates and the number of terms."""
    coordinates = list(fixed)
    for dim in dims:
        node.add("for (long long k%d = 0; k%d < %s; k%d++)" % (dim, dim, node.size(which, dim), dim))
        coordinates[dim] = "k%d" % dim
    return coordinates


def kept(node, which, dims, keepdim):
    """For each dim of operand `which` the output's coordinate, where it is not reduced."""
    coordinates, out = [], 0
    for dim in range(node.rank(which)):
        if dim in dims:
            coordinates.append("0")
            out += keepdim
        else:
            coordinates.append("c%d" % out)
            out += 1
    return coordinates


def reduction(node):
    op, rank = node.op, node.rank(0)
    given = node.literals("dim")
    dims = sorted(d % rank for d in given) if given else list(range(rank))
    fixed = kept(node, 0, dims, node.true("keepdim"))
    count = " * ".join(node.size(0, d) for d in dims) or "1"
    element = node.at(0, [("k%d" % d if d in dims else c) for d, c in enumerate(fixed)])

    def over(body):
        loops(node, 0, dims, fixed)
        node.add("{ float x = %s; %s }" % (element, body))

    if op in ("sum", "mean", "norm", "prod"):
        node.add("float s = %s;" % ("1.0f" if op == "prod" else "0.0f"))
        over({"norm": "s += x * x;", "prod": "s *= x;"}.get(op, "s += x;"))
        return put(node, {"mean": "s / (float)(%s)" % count, "norm": "sqrtf(s)"}.get(op, "s"))
    if op in ("amax", "amin", "max", "min"):
        better = ">" if "max" in op else "<"
        node.add("float s = %sCUDART_INF_F;" % ("-" if "max" in op else ""))
        over("if (x %s s || x != x) s = x;" % better)
        return put(node, "s")
    if op in ("argmax", "argmin"):
        node.add("float s = %sCUDART_INF_F; long long best = 0, place = 0;" % ("-" if op == "argmax" else ""))
        over("if (x %s s) { s = x; best = place; } place++;" % (">" if op == "argmax" else "<"))
        return put(node, "best")
    if op == "logsumexp":
        node.add("float m = -CUDART_INF_F, s = 0.0f;")
        over("if (x > m) m = x;")
        over("s += expf(x - m);")
        return put(node, "m + logf(s)")
    node.add("float m = 0.0f, s = 0.0f;")
    over("m += x;")
    node.add("m /= (float)(%s);" % count)
    over("s += (x - m) * (x - m);")
    divisor = "(float)(%s)" % count if not node.true("unbiased", True) else "(float)(%s - 1)" % count
    return put(node, "sqrtf(s / %s)" % divisor if op == "std" else "s / %s" % divisor)


def loss(node):
    formula = LOSSES[node.op]
    names = {"margin": "1", "beta": "1", "delta": "1"}
    formula = formula % {name: node.real(name, default) for name, default in names.items() if "%%(%s)" % name in formula}
    kind = str(node.attributes.get("reduction", "mean"))
    pair = "float a = %s, b = %s;"
    if kind == "none":
        return put(node, pair % (node.spread(0), node.spread(1)), formula)
    node.add("float s = 0.0f;")
    rows = kind == "rows"  # one thread a row
    coordinates = loops(node, 0, range(rows, node.rank(0)), ["c0" if rows else "0"] * node.rank(0))
    node.add("{ %s s += %s; }" % (pair % (node.at(0, coordinates), node.at(1, coordinates)), formula))
    count = " * ".join(node.size(0, d) for d in range(node.rank(0)))
    divisor = {"mean": count, "batchmean": node.size(0, 0)}.get(kind)
    put(node, "s / (float)(%s)" % divisor if divisor else "s")


# --- elementwise with attributes


def scaled(node):
    op = node.op
    node.add("float x = %s;" % node.spread(0))
    if op == "pow":
        return put(node, "powf(x, %s)" % node.real("exponent"))
    if op in ("clamp", "hardtanh", "relu6"):
        low = {"hardtanh": "-1", "relu6": "0"}.get(op)
        high = {"hardtanh": "1", "relu6": "6"}.get(op)
        if node.has("min") or low:
            node.add("if (x < %s) x = %s;" % ((node.real("min", low),) * 2))
        if node.has("max") or high:
            node.add("if (x > %s) x = %s;" % ((node.real("max", high),) * 2))
        return put(node, "x")
    if op == "leaky_relu":
        return put(node, "x > 0 ? x : x * %s" % node.real("negative_slope", "0.01"))
    if op == "elu":
        return put(node, "x > 0 ? x : %s * expm1f(x)" % node.real("alpha", "1"))
    if str(node.attributes.get("approximate", "none")) == "tanh":
        return put(node, "0.5f * x * (1.0f + tanhf(0.7978845608f * (x + 0.044715f * x * x * x)))")
    return put(node, "0.5f * x * (1.0f + erff(x * 0.70710678118f))")


def chosen(node):
    if node.op == "where":
        return put(node, "%s != 0 ? %s : %s" % (node.spread(0), node.spread(1), node.spread(2)))
    return put(node, "%s != 0 ? %s : %s" % (node.spread(1), node.real("value"), node.spread(0)))


# --- along a dim


def softmax(node):
    dim = node.literal("dim") % node.out_rank
    c = node.coordinates()
    element = node.at(0, [("k" if d == dim else x) for d, x in enumerate(c)])
    loop = "for (long long k = 0; k < %s; k++) " % node.size(0, dim)
    node.add("float m = -CUDART_INF_F, s = 0.0f;")
    node.add(loop + "m = fmaxf(m, %s);" % element)
    node.add(loop + "s += expf(%s - m);" % element)
    own = node.at(0, c)
    put(node, "expf(%s - m) / s" % own if node.op == "softmax" else "%s - m - logf(s)" % own)


def cumulative(node):
    dim = node.literal("dim") % node.out_rank
    c = node.coordinates()
    element = node.at(0, [("k" if d == dim else x) for d, x in enumerate(c)])
    product = node.op == "cumprod"
    node.add("float s = %s;" % ("1.0f" if product else "0.0f"))
    node.add("for (long long k = 0; k < c%d + 1; k++) s %s= %s;" % (dim, "*" if product else "+", element))
    put(node, "s")


# --- moving elements


def moved(node):
    op, c = node.op, node.coordinates()
    if op in ("reshape", "view", "flatten", "squeeze", "unsqueeze", "contiguous", "detach"):
        return put(node, "p0[i]")
    if op == "expand":
        return put(node, node.spread(0))
    if op == "transpose":
        a, b = node.literal("dim0") % node.out_rank, node.literal("dim1") % node.out_rank
        c[a], c[b] = c[b], c[a]
        return put(node, node.at(0, c))
    if op == "permute":
        order = [d % node.out_rank for d in node.literals("dims")]
        source = [None] * len(order)
        for place, dim in enumerate(order):
            source[dim] = c[place]
        return put(node, node.at(0, source))
    if op in ("narrow", "slice"):
        dim = node.literal("dim") % node.out_rank
        start, step = node.integer("start", "0"), node.integer("step", "1")
        node.add("long long start = %s; if (start < 0) start += %s;" % (start, node.size(0, dim)))
        c[dim] = "start + c%d * %s" % (dim, step)
        return put(node, node.at(0, c))
    if op == "select":
        dim = node.literal("dim") % node.rank(0)
        node.add("long long index = %s; if (index < 0) index += %s;" % (node.integer("index"), node.size(0, dim)))
        return put(node, node.at(0, c[:dim] + ["index"] + c[dim:]))
    if op == "flip":
        for dim in node.literals("dims"):
            c[dim % node.out_rank] = "%s - 1 - c%d" % (node.size(0, dim), dim % node.out_rank)
        return put(node, node.at(0, c))
    upper = op == "triu"
    diagonal = node.integer("diagonal", "1" if op == "causal_mask" else "0")
    row, column = c[-2], c[-1]
    if op == "causal_mask":
        return put(node, "%s - %s >= %s ? -CUDART_INF_F : %s" % (column, row, diagonal, node.at(0, c)))
    return put(node, "%s - %s %s %s ? %s : 0" % (column, row, ">=" if upper else "<=", diagonal, node.at(0, c)))


def joined(node):
    dim = node.literal("dim", "0") % node.out_rank
    c = node.coordinates()
    node.add("long long place = c%d;" % dim)
    for k in range(len(node.operands)):
        at = node.at(k, c[:dim] + ["place"] + c[dim + 1 :])
        if k < len(node.operands) - 1:
            node.add("if (place < %s) { q0[i] = %s; return; }" % (node.size(k, dim), at))
            node.add("place -= %s;" % node.size(k, dim))
        else:
            put(node, at)


def rows_total(node):
    node.add("float s = 0.0f;")
    node.add("for (long long k = 0; k < %s; k++) s += p0[k];" % " * ".join(node.size(0, d) for d in range(node.rank(0))))
    put(node, "sqrtf(s)" if node.true("root") else "s / (float)(%s)" % node.integer("divisor"))


def row_sums(node):
    node.add("float s = 0.0f;")
    node.add("for (long long k = 0; k < %s; k++) { const float x = %s; s += %s; }" % (
        node.size(0, -1), node.at(0, node.coordinates() + ["k"]), "x * x" if node.true("squares") else "x"))
    put(node, "s")


def row_statistics(node):
    """The mean of a row, and the sum of squared distances from it."""
    length, element = node.size(0, -1), node.at(0, node.coordinates() + ["k"])
    node.add("float m = 0.0f, v = 0.0f;")
    node.add("for (long long k = 0; k < %s; k++) m += %s;" % (length, element))
    node.add("m /= (float)%s;" % length)
    node.add("for (long long k = 0; k < %s; k++) { const float x = %s - m; v += x * x; }" % (length, element))
    node.add("q1[i] = v;")
    put(node, "m")


def row_exponentials(node):
    """The largest of a row, and the sum of the exponentials of what it is more than the others."""
    length, element = node.size(0, -1), node.at(0, node.coordinates() + ["k"])
    node.add("float m = -CUDART_INF_F, s = 0.0f;")
    node.add("for (long long k = 0; k < %s; k++) m = fmaxf(m, %s);" % (length, element))
    node.add("for (long long k = 0; k < %s; k++) s += expf(%s - m);" % (length, element))
    node.add("q1[i] = s;")
    put(node, "m")


def by_rows(node):
    """Elements of a softmax or a layer norm, from what operands 1 and 2 say of their row."""
    op, c = node.attributes["of"], node.coordinates()
    own, m, s = node.at(0, c), node.at(1, c[:-1]), node.at(2, c[:-1])
    if op != "layer_norm":
        return put(node, "expf(%s - %s) / %s" % (own, m, s) if op == "softmax" else "%s - %s - logf(%s)" % (own, m, s))
    weights = [node.at(k, c[-1:]) for k in range(3, len(node.operands))]
    value = "(%s - %s) / sqrtf(%s / (float)%s + %s)" % (own, m, s, node.size(0, -1), node.real("eps", "1e-5"))
    value += " * %s" % weights[0] if weights else ""
    put(node, value + (" + %s" % weights[1] if len(weights) > 1 else ""))


def joined_statistics(node):
    """Mean and variance of what a norm takes together, from those of its rows, one after the other (Chan, Golub, LeVeque 1983)."""
    norm, rank, length = node.attributes["norm"], node.rank(0), node.integer("length")
    places = ["c0"] + ["k%d" % d for d in range(1, rank)]
    looped = list(range(2, rank))
    if norm == "batch_norm":
        places, looped = ["k0", "c0"] + ["k%d" % d for d in range(2, rank)], [0] + looped
    elif norm == "instance_norm":
        places[1] = "c1"
    node.add("float m = 0.0f, v = 0.0f, n = 0.0f;")
    if norm == "group_norm":
        node.add("const long long each = d0_1 / e1;")
        node.add("for (long long k1 = c1 * each; k1 < (c1 + 1) * each; k1++)")
    for d in looped:
        node.add("for (long long k%d = 0; k%d < d0_%d; k%d++)" % (d, d, d, d))
    node.add("{ const float t = n + (float)%s, far = %s - m; m += far * (float)%s / t; v += %s + far * far * (n * ((float)%s / t)); n = t; }" % (
        length, node.at(0, places), length, node.at(1, places), length))
    node.add("q1[i] = v / n;")
    put(node, "m")


def normalised_by(node):
    """A norm whose statistics are operands 1 and 2."""
    norm, c = node.attributes["norm"], node.coordinates()
    place = {"batch_norm": ["c1"], "instance_norm": ["c0", "c1"]}.get(norm) or ["c0", "c1 / (e1 / d1_1)"]
    value = "(%s - %s) / sqrtf(%s + %s)" % (node.at(0, c), node.at(1, place), node.at(2, place), node.real("eps", "1e-5"))
    weights = [node.at(k, ["c1"]) for k in range(3, len(node.operands))]
    value += " * %s" % weights[0] if weights else ""
    put(node, value + (" + %s" % weights[1] if len(weights) > 1 else ""))


def joined_part(node):
    """Some operands of a cat: the elements of the result that lie in them.  The other dims are the result's own."""
    dim, c = node.literal("dim"), node.coordinates()
    node.add("long long place = c%d - %s;" % (dim, node.integer("start")))
    node.add("if (place < 0) return;")
    for k in range(len(node.operands)):
        index = "0"
        for d in range(node.out_rank):
            index = "(%s * %s + %s)" % (index, node.size(k, d) if d == dim else "e%d" % d, "place" if d == dim else c[d])
        node.add("if (place < %s) { q0[i] = p%d[%s]; return; }" % (node.size(k, dim), k, index))
        node.add("place -= %s;" % node.size(k, dim))


def padded(node):
    from naive_kernel import parts_of

    pairs, c = parts_of(node.attributes["pad"]), node.coordinates()
    inside = []
    for k in range(len(pairs) // 2):
        dim = node.out_rank - 1 - k
        c[dim] = "c%d - %s" % (dim, node.integer("pad", None, 2 * k))
        inside.append("%s >= 0 && %s < %s" % (c[dim], c[dim], node.size(0, dim)))
    put(node, "%s ? %s : %s" % (" && ".join(inside), node.at(0, c), node.real("value", "0")))


def made(node):
    if node.op == "full":
        return put(node, node.real("value"))
    put(node, "%s + (float)i * %s" % (node.real("start", "0"), node.real("step", "1")))


def picked(node):
    if node.op == "embedding":
        rank = node.rank(1)
        return put(node, node.at(0, [node.at(1, node.coordinates()[:rank]), "c%d" % rank]))
    dim, c = node.literal("dim") % node.out_rank, node.coordinates()
    own = list(c)
    own[dim] = node.at(1, c)
    put(node, node.at(0, own))


def scattered(node):
    """scatter (the last writer along the dim wins) and scatter_add, seen from the element that is written."""
    dim, c = node.literal("dim") % node.out_rank, node.coordinates()
    source = list(c)
    source[dim] = "k"
    within = " && ".join("c%d < %s" % (d, node.size(1, d)) for d in range(node.out_rank) if d != dim) or "true"
    node.add("float s = %s;" % node.at(0, c))
    node.add("if (%s) for (long long k = 0; k < %s; k++) if (%s == c%d) s %s %s;" % (
        within, node.size(1, dim), node.at(1, source), dim, "+=" if node.op == "scatter_add" else "=", node.at(2, source)))
    put(node, "s")


def ranked(node):
    """topk and sort: the element with so many before it."""
    dim = node.literal("dim", "-1") % node.out_rank
    c = node.coordinates()

    def at(k):
        return node.at(0, [(k if d == dim else x) for d, x in enumerate(c)])

    largest = node.true("largest", node.op == "topk") if node.op == "topk" else node.true("descending")
    node.add("for (long long k = 0; k < %s; k++) {" % node.size(0, dim))
    node.add("   long long before = 0;")
    # NaN is larger than every number.
    node.add("   const float own = %s;" % at("k"))
    node.add("   for (long long j = 0; j < %s; j++) {" % node.size(0, dim))
    node.add("      const float other = %s;" % at("j"))
    node.add("      before += isnan(other) != isnan(own) ? isnan(%s) : other %s own || (j < k && (other == own || isnan(own)));" % (
        ("other", ">") if largest else ("own", "<")))
    node.add("   }")
    node.add("   if (before == c%d) { q0[i] = own;%s }" % (dim, " q1[i] = k;" if len(node.outputs) > 1 else ""))
    node.add("}")


# --- products


def product(node):
    op, c = node.op, node.coordinates()
    node.add("float s = 0.0f;")
    if op == "linear":
        x = node.at(0, c[:-1] + ["k"])
        node.add("for (long long k = 0; k < %s; k++) s += %s * %s;" % (node.size(0, -1), x, node.at(1, [c[-1], "k"])))
        return put(node, "s + %s" % node.at(2, [c[-1]]) if len(node.operands) > 2 else "s")
    left, right = node.rank(0), node.rank(1)
    rows, columns = left > 1, right > 1
    batch = c[: len(c) - rows - columns]

    def batched(which, inner):
        own = node.rank(which) - len(inner)
        lead = batch[len(batch) - own :] if own else []
        return node.at(which, ["d%d_%d == 1 ? 0 : %s" % (which, d, x) for d, x in enumerate(lead)] + inner)

    row = [c[len(batch)]] if rows else []
    column = [c[-1]] if columns else []
    a, b = batched(0, row + ["k"]), batched(1, ["k"] + column)
    node.add("for (long long k = 0; k < %s; k++) s += %s * %s;" % (node.size(0, -1), a, b))
    put(node, "s")


def convolution(node):
    """The channels are the inner loop: what a window's place costs is paid once for all of them."""
    spatial, c = node.rank(0) - 2, node.coordinates()
    transposed = "transpose" in node.op
    groups = node.integer("groups", "1")
    node.add("float s = %s;" % (node.at(2, [c[1]]) if len(node.operands) > 2 else "0.0f"))
    if transposed:
        node.add("const long long each = d1_1, group = c1 / each, count = d0_1 / %s;" % groups)
    else:
        node.add("const long long group = c1 / (e1 / %s), count = d1_1;" % groups)
    places = []
    for d in range(spatial):
        stride, padding, dilation = (node.integer(n, v, d) for n, v in (("stride", "1"), ("padding", "0"), ("dilation", "1")))
        node.add("for (long long w%d = 0; w%d < d1_%d; w%d++) {" % (d, d, d + 2, d))
        if transposed:
            node.add("   long long y%d = c%d + %s - w%d * %s;" % (d, d + 2, padding, d, dilation))
            node.add("   if (y%d < 0 || y%d %% %s || y%d / %s >= d0_%d) continue;" % (d, d, stride, d, stride, d + 2))
            node.add("   y%d /= %s;" % (d, stride))
        else:
            node.add("   long long y%d = c%d * %s - %s + w%d * %s;" % (d, d + 2, stride, padding, d, dilation))
            node.add("   if (y%d < 0 || y%d >= d0_%d) continue;" % (d, d, d + 2))
        places.append("y%d" % d)
    windows = ["w%d" % d for d in range(spatial)]
    if transposed:
        x = node.at(0, ["c0", "group * count + k"] + places)
        w = node.at(1, ["group * count + k", "c1 %% each" % ()] + windows)
    else:
        x, w = node.at(0, ["c0", "group * d1_1 + k"] + places), node.at(1, ["c1", "k"] + windows)
    node.add("   for (long long k = 0; k < count; k++)")
    node.add("      s += %s * %s;" % (x, w))
    node.add("}" * spatial)
    put(node, "s")


def attention(node):
    c = node.coordinates()
    batch, row, column = c[:-2], c[-2], c[-1]
    q = node.at(0, batch + [row, "d"])
    k = node.at(1, batch + ["j", "d"])
    causal = node.true("is_causal")
    scale = node.real("scale") if node.has("scale") else "(1.0f / sqrtf((float)%s))" % node.size(0, -1)
    keys = "min(%s + 1, %s)" % (row, node.size(1, -2)) if causal else node.size(1, -2)
    score = "float t = 0.0f; for (long long d = 0; d < %s; d++) t += %s * %s; t *= %s;" % (node.size(0, -1), q, k, scale)
    if len(node.operands) > 3:
        score += " t += %s;" % node.spread(3, batch + [row, "j"])
    node.add("float m = -CUDART_INF_F, s = 0.0f, r = 0.0f;")
    node.add("for (long long j = 0; j < %s; j++) { %s m = fmaxf(m, t); }" % (keys, score))
    node.add("for (long long j = 0; j < %s; j++) { %s float e = expf(t - m); s += e; r += e * %s; }" % (
        keys, score, node.at(2, batch + ["j", column])))
    put(node, "r / s")


def recurrent(node):
    """Thread i has sequence i: q0 the last state, q1 all states, then for lstm q2 the last cell; the last output is room for gates."""
    op, gates, lstm = node.op, RECURRENT[node.op], node.op == "lstm"
    ih, biased = (3 if lstm else 2), len(node.operands) > (5 if lstm else 4)
    room = "q%d" % (len(node.outputs) - 1)
    node.add("const long long H = e1, T = d0_0, I = d0_2; float *g = %s + i * %d * H, *fresh = g + %d * H;" % (room, gates + 1, gates))
    node.add("for (long long j = 0; j < H; j++) { q0[i * H + j] = p1[i * H + j];%s }" % (" q2[i * H + j] = p2[i * H + j];" if lstm else ""))
    node.add("for (long long step = 0; step < T; step++) {")
    node.add("   const long long t = %s;" % ("T - 1 - step" if node.true("reverse") else "step"))
    node.add("   for (long long r = 0; r < %d * H; r++) {" % gates)
    node.add("      float a = %s, b = %s;" % (("p%d[r]" % (ih + 2), "p%d[r]" % (ih + 3)) if biased else ("0.0f", "0.0f")))
    node.add("      for (long long k = 0; k < I; k++) a += p0[(t * d0_1 + i) * I + k] * p%d[r * I + k];" % ih)
    node.add("      for (long long k = 0; k < H; k++) b += q0[i * H + k] * p%d[r * H + k];" % (ih + 1))
    if op == "gru":
        node.add("      if (r < 2 * H) g[r] = sigmoid_of(a + b); else g[r] = tanhf(a + g[r - 2 * H] * b);")
    else:
        node.add("      g[r] = a + b;")
    node.add("   }")
    node.add("   for (long long j = 0; j < H; j++) {")
    if lstm:
        node.add("      const float c = sigmoid_of(g[H + j]) * q2[i * H + j] + sigmoid_of(g[j]) * tanhf(g[2 * H + j]);")
        node.add("      q2[i * H + j] = c; fresh[j] = sigmoid_of(g[3 * H + j]) * tanhf(c);")
    elif op == "gru":
        node.add("      fresh[j] = (1.0f - g[H + j]) * g[2 * H + j] + g[H + j] * q0[i * H + j];")
    else:
        node.add("      fresh[j] = tanhf(g[j]);")
    node.add("   }")
    node.add("   for (long long j = 0; j < H; j++) { q0[i * H + j] = fresh[j]; q1[(t * d0_1 + i) * H + j] = fresh[j]; }")
    node.add("}")


# --- norms


def normalised(node):
    op, c, rank = node.op, node.coordinates(), node.out_rank
    weights, own = [], list(range(1, len(node.operands)))
    eps = node.real("eps", "1e-8" if op == "cosine_similarity" else "1e-5")
    if op in ("layer_norm", "rms_norm"):
        from naive_kernel import parts_of

        count = len(parts_of(node.attributes["normalized_shape"]))
        dims = list(range(rank - count, rank))
        weights = [node.at(k, c[rank - count :]) for k in own]
    elif op == "batch_norm":
        dims = [d for d in range(rank) if d != 1]
        if not node.true("training") and len(own) >= 2:
            node.add("float m = %s, v = %s;" % (node.at(1, ["c1"]), node.at(2, ["c1"])))
            dims, own = None, own[2:]
        weights = [node.at(k, ["c1"]) for k in own]
    else:
        dims = list(range(2, rank))
        weights = [node.at(k, ["c1"]) for k in own]
    x = node.at(0, c)
    if op == "group_norm":
        node.add("const long long each = d0_1 / %s, first = c1 / each * each;" % node.integer("num_groups"))
        node.add("const long long count = each%s;" % "".join(" * d0_%d" % d for d in dims))
        loop = "for (long long k1 = first; k1 < first + each; k1++) " + "".join(
            "for (long long k%d = 0; k%d < d0_%d; k%d++) " % (d, d, d, d) for d in dims)
        element = node.at(0, ["c0", "k1"] + ["k%d" % d for d in dims])
    elif dims is not None:
        node.add("const long long count = %s;" % " * ".join("d0_%d" % d for d in dims))
        loop = "".join("for (long long k%d = 0; k%d < d0_%d; k%d++) " % (d, d, d, d) for d in dims)
        element = node.at(0, [("k%d" % d if d in dims else x) for d, x in enumerate(c)])
    if op == "rms_norm":
        node.add("float v = 0.0f;")
        node.add(loop + "{ float x = %s; v += x * x; }" % element)
        value = "%s / sqrtf(v / (float)count + %s)" % (x, eps)
        return put(node, value + (" * %s" % weights[0] if weights else ""))
    if dims is not None:
        node.add("float m = 0.0f, v = 0.0f;")
        node.add(loop + "m += %s;" % element)
        node.add("m /= (float)count;")
        node.add(loop + "{ float x = %s - m; v += x * x; }" % element)
        node.add("v /= (float)count;")
    value = "(%s - m) / sqrtf(v + %s)" % (x, eps)
    value += " * %s" % weights[0] if weights else ""
    put(node, value + (" + %s" % weights[1] if len(weights) > 1 else ""))


# --- windows


def pooled(node):
    spatial, c = int(node.op[-2]), node.coordinates()
    lead, average = node.rank(0) - spatial, "avg" in node.op
    node.add("float s = %s; long long count = 0;" % ("0.0f" if average else "-CUDART_INF_F"))
    inside, places = [], []
    padded_count = []
    for d in range(spatial):
        dim = lead + d
        if node.op.startswith("adaptive"):
            node.add("for (long long y%d = window_start(c%d, d0_%d, e%d); y%d < window_end(c%d, d0_%d, e%d); y%d++) {" % (
                d, dim, dim, dim, d, dim, dim, dim, d))
        else:
            kernel, padding = node.integer("kernel_size", None, d), node.integer("padding", "0", d)
            stride = node.integer("stride", node.attributes["kernel_size"], d)
            dilation = node.integer("dilation", "1", d)
            node.add("for (long long w%d = 0; w%d < %s; w%d++) { const long long y%d = c%d * %s - %s + w%d * %s;" % (
                d, d, kernel, d, d, dim, stride, padding, d, dilation))
            inside.append("y%d >= 0 && y%d < d0_%d" % (d, d, dim))
            padded_count.append("y%d < d0_%d + %s" % (d, dim, padding))
        places.append("y%d" % d)
    element = node.at(0, c[:lead] + places)
    if average:
        if padded_count and node.true("count_include_pad", True):
            node.add("   if (%s) count++;" % " && ".join(padded_count))
            node.add("   if (%s) s += %s;" % (" && ".join(inside), element))
        else:
            node.add("   if (%s) { s += %s; count++; }" % (" && ".join(inside) or "true", element))
    else:
        node.add("   if (%s) { const float t = %s; if (t > s || t != t) s = t; }" % (" && ".join(inside) or "true", element))
    node.add("}" * spatial)
    put(node, "s / (float)count" if average else "s")


def resampled(node):
    c, lead = node.coordinates(), 2
    spatial = node.out_rank - 2
    align = node.true("align_corners")
    if str(node.attributes.get("mode", "nearest")) == "nearest":
        return put(node, node.at(0, c[:lead] + [
            "min((long long)floorf((float)c%d * ((float)d0_%d / (float)e%d)), d0_%d - 1)" % ((lead + d,) * 4) for d in range(spatial)]))  # fmt: skip
    node.add("float s = 0.0f;")
    for d in range(spatial):
        dim = lead + d
        place = ("(e%d > 1 ? (float)c%d * (float)(d0_%d - 1) / (float)(e%d - 1) : 0.0f)" % (dim, dim, dim, dim) if align else
                 "fmaxf(((float)c%d + 0.5f) * (float)d0_%d / (float)e%d - 0.5f, 0.0f)" % (dim, dim, dim))  # fmt: skip
        node.add("const float f%d = %s; const long long l%d = (long long)f%d;" % (d, place, d, d))
        node.add("for (long long w%d = 0; w%d < 2; w%d++) { const long long y%d = min(l%d + w%d, d0_%d - 1);" % (d, d, d, d, d, d, dim))
        node.add("   const float t%d = w%d ? f%d - (float)l%d : 1.0f - (f%d - (float)l%d);" % (d, d, d, d, d, d))
    weight = " * ".join("t%d" % d for d in range(spatial))
    node.add("   s += %s * %s;" % (weight, node.at(0, c[:lead] + ["y%d" % d for d in range(spatial)])))
    node.add("}" * spatial)
    put(node, "s")


# --- losses over classes, and similarity


def cross_entropy(node):
    classes = "d0_1"
    rank = node.rank(0)
    others = [d for d in range(rank) if d != 1]
    kind = str(node.attributes.get("reduction", "mean"))
    where = [("k%d" % d if d != 1 else "j") for d in range(rank)]
    if kind == "none":
        for d, c in zip(others, node.coordinates()):
            node.add("const long long k%d = %s;" % (d, c))
    node.add("float whole = 0.0f;")
    if kind != "none":
        loops(node, 0, others, ["0"] * rank)
    node.add("{ const long long t = %s; float m = -CUDART_INF_F, s = 0.0f;" % node.at(1, ["k%d" % d for d in others]))
    own = node.at(0, [("t" if x == "j" else x) for x in where])
    if node.op == "nll_loss":
        node.add("whole -= %s; }" % own)
    else:
        node.add("for (long long j = 0; j < %s; j++) m = fmaxf(m, %s);" % (classes, node.at(0, where)))
        node.add("for (long long j = 0; j < %s; j++) s += expf(%s - m);" % (classes, node.at(0, where)))
        node.add("whole += m + logf(s) - %s; }" % own)
    count = " * ".join("d0_%d" % d for d in others)
    put(node, "whole / (float)(%s)" % count if kind == "mean" else "whole")


def triplet(node):
    """The loss of one row; the rows are added up by a launch of their own."""
    eps, margin = node.real("eps", "1e-6"), node.real("margin", "1")
    node.add("float near = 0.0f, far = 0.0f;")
    node.add("for (long long k = 0; k < d0_1; k++) {")
    node.add("   const float x = p0[i * d0_1 + k], y = x - p1[i * d0_1 + k] + %s, z = x - p2[i * d0_1 + k] + %s;" % (eps, eps))
    node.add("   near += y * y; far += z * z; }")
    put(node, "fmaxf(sqrtf(near) - sqrtf(far) + %s, 0.0f)" % margin)


def similarity(node):
    dim, out = node.literal("dim", "1") % node.rank(0), iter(node.coordinates())
    c = [("k" if d == dim else next(out)) for d in range(node.rank(0))]
    node.add("float x = 0.0f, y = 0.0f, z = 0.0f;")
    node.add("for (long long k = 0; k < %s; k++) { const float a = %s, b = %s; x += a * b; y += a * a; z += b * b; }" % (
        node.size(0, dim), node.at(0, c), node.at(1, c)))
    eps = node.real("eps", "1e-8")
    put(node, "x / (fmaxf(sqrtf(y), %s) * fmaxf(sqrtf(z), %s))" % (eps, eps))


BODIES = [
    (("pow", "clamp", "hardtanh", "relu6", "leaky_relu", "elu", "gelu"), scaled),
    (("where", "masked_fill"), chosen),
    (("softmax", "log_softmax"), softmax),
    (("cumsum", "cumprod"), cumulative),
    (("reshape", "view", "flatten", "squeeze", "unsqueeze", "contiguous", "detach", "expand", "transpose", "permute", "narrow", "slice",
      "select", "flip", "tril", "triu", "causal_mask"), moved),
    (("cat",), joined),
    (("cat_part",), joined_part),
    (("rows_total",), rows_total),
    (("row_sums",), row_sums),
    (("row_statistics",), row_statistics),
    (("row_exponentials",), row_exponentials),
    (("by_rows",), by_rows),
    (("joined_statistics",), joined_statistics),
    (("normalised",), normalised_by),
    (("pad",), padded),
    (("full", "arange"), made),
    (("gather", "embedding"), picked),
    (("scatter", "scatter_add"), scattered),
    (("topk", "sort"), ranked),
    (("linear", "matmul", "bmm"), product),
    (("conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d"), convolution),
    (("scaled_dot_product_attention",), attention),
    (("layer_norm", "rms_norm", "group_norm", "instance_norm", "batch_norm"), normalised),
    (tuple("%s_pool%dd" % (kind, d) for kind in ("max", "avg", "adaptive_avg", "adaptive_max") for d in (1, 2, 3)), pooled),
    (("interpolate",), resampled),
    (("cross_entropy", "nll_loss"), cross_entropy),
    (("triplet_margin_loss",), triplet),
    (("cosine_similarity",), similarity),
]  # fmt: skip
