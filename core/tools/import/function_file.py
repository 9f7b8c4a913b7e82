"""Plain functions, and modules without get_inputs: writes the Model and get_inputs that the rest of the import reads.

The example inputs come from --input, from default values that are tensors, or from annotations that say sizes:

    def f(x: "float32[4, 128]", w=torch.randn(128, 64), eps=1e-5)

The text is appended to the user's, so the lines of the user's file keep their numbers.
"""

import ast
import re

from refusal import Refused

GIVERS = ("get_inputs", "get_init_inputs")
PREFERRED = ("Model", "forward_fn", "forward")
DTYPES = "float32 float64 float16 bfloat16 int8 int32 int64 uint8 bool".split()
SHORT = {"f32": "float32", "f64": "float64", "f16": "float16", "bf16": "bfloat16", "i32": "int32", "i64": "int64", "float": "float32",
         "int": "int64", "long": "int64", "half": "float16"}  # fmt: skip
HOW = "write --input %s=4x128 (with :int64 or :bfloat16 behind it for another type than float32), a default such as torch.randn(4, 128), an annotation \"float32[4, 128]\", or get_inputs"
HEADER = "\n\n# Added by rkb task import: the form that tasks have.\n"


def parse_examples(options):
    """{argument: (sizes as texts, dtype)} of --input x=4x128:bfloat16."""
    given = {}
    for option in options:
        name, equals, rest = option.partition("=")
        sizes, _, dtype = rest.partition(":")
        parts = sizes.split("x") if sizes else []
        dtype = SHORT.get(dtype, dtype) or "float32"
        if not (equals and name.isidentifier() and dtype in DTYPES and all(re.fullmatch("[1-9][0-9]{0,11}", part) for part in parts)):
            raise Refused("--input %s: write NAME=SIZES or NAME=SIZES:DTYPE, such as x=4x128:bfloat16" % option)
        given[name] = (parts, dtype)
    return given


def drawn(sizes, dtype):
    """The call that makes an example.  Whole numbers are small, so that they may be indices."""
    shape = ", ".join(sizes) if sizes else "()"
    tuple_shape = "(%s)" % "".join(size + ", " for size in sizes)
    if dtype == "bool":
        return "torch.rand(%s) < 0.5" % shape
    if dtype in ("float32", "float64", "float16", "bfloat16"):
        return "torch.randn(%s%s)" % (shape, "" if dtype == "float32" else ", dtype=torch.%s" % dtype)
    return "torch.randint(0, 2, %s%s)" % (tuple_shape, "" if dtype == "int64" else ", dtype=torch.%s" % dtype)


def sizes_in(text):
    """(sizes, dtype) of "float32[4, 128]" or "4, 128"; None for another text."""
    match = re.fullmatch(r"\s*(?:(\w+)\s*\[)?\s*([\w\s,]*?)\s*(\])?\s*", text)
    if not match or bool(match.group(1)) != bool(match.group(3)):
        return None
    dtype = (match.group(1) or "float32").lower()
    dtype = SHORT.get(dtype, dtype)
    parts = [part for part in re.split(r"[\s,]+", match.group(2)) if part]
    if dtype not in DTYPES or not all(part.isdigit() or part.isidentifier() for part in parts) or (not parts and not match.group(1)):
        return None
    return parts, dtype


