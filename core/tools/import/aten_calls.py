"""How each ATen operation of an exported program is written as a call of torch, torch.nn.functional or a method.

Arguments come in the order of the operation's schema; the call has them in the order of PyTorch's function of the same meaning.
"""

import operator

import torch
import torch.nn.functional as F

from refusal import Refused

FAR = (1 << 63) - 1  # the end of a slice that has no end
REDUCTIONS = ("none", "mean", "sum")
CHECKS = ("_assert_tensor_metadata", "_assert_async", "_assert_scalar", "sym_constrain_range", "sym_constrain_range_for_size", "_check", "_guards_fn")
SAME_VALUE = ("alias", "lift_fresh_copy", "lift_fresh", "lift", "detach_", "view_as_real_copy")
OPTIONS = ("layout", "device", "pin_memory", "memory_format", "non_blocking", "copy")


class Call:
    """A call function(*args, **kwargs), or args[0].function(...) of a method.  wrapped: the result is a tuple with the call's value alone."""

    def __init__(self, function, args, kwargs=None, method=False, wrapped=False):
        self.function, self.args, self.kwargs = function, list(args), dict(kwargs or {})
        self.method, self.wrapped = method, wrapped

    def text(self, shown):
        given = [shown(value) for value in self.args] + ["%s=%s" % (key, shown(value)) for key, value in self.kwargs.items()]
        if self.method:
            made = "%s.%s(%s)" % (given[0], self.function, ", ".join(given[1:]))
        else:
            made = "%s(%s)" % (self.function, ", ".join(given))
        return "(%s,)" % made if self.wrapped else made


def padded(args, *defaults):
    """args, with defaults for those that are left out."""
    return list(args) + list(defaults[len(args) :])


def schema_name(target):
    """The name 'add' of aten.add.Tensor, or of a plain function."""
    schema = getattr(target, "_schema", None)
    return schema.name.split("::")[-1] if schema is not None else getattr(target, "__name__", str(target))


def schema_defaults(target, args, kwargs):
    """All positional arguments of the operation, with the schema's defaults for those that are left out; and the other named arguments."""
    schema = getattr(target, "_schema", None)
    if schema is None:
        return list(args), dict(kwargs)
    full, named = list(args), dict(kwargs)
    for part in [part for part in schema.arguments if not part.kwarg_only][len(args) :]:
        if part.name in named:
            full.append(named.pop(part.name))
        else:
            full.append(part.default_value if part.has_default_value() else None)
    return full, named


def call_of(target, args, kwargs):
    """Returns a Call; or a torch.fx.Node, if the result is this value itself; or None, if the node says nothing about values."""
    name = schema_name(target)
    if name in CHECKS:
        return None
    if getattr(target, "_schema", None) is None:
        return plain(target, name, args, kwargs)
    full, named = schema_defaults(target, args, kwargs)
    named = {key: value for key, value in named.items() if key not in OPTIONS and value is not None}
    if name in SAME_VALUE:
        return full[0]
    special = globals().get("call_" + name)
    if special is not None:
        return special(full, named)
    return general(target, name, full, named)


def plain(target, name, args, kwargs):
    """Python's own functions, on sizes and tuples."""
    if target is operator.getitem:
        return Call("operator.getitem", args)
    if getattr(operator, name, None) is target or name in ("sym_size", "sym_int", "sym_max", "sym_min", "sym_sqrt", "sym_float", "sym_not"):
        if name.startswith("sym_"):
            return Call({"sym_int": "int", "sym_max": "max", "sym_min": "min", "sym_sqrt": "math.sqrt", "sym_float": "float"}.get(name, name), args)
        return Call("operator." + name, args, kwargs)
    raise Refused("%s is not covered" % name)


def trimmed(target, full):
    """Arguments without the last ones that have their default."""
    parts = [part for part in target._schema.arguments if not part.kwarg_only]
    while full and parts[len(full) - 1].has_default_value() and full[-1] == parts[len(full) - 1].default_value:
        full = full[:-1]
    return full


def general(target, name, full, named):
    full = trimmed(target, full)
    for place, module in (("torch.", torch), ("F.", F)):
        if hasattr(module, name):
            return Call(place + name, full, named)
    if hasattr(torch.Tensor, name):
        return Call(name, full, named, method=True)
    if name.endswith("_") and hasattr(F, name[:-1]):
        return Call("F." + name[:-1], full, dict(named, inplace=True))
    raise Refused("the operation aten.%s is not covered" % name)


# --- moving elements


def call_sym_size(full, named):
    return Call("size", full, method=True)


