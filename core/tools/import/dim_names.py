"""Names for the sizes that a file writes as bare numbers, in get_inputs and get_init_inputs.

In this order: the argument of Model that a number is given for; the name that forward gives an axis when it unpacks x.shape or asks
x.size(0); and what the axis of a tensor of that rank usually is, as far as the layers of the file say so."""

import ast

SHAPED = frozenset("rand randn empty zeros ones".split())  # sizes one after another, or in one tuple
IMAGES = {"Conv2d", "Conv3d", "ConvTranspose2d", "ConvTranspose3d", "BatchNorm2d", "BatchNorm3d", "MaxPool2d", "AvgPool2d", "conv2d", "conv3d",
          "InstanceNorm2d", "max_pool2d", "avg_pool2d", "interpolate"}  # fmt: skip
SIGNALS = {"Conv1d", "ConvTranspose1d", "BatchNorm1d", "MaxPool1d", "AvgPool1d", "conv1d", "max_pool1d"}
HEADED = {"scaled_dot_product_attention"}
LAYERS = {"Linear", "linear", "LayerNorm", "layer_norm", "RMSNorm", "Softmax", "softmax", "Embedding", "CrossEntropyLoss", "cross_entropy"}
RECURRENT = {"LSTM", "GRU", "RNN"}
VOLUME = ("batch", "channels", "depth", "height", "width")


def words_of(tree):
    """Names of attributes and of variables anywhere in the file."""
    return {node.attr if isinstance(node, ast.Attribute) else node.id for node in ast.walk(tree) if isinstance(node, (ast.Attribute, ast.Name))}


def batch_first(tree):
    return any(isinstance(node, ast.keyword) and node.arg == "batch_first" and getattr(node.value, "value", None) is True for node in ast.walk(tree))


def usual_names(rank, whole, tree):
    """The usual names of the first input's axes; (): the file's layers do not show them.  whole: the input has whole numbers."""
    words = words_of(tree)
    if rank == 5:
        return VOLUME
    if rank == 4:
        return ("batch", "heads", "sequence", "features") if words & HEADED and not words & IMAGES else VOLUME[:2] + VOLUME[3:]
    if rank == 3 and words & RECURRENT and not batch_first(tree):
        return ("sequence", "batch", "features")
    if rank == 3:
        return ("batch", "channels", "length") if words & SIGNALS else ("batch", "sequence", "features")
    if rank == 2 and (whole or words & (LAYERS | SIGNALS | RECURRENT)):
        return ("batch", "sequence") if whole else ("batch", "features")
    return ()


def plain_names(rank, argument):
    """Names that say only the axis's place."""
    return ([argument + "_size"] if rank == 1 else [argument + "_rows", argument + "_columns"] if rank == 2
            else ["%s_axis%d" % (argument, axis) for axis in range(rank)])  # fmt: skip


def function_named(body, name):
    return next((node for node in body if isinstance(node, ast.FunctionDef) and node.name == name), None)


def arguments_of(function):
    """A method's arguments without self."""
    return [part.arg for part in function.args.posonlyargs + function.args.args + function.args.kwonlyargs][1:] if function else []


def given_values(function):
    """[(place, expression)] of a function's results; a place is a position or the key of a dict."""
    returned = next((node.value for node in ast.walk(function) if isinstance(node, ast.Return)), None)
    local = {node.targets[0].id: node.value for node in ast.walk(function) if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)}
    if isinstance(returned, ast.Name):
        returned = local.get(returned.id)
    if isinstance(returned, ast.Dict):
        pairs = [(getattr(key, "value", None), value) for key, value in zip(returned.keys, returned.values)]
    else:
        pairs = list(enumerate(returned.elts if isinstance(returned, (ast.List, ast.Tuple)) else [returned] if returned else []))
    return [(place, local.get(value.id, value) if isinstance(value, ast.Name) else value) for place, value in pairs]


def argument_at(place, arguments):
    if isinstance(place, int):
        return arguments[place] if place < len(arguments) else None
    return place


