"""Holds every function of tests/reference/functions.txt against PyTorch, one task a line, forward and gradients, on numbers and, where
the reference says what NaN becomes, with NaN among them.

    /usr/bin/python3 functions.py --dump PROGRAM --made FOLDER --list functions.txt

FOLDER holds the tasks that test_functions made of the lines.  The rule is compare.py's: torch in double precision lies within
max(1e-11 max|row|, 64 bounds at u = 2^-53) of the evaluator.  A line whose op has no torch call here fails.
"""

import argparse
import os
import sys

import torch
import torch.nn.functional as F

import compare


def over(function):
    """A reduction; dim may list several or be absent."""

    def call(tensors, attr):
        attr = dict(attr)
        dim = attr.pop("dim", None)
        if isinstance(dim, tuple) and len(dim) == 1:
            dim = dim[0]
        return function(tensors[0], **attr) if dim is None else function(tensors[0], dim=dim, **attr)

    return call


def norm_over_last(tensors, attr):
    size = attr["normalized_shape"]
    return F.layer_norm(tensors[0], size if isinstance(size, tuple) else (size,), tensors[1], tensors[2])


def root_mean_square(tensors, attr):
    return tensors[0] * torch.rsqrt((tensors[0] ** 2).mean(-1, keepdim=True) + 1e-5) * tensors[1]


def attention(tensors, attr):
    q, k, v = tensors
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    if attr.get("is_causal"):
        scores = scores.masked_fill(torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1), float("-inf"))
    return scores.softmax(-1) @ v


def batch_norm(tensors, attr):
    if attr["training"]:
        return F.batch_norm(tensors[0], None, None, tensors[1], tensors[2], training=True)
    x, mean, variance, weight, bias = [t if t.dim() > 1 else t[:, None] for t in tensors]  # with gradients for all
    return (x - mean) * torch.rsqrt(variance + 1e-5) * weight + bias


def hinge(tensors, attr):
    each = torch.where(tensors[1] > 0, tensors[0], (attr["margin"] - tensors[0]).clamp(min=0))
    return {"none": each, "sum": each.sum(), "mean": each.mean()}[attr.get("reduction", "mean")]


def other(function):
    return lambda tensors, attr: function(tensors[0], tensors[1] if len(tensors) > 1 else attr["other"])


def clamped(tensors, attr):
    """The limits are numbers of the tensor's own type."""
    low, high = [torch.tensor(attr[name], dtype=torch.float32).item() for name in ("min", "max")]
    return tensors[0].clamp(low, high)


def sliced(tensors, attr):
    return tensors[0].index_select(attr["dim"], torch.arange(attr["start"], attr["end"], attr["step"]))


def padded(tensors, attr):
    return F.pad(tensors[0], attr["pad"], value=attr.get("value", 0.0))


def converted(tensors, attr):
    if attr["dtype"] in compare.NARROW:
        return compare.rounded(tensors[0].double(), attr["dtype"])
    return tensors[0].to(getattr(torch, attr["dtype"]))


def hard_sigmoid(x):
    """torch's own gradient holds 1/6 as a float32 even in double precision."""
    return (x + 3).clamp(0, 6) / 6


def ranked(tensors, attr):
    count = attr.get("k", tensors[0].shape[attr["dim"]])
    return torch.topk(tensors[0], count, attr["dim"], attr.get("largest", attr.get("descending", False)) if "k" not in attr else attr.get("largest", True))[0]


def linear_scan(tensors, attr):
    factors, addends = [tensor.unbind(attr["dim"]) for tensor in tensors]
    states = [addends[0]]
    for factor, addend in zip(factors[1:], addends[1:]):
        states.append(factor * states[-1] + addend)
    return torch.stack(states, attr["dim"])


def recurrent(function, states):
    """One layer of torch's own, on the weights given."""

    def call(tensors, attr):
        x, state, weights = tensors[0], [part[None] for part in tensors[1 : 1 + states]], tensors[1 + states :]
        x = x.flip(0) if attr.get("reverse") else x
        made = function(x, state if states > 1 else state[0], weights, len(weights) > 2, 1, 0.0, False, False, False)[0]
        return made.flip(0) if attr.get("reverse") else made

    return call


