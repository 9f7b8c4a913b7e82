"""Programs that torch.export.save wrote: written out as Python with a Model and get_inputs, in PyTorch's own calls.

Each node is one line, so a refusal can name the line of the user's code that the node came from (`places`).  Parameters keep their
names and spread, not their numbers.  aten_calls.py says how each ATen operation is called.
"""

import re

import torch

import aten_calls
import number_patterns
from refusal import Refused

LEAST = (2, 1)
PRELUDE = "import math\nimport operator\n\nimport torch\nimport torch.nn.functional as F\n\n\n"


def load(path):
    """Loads a saved program; returns (text, places)."""
    version = tuple(int(part) for part in re.findall(r"\d+", torch.__version__)[:2])
    if version < LEAST:
        raise Refused("%s: PyTorch %s does not have torch.export; 2.1 and later do: --python PATH names another one" % (path, torch.__version__))
    from torch import export

    try:
        program = export.load(path)
    except Exception as error:
        raise Refused("%s: it does not load: %s: %s" % (path, type(error).__name__, str(error).strip().split("\n")[0][:200]))
    return written(program, path)


def place_of(node):
    """file.py:LINE of the user's code that a node came from."""
    found = re.findall(r'File "([^"]+)", line (\d+)', node.meta.get("stack_trace") or "")
    return "%s:%s" % found[-1] if found else None


class Writer:
    def __init__(self, program, shown):
        self.program = program
        self.shown = shown
        self.names = {}  # node -> text
        self.taken = {"self", "torch", "F", "math", "operator"}
        self.lines, self.places = [], {}
        self.refusals = []

    def free(self, name):
        name = re.sub(r"\W", "_", name)
        name = "p" + name if not name or name[0].isdigit() else name
        while name in self.taken or hasattr(torch.nn.Module, name):
            name += "_"
        self.taken.add(name)
        return name

    def text(self, value):
        """An argument as Python."""
        if isinstance(value, torch.fx.Node):
            if value not in self.names:
                raise Refused("it needs a value that is not covered")
            return self.names[value]
        if isinstance(value, (list, tuple)):
            inner = ", ".join(self.text(part) for part in value)
            return "[%s]" % inner if isinstance(value, list) else "(%s,)" % inner if len(value) == 1 else "(%s)" % inner
        if isinstance(value, slice):
            return "slice(%s, %s, %s)" % (self.text(value.start), self.text(value.stop), self.text(value.step))
        if isinstance(value, float) and not abs(value) < float("inf"):
            return 'float("%r")' % value
        if value is Ellipsis:
            return "..."
        if value is None or isinstance(value, (int, float, bool, str)):
            return repr(value)
        if isinstance(value, torch.dtype):
            return str(value)
        raise Refused("an argument of type %s is not covered" % type(value).__name__)

    def add(self, line, place=None):
        self.lines.append(line)
        if place:
            self.places[len(self.lines)] = place

    def run(self):
        for line in PRELUDE.split("\n")[:-1]:
            self.add(line)
        self.add("class Model(torch.nn.Module):")
        self.add("    def __init__(self):")
        self.add("        super().__init__()")
        arguments = self.state()
        self.add("")
        self.add("    def forward(%s):" % ", ".join(["self"] + [name for name, _ in arguments]))
        for node in self.program.graph.nodes:
            try:
                self.node(node)
            except Refused as refusal:
                if refusal.sentences != ["it needs a value that is not covered"]:
                    self.refusals += ["%s: %s: %s" % (self.shown, place_of(node) or node.name, sentence) for sentence in refusal.sentences]
        if self.refusals:
            raise Refused(*dict.fromkeys(self.refusals))
        self.add("")
        self.add("")
        self.add("def get_inputs():")
        self.add("    return {%s}" % ", ".join("%r: %s" % (name, example(value)) for name, value in arguments))
        return "\n".join(self.lines) + "\n", self.places

    def state(self):
        """Writes parameters and buffers; returns the arguments, [(name, example)]."""
        signature = self.program.graph_signature
        placeholders = {node.name: node for node in self.program.graph.nodes if node.op == "placeholder"}
        tensors = dict(getattr(self.program, "constants", None) or {})
        tensors.update(self.program.state_dict)
        given = leaves(self.program.example_inputs)
        arguments, number = [], 0
        for spec in signature.input_specs:
            kind = spec.kind.name
            if kind == "USER_INPUT":
                value = given[number] if number < len(given) else None
                number += 1
                name = getattr(spec.arg, "name", None)
                if isinstance(value, torch.Tensor):
                    own = self.free(name)
                    self.names[placeholders[name]] = own
                    arguments.append((own, value))
                elif name in placeholders:
                    self.names[placeholders[name]] = self.text(value)
            elif kind in ("PARAMETER", "BUFFER", "CONSTANT_TENSOR"):
                own = self.free(spec.target)
                self.names[placeholders[spec.arg.name]] = "self." + own
                tensor = tensors[spec.target]
                if kind == "PARAMETER":
                    self.add("        self.%s = torch.nn.Parameter(%s)" % (own, example(tensor)))
                else:
                    self.add("        self.register_buffer(%r, %s)" % (own, example(tensor)))
            else:
                raise Refused("%s: the program takes a %s, which is not covered" % (self.shown, kind.lower().replace("_", " ")))
        return arguments

    def node(self, node):
        if node.op == "placeholder":
            return
        if node.op == "output":
            return self.output(node)
        if node.op != "call_function":
            raise Refused("%s of %s is not covered: a part of the program that is run under a condition or in a mode of its own" % (node.op, node.target))
        changes = getattr(node.target, "__name__", "").split(".")[0].endswith("_")
        call = aten_calls.call_of(node.target, node.args, node.kwargs) if node.users or changes else None
        if call is None:
            return
        if isinstance(call, torch.fx.Node):
            self.names[node] = self.text(call)
            return
        name = self.free(node.name)
        self.add("        %s = %s" % (name, call.text(self.text)), place_of(node))
        self.names[node] = name

    def output(self, node):
        results = node.args[0] if isinstance(node.args[0], (tuple, list)) else (node.args[0],)
        kept = []
        for spec, value in zip(self.program.graph_signature.output_specs, results):
            kind = spec.kind.name
            if kind == "USER_INPUT_MUTATION":
                raise Refused("the program changes its input %s, which is not covered; change a copy" % spec.target)
            if kind == "BUFFER_MUTATION":
                raise Refused("the program writes to its buffer %s (running statistics); export it after eval()" % spec.target)
            if kind == "USER_OUTPUT" and isinstance(value, torch.fx.Node):
                kept.append(self.text(value))
        self.add("        return %s" % (kept[0] if len(kept) == 1 else "(%s)" % ", ".join(kept)))


