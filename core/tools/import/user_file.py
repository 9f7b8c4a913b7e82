"""The user's file: runs it, finds the whole numbers in it that may be sizes, and runs it again with others in their place.

A file without Model or get_inputs is completed first (function_file.py), and an exported program is written out as one (exported.py).

A number counts where a person would change it: assigned at the top of the file, written in get_inputs or get_init_inputs, or the
default of an argument of get_inputs or of Model.  torch's constructors give tensors of the meta device, which have shapes and no
data, so a file whose inputs take gigabytes costs nothing; small variants are run for real, for their numbers.
"""

import ast
import importlib.util
import inspect
import math
import os
import re
import sys
import warnings

import torch
import torch.nn as nn

import dim_names
import exported
import function_file
from refusal_advice import of_construction
from model_store import ModelStore, of_inputs_alone
from refusal import Refused

MAKERS = frozenset(
    "rand randn randint randperm empty zeros ones full tensor arange linspace eye normal bernoulli empty_strided logspace".split()
)
GIVERS = ("get_inputs", "get_init_inputs")
MOST_SIZE = 1 << 40
LEAST_WIDTH = 16  # of a layer; smaller numbers in the body of a class are kernels, strides and counts
LARGE = 1 << 14  # a weight with so many elements takes noticeable time to fill
LEAST_COMMON = 8  # of the number that divides all widths of a file


class MetaTensors(torch.overrides.TorchFunctionMode):
    """While it is entered, torch's constructors make tensors without data."""

    def __torch_function__(self, function, types, arguments=(), named=None):
        named = dict(named or {})
        if getattr(function, "__name__", "") in MAKERS and "out" not in named:
            named["device"] = "meta"
            named.pop("generator", None)
            named.pop("pin_memory", None)
        return function(*arguments, **named)


class LargeOnMeta(torch.overrides.TorchFunctionMode):
    """While it is entered, large tensors that torch.empty makes, as layers do for their weights, have no data.  All others have their numbers."""

    def __torch_function__(self, function, types, arguments=(), named=None):
        named = dict(named or {})
        if function is torch.empty and "out" not in named and torch.empty(*arguments, **dict(named, device="meta")).numel() >= LARGE:
            named["device"] = "meta"
        return function(*arguments, **named)


class NoNumbers:
    """While it is entered, torch.nn.init does not change tensors: to learn shapes, weights need no numbers."""

    def __init__(self, on_meta=False):
        self.on_meta = on_meta  # only tensors without data are left unchanged

    def left(self, function):
        if self.on_meta:
            return lambda tensor, *arguments, **named: tensor if tensor.device.type == "meta" else function(tensor, *arguments, **named)
        return lambda tensor, *arguments, **named: tensor

    def __enter__(self):
        self.kept = {name: function for name, function in vars(nn.init).items() if name.endswith("_") and not name.startswith("_")}
        for name, function in self.kept.items():
            setattr(nn.init, name, self.left(function))

    def __exit__(self, *ignored):
        for name, function in self.kept.items():
            setattr(nn.init, name, function)


class Literal:
    """One whole number of the file, with the name of the variable or argument that has it."""

    def __init__(self, name, node, value):
        self.name = name
        self.node = node  # the expression that is replaced
        self.value = value
        self.followers = []  # other Literals of the same value that move with it
        self.multiples = []  # (expression, factor): other numbers of the file that are this number times a factor


def whole_number(node):
    """The value of an expression of literals, such as 1024 * 2, or None."""
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.Add, ast.Sub, ast.FloorDiv, ast.Pow)):
        left, right = whole_number(node.left), whole_number(node.right)
        if left is None or right is None or abs(left) > MOST_SIZE or abs(right) > MOST_SIZE:
            return None
        if isinstance(node.op, ast.Pow):
            return left**right if 0 <= right <= 40 and abs(left) <= 1024 else None
        if isinstance(node.op, ast.FloorDiv):
            return left // right if right else None
        return left * right if isinstance(node.op, ast.Mult) else left + right if isinstance(node.op, ast.Add) else left - right
    return None


def numbers_of(name, node):
    """[(name, expression, value)] of one assigned expression: itself, or the members of a tuple or list."""
    value = whole_number(node)
    if value is not None:
        return [(name, node, value)]
    found = []
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):  # [1024] * 16
        node = node.left if isinstance(node.left, (ast.Tuple, ast.List)) else node.right
    if isinstance(node, (ast.Tuple, ast.List)):
        for i, part in enumerate(node.elts):
            found += numbers_of("%s_%d" % (name, i), part)
    return found


def assigned(statement):
    """The numbers of `a = 3`, `a = b = 3`, `a, b = 3, 4`."""
    target, value = statement.targets[0], statement.value
    if isinstance(target, ast.Name):
        return numbers_of(target.id, value)
    if isinstance(target, (ast.Tuple, ast.List)) and isinstance(value, (ast.Tuple, ast.List)) and len(target.elts) == len(value.elts):
        return [found for a, b in zip(target.elts, value.elts) if isinstance(a, ast.Name) for found in numbers_of(a.id, b)]
    return []


