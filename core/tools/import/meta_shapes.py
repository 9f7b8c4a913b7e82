"""The shapes of results that PyTorch does not tell on the meta device, tells in no version before 2, or takes too long to tell."""

import torch.nn as nn

RECURRENT = {"lstm": 4, "gru": 3, "rnn_tanh": 1}  # gates


def batch_norm_shape(module, value):
    module._check_input_dim(value)
    if value.numel() == value.shape[1]:
        raise ValueError("Expected more than 1 value per channel when training, got input size %s" % (tuple(value.shape),))
    return value.new_empty(value.shape)


def loss_shape(x, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean", label_smoothing=0.0):
    """cross_entropy, which PyTorch 1.13 does not have on the meta device with label_smoothing."""
    if label_smoothing and target.dtype != x.dtype:
        nn.functional.cross_entropy(x, target, weight, size_average, ignore_index, reduce, reduction)  # whatever is wrong with the shapes
        return x.new_empty(target.shape if reduction == "none" else ())
    return nn.functional.cross_entropy(x, target, weight, size_average, ignore_index, reduce, reduction, label_smoothing)


def recurrent_shapes(name, x, states, weights, biased, layers, dropout, training, both_ways, batch_first):
    """What a recurrent layer gives; PyTorch 2 goes through every step for that, a minute for some hundreds."""
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
    return (x.new_empty(tuple(x.shape[:2]) + (ways * hidden,)), *[state.new_empty(state.shape) for state in given])


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
    return value.new_empty(tuple(value.shape[:-3]) + tuple(sizes))


def repeated_shape(value, repeats, dim=None, output_size=None):
    """torch's own function asks for the size that it would give."""
    if not isinstance(repeats, int) or dim is None:
        raise NotImplementedError("repeats of one number along one dim are covered alone")
    dim %= value.dim()
    shape = value.shape[:dim] + (value.shape[dim] * repeats,) + value.shape[dim + 1 :]
    return value.new_empty(shape)