def leaves(given):
    """The example inputs in the order of the placeholders."""
    if given is None:
        return []
    from torch.utils._pytree import tree_flatten

    return tree_flatten(given)[0]


def example(tensor):
    """A call that makes a tensor of the same shape, type and spread; patterns (number_patterns.py) are made whole."""
    tensor = tensor.detach().cpu()
    shape, dtype = tuple(tensor.shape), str(tensor.dtype)
    found = number_patterns.of(tensor) if tensor.numel() and tensor.dtype != torch.bool else None
    tail = ", dtype=%s)" % dtype
    if found and found[0] == "arange" and tensor.numel() > 2:
        return "torch.arange(%d).reshape(%r).to(%s) * %r + %r" % (tensor.numel(), shape, dtype, found[2], found[1]) if tensor.is_floating_point() else (
            "(torch.arange(%d) * %d + %d).reshape(%r).to(%s)" % (tensor.numel(), found[2], found[1], shape, dtype))
    if found and found[0] == "full":
        return "torch.full(%r, %r%s" % (shape, found[1] if tensor.is_floating_point() else int(found[1]), tail)
    if found:
        return "torch.%s(torch.full(%r, %r%s, %d)" % (found[0], shape, found[1], tail, found[2])
    if tensor.dtype == torch.bool:
        return "torch.rand(%r) < 0.5" % (shape,)
    if not tensor.is_floating_point():
        low, high = (int(tensor.min()), int(tensor.max()) + 1) if tensor.numel() else (0, 1)
        return "torch.randint(%d, %d, %r%s" % (min(low, 0), high, shape, tail)
    kept = number_patterns.of_input(tensor)
    data = (tensor[tensor != 0] if kept and kept != "symmetric" else tensor).double()
    mean, std = (float(data.mean()), float(data.std()) if data.numel() > 1 else 0.0) if data.numel() else (0.0, 1.0)
    text = "torch.randn(%r%s * %r + %r" % (shape, tail, float("%.4g" % std), float("%.4g" % mean))
    if kept == "symmetric":
        return "(lambda a: (a + a.transpose(-1, -2)) / 2)(%s)" % text
    if kept:
        return {"upper": "torch.triu(%s)", "lower": "torch.tril(%s)", "diagonal": "torch.tril(torch.triu(%s))"}[kept] % text
    return text


def written(program, shown):
    """(text, {line: place}) of an ExportedProgram."""
    return Writer(program, shown).run()
