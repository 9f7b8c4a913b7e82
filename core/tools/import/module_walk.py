"""A model's modules, parameters and buffers with their names, in PyTorch's order.

PyTorch's own walks are generators within generators, one for each level of the model.  An import walks its model several times a trace, and it
makes fifty traces."""


def modules_of(model):
    """[(name, module)], the same as model.named_modules()."""
    found, seen, left = [], set(), [("", model)]
    while left:
        name, module = left.pop()
        if id(module) in seen:
            continue
        seen.add(id(module))
        found.append((name, module))
        if not module._modules:
            continue
        before = name + "." if name else ""
        left += [(before + key, child) for key, child in reversed(module._modules.items()) if child is not None]
    return found


def held_by(modules, table):
    named, seen = {}, set()
    for name, module in modules:
        for key, tensor in getattr(module, table).items():
            if tensor is not None and id(tensor) not in seen:
                seen.add(id(tensor))
                named[name + "." + key if name else key] = tensor
    return named


def tensors_of(model):
    """(parameters, buffers) by their names, as model.named_parameters() and model.named_buffers()."""
    modules = modules_of(model)
    return held_by(modules, "_parameters"), held_by(modules, "_buffers")