def call_view(full, named):
    return Call("view", full, method=True)


def call__unsafe_view(full, named):
    return Call("reshape", full, method=True)


call_reshape = call_view_copy = call__unsafe_view


def call__reshape_alias(full, named):
    return Call("reshape", full[:2], method=True)


def call_expand(full, named):
    return Call("expand", full[:2], method=True)


def call_t(full, named):
    return Call("t", full, method=True)


def call_numpy_T(full, named):
    return Call("t", full, method=True)


def call_contiguous(full, named):
    return Call("contiguous", full[:1], method=True)


def call_clone(full, named):
    return Call("clone", full[:1], method=True)


def call_slice(full, named):
    x, dim, start, end, step = padded(full, None, 0, None, None, 1)
    if dim < 0:
        raise Refused("a slice along a dim counted from the end is not covered")
    end = None if isinstance(end, int) and end >= FAR else end
    cut = slice(start, end, None if step == 1 else step)
    return Call("operator.getitem", [x, tuple([slice(None)] * dim + [cut])])


def call_index(full, named):
    return Call("operator.getitem", [full[0], tuple(slice(None) if part is None else part for part in full[1])])


call__unsafe_index = call_index


def call_split_with_sizes(full, named):
    return Call("torch.split", full)


def call_permute(full, named):
    return Call("torch.permute", full[:2])


# --- types


def call_to(full, named):
    dtype = named.get("dtype") or next((part for part in full[1:] if isinstance(part, torch.dtype)), None)
    return Call("to", [full[0], dtype], method=True) if dtype else full[0]


call__to_copy = call_to


def call_type_as(full, named):
    return Call("type_as", full, method=True)


# --- products and layers


def call_addmm(full, named):
    if any(named.get(key, 1) != 1 for key in ("beta", "alpha")):
        raise Refused("addmm with beta or alpha is not covered")
    return Call("torch.addmm", full[:3])


def call_convolution(full, named):
    x, weight, bias, stride, padding, dilation, transposed, output_padding, groups = full[:9]
    dims = len(stride)
    if transposed:
        return Call("F.conv_transpose%dd" % dims, [x, weight, bias, stride, padding, output_padding, groups, dilation])
    return Call("F.conv%dd" % dims, [x, weight, bias, stride, padding, dilation, groups])


def call_embedding(full, named):
    return Call("F.embedding", [full[1], full[0]])


def call_batch_norm(full, named):
    x, weight, bias, mean, variance, training, momentum, eps = full[:8]
    return Call("F.batch_norm", [x, mean, variance, weight, bias, training, momentum, eps])


def call_native_batch_norm(full, named):
    call = call_batch_norm(full, named)
    call.wrapped = True
    return call


def call__native_batch_norm_legit_no_training(full, named):
    return call_native_batch_norm(full[:5] + [False] + full[5:7], named)


def call__native_batch_norm_legit(full, named):
    if len(full) < 8:  # without running statistics
        return Call("F.batch_norm", [full[0], None, None, full[1], full[2], full[3], full[4], full[5]], wrapped=True)
    return call_native_batch_norm(full, named)


def call_native_layer_norm(full, named):
    return Call("F.layer_norm", full[:5], wrapped=True)


def call_layer_norm(full, named):
    return Call("F.layer_norm", full[:5])


def call_native_group_norm(full, named):
    x, weight, bias, _, _, _, groups, eps = full[:8]
    return Call("F.group_norm", [x, groups, weight, bias, eps], wrapped=True)


def call_group_norm(full, named):
    return Call("F.group_norm", full[:5])


def call_instance_norm(full, named):
    x, weight, bias, mean, variance, use_input, momentum, eps = full[:8]
    if not use_input:
        return Call("F.batch_norm", [x, mean, variance, weight, bias, False, momentum, eps])
    return Call("F.instance_norm", [x, None, None, weight, bias, True, momentum, eps])


def call_dropout(full, named):
    return Call("F.dropout", full[:3])


def call_scaled_dot_product_attention(full, named):
    keys = ("attn_mask", "dropout_p", "is_causal")
    given = {key: value for key, value in zip(keys, full[3:6]) if value not in (None, False, 0.0)}
    return Call("F.scaled_dot_product_attention", full[:3], dict(given, **named))


def pool(name, wrapped):
    def call(full, named):
        full = [None if part == [] else part for part in full]
        return Call("F." + name, full, named, wrapped=wrapped)

    return call


