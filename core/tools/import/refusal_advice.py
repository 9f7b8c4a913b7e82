"""What a user may change about a model that PyTorch itself refuses, told from what PyTorch said."""

import re

import torch

TYPES_DIFFER = re.compile(r"same dtype|should be the same|expected scalar type|have the same scalar type|but found \w+$")


def kinds_of(tensors):
    """The float types of tensors, as a user writes them."""
    return sorted({str(tensor.dtype).replace("torch.", "") for tensor in tensors if tensor.dtype.is_floating_point})


def advice(text, inputs, parameters):
    """Words to put behind the text of an error of a trace, or nothing.  inputs, parameters: tensors of the model."""
    if re.search(r"module 'torch[\w.]*' has no attribute", text):
        return "; this is PyTorch %s: give --python PATH of one that has it" % torch.__version__.split("+")[0]
    given, held = kinds_of(inputs), kinds_of(parameters)
    if TYPES_DIFFER.search(text) and given and held and given != held:
        return "; the inputs are %s and the parameters %s: convert one of them in the file, such as self.to(torch.%s) at the end of __init__" % (
            " and ".join(given), " and ".join(held), given[0])
    return ""


def of_construction(error, text):
    """The same for an error of Model(...)."""
    if isinstance(error, TypeError) and re.search(r"__init__\(\) missing \d+ required", text):
        return "; define get_init_inputs, which gives their values in a list, or give them defaults"
    return ""
