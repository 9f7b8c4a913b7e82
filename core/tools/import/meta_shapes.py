"""The shapes of results that PyTorch does not compute on the meta device, computes only from version 2 on, or computes too slowly.

PyTorch 2 goes through some hundreds of lines of Python for a product, a convolution or a join of meta tensors, a millisecond or three
for each.  told() knows the plain calls of these: floats of one type, no size of zero, one after another in memory.  Whatever is unusual
about a call, or wrong with it, is left to PyTorch."""

import torch
import torch.nn as nn

import early_checks

RECURRENT = {"lstm": 4, "gru": 3, "rnn_tanh": 1}  # gates


def without_data(like, shape):
    """A meta tensor of the type of another.  PyTorch 2 answers new_empty and empty of meta tensors in Python, and this call in C."""
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return torch.empty_strided(tuple(shape), tuple(reversed(strides)), dtype=like.dtype, device="meta")


def batch_norm_shape(module, value):
    module._check_input_dim(value)
    if value.numel() == value.shape[1]:
        raise ValueError("Expected more than 1 value per channel when training, got input size %s" % (tuple(value.shape),))
    return without_data(value, value.shape)


def loss_shape(x, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean", label_smoothing=0.0):
    """cross_entropy, which PyTorch 1.13 does not have on the meta device with label_smoothing."""
    if label_smoothing and target.dtype != x.dtype:
        nn.functional.cross_entropy(x, target, weight, size_average, ignore_index, reduce, reduction)  # whatever is wrong with the shapes
        return without_data(x, target.shape if reduction == "none" else ())
    return nn.functional.cross_entropy(x, target, weight, size_average, ignore_index, reduce, reduction, label_smoothing)


def recurrent_shapes(name, x, states, weights, biased, layers, dropout, training, both_ways, batch_first):
    """The shapes that a recurrent layer gives.  PyTorch 2 would go through every step, which takes a minute for some hundreds."""
    given = list(states) if name == "lstm" else [states]
    ways, hidden = 2 if both_ways else 1, given[0].shape[-1]
    batch = x.shape[0 if batch_first else 1]
    each, wide = 4 if biased else 2, RECURRENT[name] * hidden
    for turn in range(layers * ways):
        inputs = x.shape[2] if turn < ways else ways * hidden
        held = [tuple(weight.shape) for weight in weights[turn * each : turn * each + each]]
        if held != [(wide, inputs), (wide, hidden), (wide,), (wide,)][:each]:
            raise RuntimeError("%s: weights of the shapes %s do not fit %d inputs and %d hidden units" % (name, held, inputs, hidden))
    for state in given:
        if tuple(state.shape) != (layers * ways, batch, hidden):
            raise RuntimeError("%s: a state has the shape %s, not %s" % (name, tuple(state.shape), (layers * ways, batch, hidden)))
    return (without_data(x, tuple(x.shape[:2]) + (ways * hidden,)), *[without_data(state, state.shape) for state in given])


def pooled_shape(value, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    """max_pool3d, which PyTorch 1.13 does not have on the meta device."""
    if return_indices:
        raise NotImplementedError("with return_indices")
    triple = [tuple(v) if isinstance(v, (tuple, list)) else (v,) * 3 for v in (kernel_size, stride or kernel_size, padding, dilation)]
    sizes = []
    for size, kernel, step, around, apart in zip(value.shape[-3:], *triple):
        room = size + 2 * around - apart * (kernel - 1) - 1
        windows = -(-room // step) + 1 if ceil_mode else room // step + 1
        if ceil_mode and (windows - 1) * step >= size + around:
            windows -= 1
        sizes.append(windows)
    if min(sizes) < 1:
        raise RuntimeError("a pool's window is larger than its input")
    return without_data(value, tuple(value.shape[:-3]) + tuple(sizes))


def repeated_shape(value, repeats, dim=None, output_size=None):
    """torch's own function asks for the size that it would give."""
    if not isinstance(repeats, int) or (dim is None and value.dim() != 1):
        raise NotImplementedError("repeats of one number along one dim are covered alone")
    dim = 0 if dim is None else dim % value.dim()
    shape = value.shape[:dim] + (value.shape[dim] * repeats,) + value.shape[dim + 1 :]
    return without_data(value, shape)


def one_hot_shape(value, num_classes=-1):
    """torch's own function looks at the numbers."""
    if not isinstance(num_classes, int) or num_classes < 1:
        raise NotImplementedError("num_classes is found from the numbers; give it")
    if value.dtype != torch.int64:
        raise RuntimeError("one_hot is only applicable to index tensor, of type int64")
    return without_data(value, (*value.shape, num_classes))


def plain(first, *others):
    """Whether all are float tensors of one type, contiguous in memory, and not empty."""
    kind = first.dtype
    return kind.is_floating_point and all(
        type(x) is torch.Tensor and x.dtype is kind and x.device.type == "meta" and x.is_contiguous() and x.numel() > 0 for x in (first, *others))


def told_linear(x, weight, bias=None):
    if not plain(x, weight, *(() if bias is None else (bias,))) or x.dim() < 1 or weight.dim() != 2 or x.shape[-1] != weight.shape[1]:
        return None
    if bias is not None and bias.shape != weight.shape[:1]:
        return None
    return without_data(x, (*x.shape[:-1], weight.shape[0]))


def told_convolution(spatial):
    def told(x, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
        if not plain(x, weight, *(() if bias is None else (bias,))) or x.dim() != spatial + 2 or weight.dim() != spatial + 2:
            return None
        around, steps, apart = [early_checks.each(value, spatial) for value in (padding, stride, dilation)]
        numbers = (*around, *steps, *apart, groups)
        if isinstance(padding, str) or not all(type(value) is int for value in numbers) or len(numbers) != 3 * spatial + 1:
            return None
        if min(*steps, *apart, groups) < 1 or min(around) < 0 or weight.shape[0] % groups or x.shape[1] != weight.shape[1] * groups:
            return None
        if bias is not None and bias.shape != weight.shape[:1]:
            return None
        sizes = [(size + 2 * a - d * (kernel - 1) - 1) // step + 1 for size, kernel, a, step, d in zip(x.shape[2:], weight.shape[2:], around, steps, apart)]
        return without_data(x, (x.shape[0], weight.shape[0], *sizes)) if min(sizes) > 0 else None

    return told


def told_cat(tensors, dim=0):
    if not isinstance(tensors, (tuple, list)) or not tensors or type(tensors[0]) is not torch.Tensor or type(dim) is not int or not plain(*tensors):
        return None
    first = tensors[0].shape
    if not -len(first) <= dim < len(first):
        return None
    dim %= len(first)
    if any(len(x.shape) != len(first) or x.shape[:dim] != first[:dim] or x.shape[dim + 1 :] != first[dim + 1 :] for x in tensors):
        return None
    return without_data(tensors[0], (*first[:dim], sum(x.shape[dim] for x in tensors), *first[dim + 1 :]))


def told_hardtanh(x, min_val=-1.0, max_val=1.0, inplace=False):
    if not plain(x) or not all(type(value) in (int, float) for value in (min_val, max_val)) or not min_val < max_val:
        return None
    return x if inplace else without_data(x, x.shape)


def told_unary(x, inplace=False):
    if not plain(x):
        return None
    return x if inplace else without_data(x, x.shape)


def told_dropout(x, p=0.5, training=True, inplace=False):
    """Dropout that drops nothing: the result is the operand."""
    return x if type(x) is torch.Tensor and x.is_floating_point() and type(training) is bool and not training and 0 <= p <= 1 else None


def told_softmax(x, dim=None, _stacklevel=3, dtype=None):
    if type(dim) is not int or dtype is not None or not plain(x) or not -x.dim() <= dim < x.dim():
        return None
    return without_data(x, x.shape)


def told_gelu(x, *, approximate="none"):
    return without_data(x, x.shape) if plain(x) and approximate in ("none", "tanh") else None


def told_pool(spatial, padded):
    """padded: what PyTorch says of padding is the same for a window and a window of averages."""

    def told(x, kernel_size, stride=None, padding=0, *more, **others):
        if not plain(x) or x.dim() != spatial + 2 or not padded(*more, **others):
            return None
        kernels, steps, around = [early_checks.each(value, spatial) for value in (kernel_size, stride or kernel_size, padding)]
        numbers = (*kernels, *steps, *around)
        if not all(type(value) is int for value in numbers) or len(numbers) != 3 * spatial or min(*kernels, *steps) < 1 or min(around) < 0:
            return None
        if any(2 * a > kernel for a, kernel in zip(around, kernels)):
            return None
        sizes = [(size + 2 * a - kernel) // step + 1 for size, kernel, a, step in zip(x.shape[2:], kernels, around, steps)]
        return without_data(x, (*x.shape[:2], *sizes)) if min(sizes) > 0 else None

    return told


def plain_max(dilation=1, ceil_mode=False, return_indices=False):
    return dilation in (1, (1, 1)) and ceil_mode is False and return_indices is False


def plain_average(ceil_mode=False, count_include_pad=True, divisor_override=None):
    return ceil_mode is False and divisor_override is None


def told_adaptive(x, output_size):
    wanted = early_checks.each(output_size, 2)
    if not plain(x) or x.dim() != 4 or len(wanted) != 2 or not all(type(size) is int and size > 0 for size in wanted):
        return None
    return without_data(x, (*x.shape[:2], *wanted))


def told_matmul(x, other):
    """Products of matrices in equal batches."""
    pair = [value for value in (x, other) if type(value) is torch.Tensor and value.device.type == "meta" and value.is_floating_point() and value.numel()]
    if len(pair) != 2 or x.dtype is not other.dtype or x.dim() != other.dim() or x.dim() < 3 or x.shape[:-2] != other.shape[:-2] or x.shape[-1] != other.shape[-2]:
        return None
    return without_data(x, (*x.shape[:-1], other.shape[-1]))


def told_attention_layer(query, key, value, embed_dim_to_check, num_heads, in_proj_weight, in_proj_bias, bias_k, bias_v, add_zero_attn, dropout_p,
                         out_proj_weight, out_proj_bias, training=True, key_padding_mask=None, need_weights=True, attn_mask=None,
                         use_separate_proj_weight=False, q_proj_weight=None, k_proj_weight=None, v_proj_weight=None, static_k=None, static_v=None,
                         average_attn_weights=True, is_causal=False):
    """(result, weights) of multi_head_attention_forward over one tensor, without masks and whatever else is unusual."""
    unusual = (bias_k, bias_v, key_padding_mask, attn_mask, q_proj_weight, k_proj_weight, v_proj_weight, static_k, static_v)
    if any(other is not None for other in unusual) or add_zero_attn or use_separate_proj_weight or is_causal or query is not key or key is not value:
        return None
    width = query.shape[-1]
    if query.dim() != 3 or width != embed_dim_to_check or num_heads < 1 or width % num_heads or query.dtype is not in_proj_weight.dtype:
        return None
    if tuple(in_proj_weight.shape) != (3 * width, width) or tuple(out_proj_weight.shape) != (width, width) or not query.numel():
        return None
    if any(given is not None and tuple(given.shape) != (size,) for given, size in ((in_proj_bias, 3 * width), (out_proj_bias, width))):
        return None
    length, batch = query.shape[:2]
    heads = () if average_attn_weights else (num_heads,)
    return without_data(query, (length, batch, width)), without_data(query, (batch, *heads, length, length)) if need_weights else None


def told_attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
    """scaled_dot_product_attention over heads that several heads of queries share; others are PyTorch's to tell."""
    if not enable_gqa:
        return None
    if min(query.dim(), key.dim(), value.dim()) < 3:
        raise RuntimeError("attention with enable_gqa has tensors of heads, rows and features at least")
    heads, shared = query.shape[-3], (key.shape[-3], value.shape[-3])
    if any(count < 1 or heads % count for count in shared):
        raise RuntimeError("attention with enable_gqa: %d heads of queries are no multiple of %d heads of keys and %d of values" % (heads, *shared))
    if key.shape[-2] != value.shape[-2] or query.shape[-1] != key.shape[-1] or not query.shape[:-3] == key.shape[:-3] == value.shape[:-3]:
        raise RuntimeError("attention of queries %s, keys %s and values %s: they do not fit" % tuple(list(x.shape) for x in (query, key, value)))
    scores = (*query.shape[:-1], key.shape[-2])
    if attn_mask is not None and torch.broadcast_shapes(attn_mask.shape, scores) != scores:
        raise RuntimeError("a mask of %s does not fit the scores, which are %s" % (list(attn_mask.shape), list(scores)))
    return without_data(query, (*query.shape[:-1], value.shape[-1]))


def told_weight_norm(v, g, dim=0):
    """PyTorch 1.13 does not have it on the meta device."""
    if v.dtype is not g.dtype or g.numel() != (1 if dim == -1 else v.shape[dim]):
        return None
    return without_data(v, v.shape)


def told_relu6(x, inplace=False):
    return told_hardtanh(x, 0.0, 6.0, inplace)


def told_layer_norm(x, normalized_shape, weight=None, bias=None, eps=1e-5):
    given = [value for value in (weight, bias) if value is not None]
    wanted = tuple(normalized_shape) if isinstance(normalized_shape, (tuple, list)) else ()
    if not wanted or not plain(x, *given) or tuple(x.shape[-len(wanted) :]) != wanted or any(tuple(value.shape) != wanted for value in given):
        return None
    return without_data(x, x.shape)


def told_binary(x, other):
    """x and another tensor, or a number, element by element."""
    if type(other) in (int, float) and type(x) is torch.Tensor:
        return without_data(x, x.shape) if plain(x) else None
    if type(x) in (int, float):
        return told_binary(other, x)
    if not plain(x, other):
        return None
    few, many = sorted((x.shape, other.shape), key=len)
    shape = list(many)
    for axis in range(-len(few), 0):
        if few[axis] != many[axis] and 1 not in (few[axis], many[axis]):
            return None
        shape[axis] = max(few[axis], many[axis])
    return without_data(x, shape)


TOLD = {"linear": told_linear, "conv1d": told_convolution(1), "conv2d": told_convolution(2), "conv3d": told_convolution(3), "cat": told_cat,
        "concat": told_cat, "hardtanh": told_hardtanh, "relu6": told_relu6, "layer_norm": told_layer_norm,
        "dropout": told_dropout, "gelu": told_gelu, "softmax": told_softmax, "matmul": told_matmul, "__matmul__": told_matmul,
        "max_pool2d": told_pool(2, plain_max), "avg_pool2d": told_pool(2, plain_average), "adaptive_avg_pool2d": told_adaptive,
        "multi_head_attention_forward": told_attention_layer, "scaled_dot_product_attention": told_attention, "_weight_norm": told_weight_norm, **dict.fromkeys(("relu", "silu"), told_unary),
        **dict.fromkeys(("sigmoid", "tanh", "exp", "sqrt"), lambda x: told_unary(x)),
        **dict.fromkeys(("add", "sub", "mul", "truediv", "__add__", "__sub__", "__mul__", "__truediv__"), told_binary)}  # fmt: skip


def told(name, args, kwargs):
    """The result of the call; None: ask PyTorch."""
    tell = TOLD.get(name)
    try:
        return tell(*args, **kwargs) if tell else None
    except (TypeError, AttributeError, IndexError):
        return None  # arguments of another form