def defaults_of(function):
    arguments = function.args.args
    pairs = zip(arguments[len(arguments) - len(function.args.defaults) :], function.args.defaults)
    return [found for argument, default in pairs for found in numbers_of(argument.arg, default)]


def written_in(function):
    """Lists the whole numbers in the body of a function, the outermost first.  A number that is assigned gets the variable's name."""
    found = []

    def visit(node, hint):
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and whole_number(node.operand) is not None:
            return  # a negative number is no size, but an axis, or a label that a loss ignores
        value = whole_number(node)
        if value is not None:
            found.append((hint, node, value))
            return
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            hint = node.targets[0].id
        for child in ast.iter_child_nodes(node):
            visit(child, hint)

    for statement in function.body:
        visit(statement, "size" if function.name == "get_inputs" else "width")
    return found


def shaped_inputs(module):
    """Returns inputs without data, which take no memory.  If get_inputs fails without data, returns inputs with data."""
    try:
        with MetaTensors():
            return module.get_inputs()
    except Exception:
        return module.get_inputs()


def real_inputs(module):
    return module.get_inputs()


def holders_of(tree):
    """Maps the id of each node to the list or the attributes that hold it, and to its index or name there."""
    found = {}
    for parent in ast.walk(tree):
        attributes = vars(parent)
        for name, value in attributes.items():
            if isinstance(value, ast.AST):
                found[id(value)] = (attributes, name)
            elif isinstance(value, list):
                found.update((id(part), (value, i)) for i, part in enumerate(value) if isinstance(part, ast.AST))
    return found


