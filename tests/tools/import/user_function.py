"""The user's own model as a function of a task's tensors, for comparison with the task's graph.  Test code.

A case's dims are put into the user's file, so each size is the model that the user would have written for it.  What forward draws at
random is a tensor of the task: dropout's mask and random numbers are taken from there, in the order of the calls."""

import torch

DRAWN = ("rand", "randn", "rand_like", "randn_like")


def hard_sigmoid(x):
    """As PyTorch documents it.  The gradient of its own kernel holds 1/6 as a float32, in double precision too."""
    return torch.nn.functional.relu6(x + 3) / 6


class Given(torch.overrides.TorchFunctionMode):
    """Hands out given tensors where random ones are asked for, and computes all the rest in double precision."""

    def __init__(self, tensors):
        super().__init__()
        self.tensors = list(tensors)

    def __torch_function__(self, function, types, arguments=(), named=None):
        named = dict(named or {})
        name = getattr(function, "__name__", "")
        if name in DRAWN and self.tensors:
            return self.tensors.pop(0)
        if name == "dropout":
            x, p, training = (list(arguments) + [named.get("p", 0.5), named.get("training", True)][len(arguments) - 1 :])[:3]
            return x * (self.tensors.pop(0) != 0) / (1 - p) if training and p > 0 else x
        if name == "hardsigmoid" and not named.get("inplace"):
            return hard_sigmoid(arguments[0] if arguments else named["input"])
        return function(*arguments, **named)


def hold(model, held):
    """Puts tensors in place of parameters and buffers; torch's own functional_call leaves out recurrent layers' lists of them."""
    for key, tensor in held.items():
        owner, _, name = key.rpartition(".")
        module = model.get_submodule(owner)
        if name in module._buffers:
            module._buffers[name] = tensor
        else:
            module._parameters.pop(name, None)
            object.__setattr__(module, name, tensor)
    for module in model.modules():
        if isinstance(module, torch.nn.RNNBase):
            module._flat_weights = [getattr(module, name) for name in module._flat_weights_names]


def in_double(model):
    """The model with all that it holds in double precision: what it keeps beside parameters and buffers stays float32 otherwise, and what is
    copied into that is rounded, gradients too."""
    for module in model.double().modules():
        for name, value in vars(module).items():
            if isinstance(value, torch.Tensor) and value.is_floating_point():
                object.__setattr__(module, name, value.double())
    return model


def user_function(imported):
    """imported: what import_task.build gave."""
    subject = imported.subject

    def function(tensors, settings):
        model, inputs = subject.file.run({name: settings[name] for name in subject.literals})
        model = in_double(model)
        names = subject.tensor_names
        state = dict(model.named_parameters())
        state.update(model.named_buffers())
        hold(model, {key: tensors[names[key]].to(state[key].dtype) for key in state if names[key] in tensors})
        given = {key: tensors[names[key]] * 1 if names.get(key) in tensors else value for key, value in inputs.items()}  # may be overwritten
        for key, value in inputs.items():
            if isinstance(value, torch.Tensor) and value.dtype == torch.bool:
                given[key] = given[key] != 0
        default, _ = torch.get_default_dtype(), torch.set_default_dtype(torch.float64)
        try:
            with Given([tensors[name] for name in imported.extra]):
                made = model(**given)
        finally:
            torch.set_default_dtype(default)
        return flattened(made)

    return function


def flattened(made):
    if isinstance(made, torch.Tensor):
        return made
    found = []
    for part in made:
        found += [part] if isinstance(part, torch.Tensor) else list(flattened(part)) if isinstance(part, (tuple, list)) else []
    return tuple(found)
