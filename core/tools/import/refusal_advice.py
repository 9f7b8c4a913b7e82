"""Advice on a model that PyTorch itself refuses, found from PyTorch's message."""

import re

import torch

TYPES_DIFFER = re.compile(r"same dtype|should be the same|expected scalar type|have the same scalar type|but found \w+$")


MISFITS = [  # what PyTorch says of shapes that do not fit, and what a user reads
    (r"The size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\) at non-singleton dimension (\d+)",
     "two tensors do not fit: dim {2} has {0} elements in one and {1} in the other; a scale, a bias or a mask needs 1 there, or as many"),
    (r"Attempting to broadcast a dimension of length (\d+) at (-?\d+)!.*?had (?:torch\.Size\()?\[(.*?)\].*?broadcastable to (?:torch\.Size\()?\[(.*?)\]",
     "two tensors do not fit: [{2}] and [{3}] at dim {1}; a scale, a bias or a mask needs 1 there, or as many"),
    (r"shape '\[(.*?)\]' is invalid for input of size (\d+)",
     "a tensor of {1} elements cannot have the shape [{0}]: a size in it, such as that of a group, does not divide them"),
    (r"unflatten: Provided sizes \[(.*?)\] don't multiply up to the size of dim (\d+) \((\d+)\)",
     "dim {1} of {2} elements cannot be split into [{0}]: a size in it, such as that of a group, does not divide them"),
    (r"The expanded size of the tensor \((\d+)\) must match the existing size \((\d+)\) at non-singleton dimension (\d+)",
     "dim {2} of {1} elements cannot be expanded to {0}: only one element can"),
    (r"mat1 and mat2 shapes cannot be multiplied \((\d+)x(\d+) and (\d+)x(\d+)\)", "the inner sizes of a product differ: {0} x {1} times {2} x {3}"),
    (r"Expected number of channels in input to be divisible by num_groups, but got input of shape \[(.*?)\] and num_groups=(\d+)",
     "{1} groups do not divide the channels of a norm's input [{0}]"),
]  # fmt: skip


def in_our_words(text):
    """PyTorch's message; if it is about shapes that do not fit, in plainer words."""
    for pattern, words in MISFITS:
        match = re.search(pattern, text)
        if match:
            return words.format(*match.groups())
    return text


def kinds_of(tensors):
    """The float types of tensors, as a user writes them."""
    return sorted({str(tensor.dtype).replace("torch.", "") for tensor in tensors if tensor.dtype.is_floating_point})


def advice(text, inputs, parameters):
    """Words to put behind the text of an error of a trace, or nothing.  inputs, parameters: tensors of the model."""
    if re.search(r"module 'torch[\w.]*' has no attribute", text):
        return "; this is PyTorch %s: give --python PATH of one that has it" % torch.__version__.split("+")[0]
    return conversion(inputs, parameters) if TYPES_DIFFER.search(text) else ""


def conversion(inputs, parameters):
    """The same where types differ; nothing where inputs and parameters have one."""
    given = kinds_of(value for value in inputs if isinstance(value, torch.Tensor))
    held = kinds_of(parameters)
    if not given or not held or given == held:
        return ""
    return "; the inputs are %s and the parameters %s: convert one of them in the file, such as self.to(torch.%s) at the end of __init__" % (
        " and ".join(given), " and ".join(held), given[0])


def of_construction(error, text):
    """The same for an error of Model(...)."""
    if isinstance(error, TypeError) and re.search(r"__init__\(\) missing \d+ required", text):
        return "; define get_init_inputs, which gives their values in a list, or give them defaults"
    return ""