def sizes_of(call):
    """(expressions of the sizes, whether the numbers are whole) of a constructor call, or None."""
    name = getattr(call.func, "attr", getattr(call.func, "id", ""))
    args = call.args
    if name in ("randint", "full"):
        named = [keyword.value for keyword in call.keywords if keyword.arg == "size"]
        args = (named or [arg for arg in args if isinstance(arg, (ast.Tuple, ast.List))])[:1]
    elif name not in SHAPED:
        return None
    if len(args) == 1 and isinstance(args[0], (ast.Tuple, ast.List)):
        args = args[0].elts
    return None if not args or any(isinstance(arg, ast.Starred) for arg in args) else (list(args), name == "randint")


def shape_asked(node, argument):
    """'all' for x.shape and x.size(), the axis for x.shape[1] and x.size(1), else None."""
    def is_of(inner, attribute):
        return isinstance(inner, ast.Attribute) and inner.attr == attribute and isinstance(inner.value, ast.Name) and inner.value.id == argument

    def number(inner):
        try:
            value = ast.literal_eval(inner)
        except (ValueError, TypeError, SyntaxError):
            return None
        return value if type(value) is int else None

    if is_of(node, "shape") or (isinstance(node, ast.Call) and is_of(node.func, "size") and not node.args):
        return "all"
    if isinstance(node, ast.Subscript) and is_of(node.value, "shape"):
        return number(node.slice)
    if isinstance(node, ast.Call) and is_of(node.func, "size") and len(node.args) == 1:
        return number(node.args[0])
    return None


def unpacked(functions, argument, rank):
    """{axis: the name that a function gives it}."""
    found = {}
    for function in functions:
        for node in ast.walk(function):
            if not isinstance(node, ast.Assign):
                continue
            target, asked = node.targets[0], shape_asked(node.value, argument)
            if asked == "all" and isinstance(target, ast.Tuple) and len(target.elts) == rank:
                pairs = list(enumerate(target.elts))
            elif type(asked) is int and -rank <= asked < rank:
                pairs = [(asked % rank, target)]
            else:
                continue
            for axis, part in pairs:
                if isinstance(part, ast.Name) and not part.id.startswith("_"):
                    found.setdefault(axis, part.id)
        if found:
            break
    return found


def taking(tree, model, argument):
    """The functions that may unpack an input: forward, then all others that have an argument with its name."""
    forward = function_named(model.body, "forward") if model else None
    every = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node is not forward]
    return ([forward] if forward else []) + [node for node in every if argument in [part.arg for part in node.args.args]]


def names_of_inputs(tree, model, giver, names):
    arguments = arguments_of(function_named(model.body, "forward") if model else None)
    for number, (place, value) in enumerate(given_values(giver)):
        argument = argument_at(place, arguments)
        calls = [node for node in ast.walk(value) if isinstance(node, ast.Call)]
        made = next((sizes for sizes in map(sizes_of, calls) if sizes), None)
        if not made or not argument:
            continue
        sizes, whole = made
        rank = len(sizes)
        own = unpacked(taking(tree, model, argument), argument, rank)
        usual = usual_names(rank, whole, tree)
        for axis, size in enumerate(sizes):
            plain = plain_names(rank, argument)[axis]
            wanted = [own.get(axis)] + ([usual[axis], "%s_%s" % (argument, usual[axis])] if usual else []) + [plain]
            names[id(size)] = [name for name in wanted if name and name not in arguments]


def names_of_settings(model, giver, names):
    arguments = arguments_of(function_named(model.body, "__init__") if model else None)
    for place, value in given_values(giver):
        argument = argument_at(place, arguments)
        if not argument:
            continue
        names[id(value)] = [argument]
        for i, part in enumerate(value.elts if isinstance(value, (ast.List, ast.Tuple)) else ()):
            names[id(part)] = ["%s_%d" % (argument, i)]


def names_of_numbers(tree, model_name):
    """{id of an expression: the names that it may have, best first}."""
    model = next((node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == model_name), None)
    names = {}
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef) and statement.name == "get_inputs":
            names_of_inputs(tree, model, statement, names)
        elif isinstance(statement, ast.FunctionDef) and statement.name == "get_init_inputs":
            names_of_settings(model, statement, names)
    return names