SPECIAL = {
    "detach": lambda t, a: t[0].detach() + 0 * t[0],
    "topk": ranked,
    "sort": ranked,
    "linear_scan": linear_scan,
    "searchsorted": lambda t, a: torch.searchsorted(t[0].contiguous(), t[1].contiguous(), right=a.get("right", False)),
    "scatter": lambda t, a: t[0].scatter(a["dim"], t[1], t[2]),
    "scatter_add": lambda t, a: t[0].scatter_add(a["dim"], t[1], t[2]),
    "rnn_tanh": recurrent(torch.rnn_tanh, 1),
    "gru": recurrent(torch.gru, 1),
    "lstm": recurrent(torch.lstm, 2),
    "hardsigmoid": lambda t, a: hard_sigmoid(t[0]),
    "hardswish": lambda t, a: t[0] * hard_sigmoid(t[0]),
    "add": other(torch.add),
    "sub": other(torch.sub),
    "mul": other(torch.mul),
    "div": other(torch.div),
    "rsub": lambda t, a: a["other"] - t[0],
    "rdiv": lambda t, a: a["other"] / t[0],
    "pow": lambda t, a: t[0] ** a["exponent"],
    "to": converted,
    "bitwise_and": lambda t, a: t[0] & a["other"],
    "bitwise_right_shift": lambda t, a: t[0] >> a["other"],
    "where": lambda t, a: torch.where(t[0] != 0, t[1], t[2]),
    "masked_fill": lambda t, a: t[0].masked_fill(t[1] != 0, a["value"]),
    "clamp": clamped,
    "tanh": lambda t, a: torch.tanh(t[0]),
    "sigmoid": lambda t, a: torch.sigmoid(t[0]),
    "gelu": lambda t, a: F.gelu(t[0], **a),
    "leaky_relu": lambda t, a: F.leaky_relu(t[0], **a),
    "elu": lambda t, a: F.elu(t[0], **a),
    "max": lambda t, a: torch.max(t[0], **a)[0],
    "min": lambda t, a: torch.min(t[0], **a)[0],
    "reshape": lambda t, a: t[0].reshape(a["shape"]),
    "expand": lambda t, a: t[0].expand(a["shape"]),
    "permute": lambda t, a: t[0].permute(a["dims"]),
    "slice": sliced,
    "cat": lambda t, a: torch.cat(t, **a),
    "pad": padded,
    "flip": lambda t, a: t[0].flip([a["dims"]]),
    "gather": lambda t, a: t[0].gather(a["dim"], t[1]),
    "embedding": lambda t, a: t[0][t[1]],
    "interpolate": lambda t, a: F.interpolate(t[0], **a),
    "scaled_dot_product_attention": attention,
    "layer_norm": norm_over_last,
    "rms_norm": root_mean_square,
    "group_norm": lambda t, a: F.group_norm(t[0], a["num_groups"], t[1], t[2]),
    "instance_norm": lambda t, a: F.instance_norm(t[0]),
    "batch_norm": batch_norm,
    "hinge_embedding_loss": hinge,
    "view": lambda t, a: t[0].reshape(a["shape"]),
    "contiguous": lambda t, a: t[0].clone(),
    "causal_mask": lambda t, a: t[0].masked_fill(torch.ones(t[0].shape[-2:], dtype=torch.bool).triu(1), float("-inf")),
    "hardtanh": clamped,
    "argmax": over(torch.argmax),
    "argmin": over(torch.argmin),
}
for label in ("gt", "ge", "lt", "le", "eq"):
    SPECIAL[label] = lambda t, a, label=label: getattr(torch, label)(t[0], t[1] if len(t) > 1 else a["other"]).to(t[0].dtype)
for label in ("sum", "mean", "amax", "amin", "var", "std", "norm"):
    SPECIAL[label] = over(getattr(torch, label))


def torch_call(op):
    if op in SPECIAL:
        return SPECIAL[op]
    function = getattr(F, op, None) or getattr(torch, op, None)
    return (lambda tensors, attr: function(*tensors, **attr)) if function else None


def value_of(text):
    text = text.strip().strip('"')
    if text in ("true", "false"):
        return text == "true"
    if "," in text:
        return tuple(int(part) for part in text.split(","))
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def attributes_of(text):
    """name: value, with lists in quotes."""
    found, rest = {}, text.strip()
    while rest:
        name, rest = rest.split(":", 1)
        rest = rest.strip()
        end = rest.index('"', 1) + 1 if rest.startswith('"') else (rest + ",").index(",")
        found[name.strip(" ,")] = value_of(rest[:end])
        rest = rest[end:].strip(" ,")
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dump", required=True)
    parser.add_argument("--made", required=True)
    parser.add_argument("--list", required=True)
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.backends.mkldnn.flags(enabled=False).__enter__()
    with open(options.list) as file:
        lines = [line for line in file.read().splitlines() if line and not line.startswith("#")]
    failed, with_nan, worst_of_all = 0, 0, 0.0
    for number, line in enumerate(lines):
        op, inputs, attributes, _, *only = [field.strip() for field in line.split("|")]
        names = [part.split(":")[0].strip() for part in inputs.split(";")]
        call, attr = torch_call(op), attributes_of(attributes)
        task = os.path.join(options.made, "%03d_%s" % (number, op))
        for direction in ("forward",) if only else ("forward", "backward"):
            for family in ("normal", "not_a_number"):
                if call is None:
                    worst, where = float("nan"), "no call of torch is known for it"
                else:
                    worst, where = compare.held(
                        options.dump, task, direction, 2, lambda tensors, settings: call([tensors[name] for name in names], attr), family
                    )
                if worst is None:
                    continue
                with_nan += family == "not_a_number"
                bad = not worst <= 1
                failed += bad
                worst_of_all = max(worst_of_all, worst) if worst == worst else worst_of_all
                if bad:
                    print("%3d %-32s %-9s %-12s %10.3g  %s  OUTSIDE" % (number, op, direction, family, worst, where))
    print("%d functions, both directions, two seeds: largest share of what is allowed %.3g; %d times with NaN" % (len(lines), worst_of_all, with_nan))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