class UserFile:
    """The file at path; run() executes it with other numbers."""

    def __init__(self, path, examples=None, entry=None):
        self.path = os.path.abspath(path)
        self.shown = path
        self.places = {}  # line -> the place in the user's code, for an exported program
        try:
            self.text = self.source(path)
            self.tree = ast.parse(self.text, self.path)
        except (OSError, SyntaxError, ValueError) as error:
            raise Refused("%s: it does not load: %s: %s" % (path, type(error).__name__, error))
        added = function_file.completion(self.text, self.tree, path, examples or {}, entry)
        if added:
            self.text += added
            self.tree = ast.parse(self.text, self.path)
        self.model_name = self.find_model_name()
        self.literals = self.find_literals()
        self.holders = holders_of(self.tree)
        future = any(isinstance(statement, ast.ImportFrom) and statement.module == "__future__" for statement in self.tree.body)
        self.bodies = [self.tree.body] if future else [[statement] for statement in self.tree.body]  # statements that are compiled together
        self.parts = {id(node): i for i, body in enumerate(self.bodies) for statement in body for node in ast.walk(statement)}
        self.codes = {}  # (index of a body, the numbers put into it) -> code
        self.of_inputs_alone = of_inputs_alone(self.tree)
        self.store = ModelStore()
        self.hooks = None  # ModuleHooks (module_hooks.py), while an import has entered them

    def source(self, path):
        if path.endswith(".pt2"):
            text, self.places = exported.load(path)
            return text
        with open(path) as file:
            return file.read()

    def explained(self, sentence):
        """Puts into a refusal of an exported program the place in the code that was exported."""
        match = re.match(r"%s:(\d+): " % re.escape(self.shown), sentence)
        place = self.places.get(int(match.group(1))) if match else None
        return "%s: %s: %s" % (self.shown, place, sentence[match.end() :]) if place else sentence

    def find_model_name(self):
        """Returns the name of the model's class: `Model`, or name where the file has `Model = name`."""
        for statement in self.tree.body:
            if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Name) and getattr(statement.targets[0], "id", "") == "Model":
                return statement.value.id
        return "Model"

    def find_literals(self):
        top, given, defaults, arguments = [], [], [], set()
        for statement in self.tree.body:
            if isinstance(statement, ast.Assign):
                top += assigned(statement)
            elif isinstance(statement, ast.FunctionDef) and statement.name in GIVERS:
                given += defaults_of(statement) + written_in(statement)
            elif isinstance(statement, ast.ClassDef) and statement.name == self.model_name:
                for part in statement.body:
                    if isinstance(part, ast.FunctionDef) and part.name == "__init__":
                        defaults += defaults_of(part)
                    if isinstance(part, ast.FunctionDef) and part.name == "forward":
                        arguments = {argument.arg for argument in part.args.args}  # names of tensors, so no name for a number
        literals, taken, better = [], arguments, dim_names.names_of_numbers(self.tree, self.model_name)
        for name, node, value in top + given + defaults:
            if value < 1 or value > MOST_SIZE:
                continue
            wanted = better.get(id(node)) or [name]
            name = next((other for other in wanted if other not in taken), wanted[-1])
            plain, count = name, 2
            while name in taken:
                name, count = "%s%d" % (plain, count), count + 1
            taken.add(name)
            literals.append(Literal(name, node, value))
        width = self.find_width(taken)
        return ([width] if width else []) + literals

    def find_width(self, taken):
        """The widths that are written in the bodies of classes (nn.Conv2d(64, 128, 3)) as multiples of one number, or None."""
        found = []

        def visit(node):
            if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and whole_number(node.operand) is not None:
                return
            value = whole_number(node)
            if value is None:
                for child in ast.iter_child_nodes(node):
                    visit(child)
            elif value >= LEAST_WIDTH:
                found.append((node, value))

        for statement in self.tree.body:
            for method in statement.body if isinstance(statement, ast.ClassDef) else ():
                if isinstance(method, ast.FunctionDef):
                    for part in method.body:
                        visit(part)
        common = math.gcd(*[value for _, value in found]) if found else 0
        if common < LEAST_COMMON:
            return None
        width = Literal("width" if "width" not in taken else "width_of_layers", None, common)
        width.multiples = [(node, value // common) for node, value in found]
        return width

    def run(self, assignment, device=None, inputs_of=real_inputs):
        """Returns (model, {argument: value}) with the numbers of assignment (literal's name -> value).  With device 'meta' tensors have no data,
        with 'shapes' weights have no random numbers, with 'large on meta' only large weights have no data.  inputs_of: returns the inputs of a module that has get_inputs."""
        changed = {}
        for literal in self.literals:
            value = assignment.get(literal.name, literal.value)
            if value != literal.value:
                changed.update({id(part.node): value for part in [literal] + literal.followers if part.node})
                changed.update({id(node): value * factor for node, factor in literal.multiples})
        folder = os.path.dirname(self.path)
        if folder not in sys.path:
            sys.path.insert(0, folder)
        code = self.compiled(changed)
        made_by = (device, frozenset((node, value) for node, value in changed.items() if node not in self.of_inputs_alone))
        spec = importlib.util.spec_from_loader("imported_model", loader=None)
        module = importlib.util.module_from_spec(spec)
        module.__file__ = self.path
        sys.modules["imported_model"] = module
        seed = torch.manual_seed if device not in ("meta", "shapes") else torch.default_generator.manual_seed  # this one does not touch any device
        seed(0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if device == "meta":
                with NoNumbers(), MetaTensors():
                    return self.call(module, code, real_inputs, made_by)
            if device == "shapes":
                with NoNumbers():
                    return self.call(module, code, shaped_inputs, made_by)
            if device == "large on meta":
                with NoNumbers(on_meta=True), LargeOnMeta():
                    return self.call(module, code, inputs_of)
            return self.call(module, code, inputs_of)

    def compiled(self, values):
        """Compiles the file's statements with numbers in place of expressions (id of a node -> number).  The tree is restored afterwards.
        Statements without such a number are compiled once."""
        put_back = []
        try:
            for node, value in values.items():
                holder, key = self.holders[node]
                put_back.append((holder, key, holder[key]))
                holder[key] = ast.copy_location(ast.Constant(value), holder[key])
            return [self.code_of(i, frozenset(pair for pair in values.items() if self.parts.get(pair[0]) == i)) for i in range(len(self.bodies))]
        finally:
            for holder, key, node in put_back:
                holder[key] = node

    def code_of(self, part, values):
        if (part, values) not in self.codes:
            self.codes[part, values] = compile(ast.Module(self.bodies[part], []), self.path, "exec")
        return self.codes[part, values]

    def call(self, module, codes, inputs_of=real_inputs, made_by=None):
        """made_by: everything that decides the model, so that an equal model that was made before can be taken; None: a new model is made."""
        try:
            for code in codes:
                exec(code, module.__dict__)
        except ModuleNotFoundError as error:
            raise Refused("%s: it does not load: the package %s is missing; install it for %s, or give --python PATH of one that has it" % (
                self.shown, error.name, sys.executable))
        except Exception as error:
            raise Refused("%s: it does not load: %s: %s" % (self.shown, type(error).__name__, error))
        for name in ("Model", "get_inputs"):
            if not hasattr(module, name):
                raise Refused("%s: it has no %s; a file in the robust-kbench or KernelBench form defines Model and get_inputs" % (self.shown, name))
        try:
            model = self.store.find(made_by)
            if model is None:
                given = module.get_init_inputs() if hasattr(module, "get_init_inputs") else []
                model = module.Model(*given) if not isinstance(given, dict) else module.Model(**given)
                if made_by and isinstance(model, nn.Module):
                    self.store.put(made_by, model)
            inputs = inputs_of(module)
        except Exception as error:
            text = first_line(error)
            raise Refused("%s: its Model or get_inputs fails: %s: %s%s" % (self.shown, type(error).__name__, text, of_construction(error, text)))
        if not isinstance(model, nn.Module):
            raise Refused("%s: Model is no torch.nn.Module" % self.shown)
        parameters = [name for name, p in inspect.signature(model.forward).parameters.items() if name != "fn"]
        if isinstance(inputs, dict):
            return model, inputs
        if isinstance(inputs, torch.Tensor):
            inputs = [inputs]
        if len(inputs) > len(parameters):
            raise Refused("%s: get_inputs gives %d values and forward takes %d" % (self.shown, len(inputs), len(parameters)))
        return model, dict(zip(parameters, inputs))


def first_line(error):
    text = str(error).strip()
    return text.splitlines()[0][:200] if text else type(error).__name__