def annotated(node):
    """(sizes, dtype) that an annotation says; None: it says none."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return sizes_in(node.value)
    if not isinstance(node, ast.Subscript):
        return None
    inner = node.slice.value if isinstance(node.slice, ast.Index) else node.slice  # Python 3.8 has an Index around it
    if not isinstance(inner, ast.Tuple) or len(inner.elts) < 2:
        return None
    what, said = getattr(node.value, "id", getattr(node.value, "attr", "")), inner.elts[1]
    if isinstance(said, ast.Constant) and isinstance(said.value, str):  # Float[Tensor, "4 128"]
        dtype = SHORT.get(what.lower(), what.lower())
        return sizes_in("%s[%s]" % (dtype if dtype in DTYPES else "float32", said.value))
    if isinstance(said, ast.Tuple):  # Annotated[Tensor, (4, 128)]
        return [ast.unparse(part) for part in said.elts], "float32"
    return None


def is_plain(node):
    """A default that is a number, a truth, a word, None, or a tuple of them."""
    try:
        ast.literal_eval(node)
        return True
    except ValueError:
        return False


def parameters_of(function):
    """[(name, default or None, annotation or None, keyword alone)]"""
    given = function.args
    positional = given.posonlyargs + given.args
    if given.vararg or given.kwarg:
        return None
    defaults = [None] * (len(positional) - len(given.defaults)) + list(given.defaults)
    found = [(part.arg, default, part.annotation, False) for part, default in zip(positional, defaults)]
    return found + [(part.arg, default, part.annotation, True) for part, default in zip(given.kwonlyargs, given.kw_defaults)]


def is_module(node):
    return isinstance(node, ast.ClassDef) and any(ast.unparse(base).endswith("Module") for base in node.bases)


def choose(tree, shown, entry):
    """Returns the class or function from which the task is made."""
    found = {node.name: node for node in tree.body
             if (isinstance(node, ast.FunctionDef) and node.name not in GIVERS) or isinstance(node, ast.ClassDef)}  # fmt: skip
    if entry:
        if entry not in found:
            raise Refused("%s: it has no class or function %s" % (shown, entry))
        return found[entry]
    for name in PREFERRED:
        if name in found:
            return found[name]
    called = {}
    for name, node in found.items():
        for part in ast.walk(node):
            if isinstance(part, ast.Name) and part.id != name:
                called.setdefault(part.id, name)
    outer = [node for name, node in found.items()
             if name not in called and not name.startswith("_") and (isinstance(node, ast.FunctionDef) or is_module(node))]  # fmt: skip
    if len(outer) == 1:
        return outer[0]
    if not outer:
        raise Refused("%s: it defines no function and no torch.nn.Module; define Model, or a function of tensors" % shown)
    raise Refused("%s: it defines %s; name the one that is meant: --entry %s" % (
        shown, ", ".join("%s (line %d)" % (node.name, node.lineno) for node in outer), outer[-1].name))


def inputs_text(text, shown, function, parameters, examples, skipped):
    """The source of get_inputs."""
    values, missing = [], []
    known = [name for name, _, _, _ in parameters[skipped:]]
    for name in examples:
        if name not in known:
            raise Refused("--input %s: %s has the arguments %s" % (name, function.name, ", ".join(known)))
    for name, default, annotation, _ in parameters[skipped:]:
        said = examples.get(name) or annotated(annotation)
        if name not in examples and default is not None and not is_plain(default):
            values.append((name, ast.get_source_segment(text, default)))
        elif said:
            values.append((name, drawn(*said)))
        elif default is None:
            missing.append("%s:%d: the argument %s of %s has no example: %s" % (shown, function.lineno, name, function.name, HOW % name))
    if missing:
        raise Refused(*missing)
    return "def get_inputs():\n    return {%s}\n" % ", ".join("%r: %s" % pair for pair in values)


def model_text(function, parameters):
    """The source of a Model that calls the function."""
    taken = ["self"] + [name if default is None or not is_plain(default) else "%s=%s" % (name, ast.unparse(default))
                        for name, default, _, _ in parameters]  # fmt: skip
    plain = [part for part in taken if "=" not in part] + [part for part in taken if "=" in part]
    passed = ["%s=%s" % (name, name) if alone else name for name, _, _, alone in parameters]
    called = function.name if function.name != "Model" else "_function"
    return "class Model(torch.nn.Module):\n    def forward(%s):\n        return %s(%s)\n" % (", ".join(plain), called, ", ".join(passed))


def completion(text, tree, shown, examples, entry):
    """The text to append to a file so that it defines Model and get_inputs; "" if it defines them already."""
    chosen = choose(tree, shown, entry)
    gives = any(isinstance(node, ast.FunctionDef) and node.name == "get_inputs" for node in tree.body)
    added = ""
    if isinstance(chosen, ast.ClassDef):
        forward = next((part for part in chosen.body if isinstance(part, ast.FunctionDef) and part.name == "forward"), None)
        skipped, function = 1, forward
        if chosen.name != "Model":
            added += "Model = %s\n" % chosen.name
    else:
        skipped, function = 0, chosen
    if function is None:
        return HEADER + added if added else ""  # forward is inherited: get_inputs has to be there, and is asked for
    parameters = parameters_of(function)
    if parameters is None and (skipped == 0 or not gives):
        raise Refused("%s:%d: %s takes *args or **kwargs; name its arguments" % (shown, function.lineno, function.name))
    if skipped == 0:
        added += model_text(function, parameters)
    if not gives or examples:
        added += inputs_text(text, shown, function, parameters, examples, skipped)
    return HEADER + "import torch\n\n" + added if added else ""