for _dims in (1, 2, 3):
    for _kind in ("max_pool", "avg_pool"):
        globals()["call_%s%dd" % (_kind, _dims)] = pool("%s%dd" % (_kind, _dims), False)
    globals()["call_max_pool%dd_with_indices" % _dims] = pool("max_pool%dd" % _dims, True)
    globals()["call__adaptive_avg_pool%dd" % _dims] = pool("adaptive_avg_pool%dd" % _dims, False)


def call_constant_pad_nd(full, named):
    return Call("F.pad", [full[0], full[1], "constant", full[2]])


def call_pad(full, named):
    return Call("F.pad", full)


def resized(mode):
    def call(full, named):
        x, size = full[0], full[1]
        corners = {"align_corners": full[2]} if mode != "nearest" else {}
        factors = full[-1]
        given = {"size": size} if size is not None else {"scale_factor": factors}
        return Call("F.interpolate", [x], dict(given, mode=mode, **corners))

    return call


for _dims, _mode in ((1, "linear"), (2, "bilinear"), (3, "trilinear")):
    globals()["call_upsample_nearest%dd" % _dims] = resized("nearest")
    globals()["call_upsample_%s%dd" % (_mode, _dims)] = resized(_mode)


# --- reductions, activations, losses


def call__softmax(full, named):
    return Call("torch.softmax", full[:2])


def call__log_softmax(full, named):
    return Call("torch.log_softmax", full[:2])


def call_softmax(full, named):
    dtype = full[2] if len(full) > 2 else named.get("dtype")
    return Call("torch.softmax", full[:2], {"dtype": dtype} if dtype else {})


def call_log_softmax(full, named):
    dtype = full[2] if len(full) > 2 else named.get("dtype")
    return Call("torch.log_softmax", full[:2], {"dtype": dtype} if dtype else {})


def spread(name):
    def call(full, named):
        correction = named.get("correction", 1)
        if correction not in (0, 1):
            raise Refused("%s with correction = %s is not covered" % (name, correction))
        if len(full) > 1 and isinstance(full[1], bool):  # var(x, unbiased)
            return Call("torch." + name, full)
        dims, unbiased, keepdim = padded(full[1:], None, bool(correction), named.get("keepdim", False))  # var.correction has the last two by name
        given = {"unbiased": unbiased, "keepdim": keepdim}
        return Call("torch." + name, [full[0], dims], given) if dims is not None else Call("torch." + name, [full[0], unbiased])

    return call


call_var, call_std = spread("var"), spread("std")


def call_clamp_min(full, named):
    return Call("torch.clamp", full[:1], {"min": full[1]})


def call_clamp_max(full, named):
    return Call("torch.clamp", full[:1], {"max": full[1]})


def call_max(full, named):
    if len(full) == 2 and isinstance(full[1], torch.fx.Node):
        return Call("torch.maximum", full)
    return Call("torch.max", full)


def call_min(full, named):
    if len(full) == 2 and isinstance(full[1], torch.fx.Node):
        return Call("torch.minimum", full)
    return Call("torch.min", full)


def call_scalar_tensor(full, named):
    return Call("torch.full", [(), full[0]], named)


def loss(name, after=()):
    """Losses whose third argument is the reduction's number; further arguments have names."""

    def call(full, named):
        others = {key: value for key, value in zip(after, full[3:])}
        return Call("F." + name, full[:2], dict(others, reduction=REDUCTIONS[full[2]], **named))

    return call


call_mse_loss, call_l1_loss = loss("mse_loss"), loss("l1_loss")
call_smooth_l1_loss, call_huber_loss = loss("smooth_l1_loss", ("beta",)), loss("huber_loss", ("delta",))
call_kl_div = loss("kl_div")


def call_cross_entropy_loss(full, named):
    x, target, weight, reduction, ignored, smoothing = full[:6]
    return Call("F.cross_entropy", [x, target], {
        "weight": weight, "ignore_index": ignored, "reduction": REDUCTIONS[reduction], "label_smoothing": smoothing})


def call_nll_loss_nd(full, named):
    x, target, weight, reduction, ignored = full[:5]
    return Call("F.nll_loss", [x, target], {"weight": weight, "ignore_index": ignored, "reduction": REDUCTIONS[reduction]})


def call_binary_cross_entropy(full, named):
    return Call("F.binary_cross_entropy", full[:2], {"weight": full[2], "reduction": REDUCTIONS[full[3]]})


def call_binary_cross_entropy_with_logits(full, named):
    return Call("F.binary_cross_entropy_with_logits", full[:2], {"weight": full[2], "pos_weight": full[3], "reduction": REDUCTIONS[full[4]]})
