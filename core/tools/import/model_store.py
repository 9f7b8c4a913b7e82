"""Keeps models for traces at other sizes of their inputs.

Making a network of some hundred layers takes longer than tracing it.  Most sizes that are tried (a batch, a height) change only the inputs, so the
model can be used again.  A model that a trace has changed is not used again."""

import ast
import collections
import dis
import types

from module_walk import modules_of, tensors_of

MAIN = {"__name__"}
EVERYTHING = {"globals", "locals", "vars", "eval", "exec", "sys", "importlib"}  # code that uses these names may read any name
READS = frozenset(name for name in dis.opname if name.startswith("LOAD_") and ("GLOBAL" in name or "NAME" in name or name == "LOAD_CLASSDEREF"))
HOLDERS = frozenset((dict, collections.OrderedDict, list, set, tuple))
MOST_MODELS = 4


def names_read(tree):
    """The names of the file that a statement or expression reads: the names of a function's own arguments and variables are others."""
    whole = ast.Expression(tree) if isinstance(tree, ast.expr) else ast.Module([tree], [])
    found, left = set(), [compile(whole, "part of a file", "eval" if isinstance(tree, ast.expr) else "exec", dont_inherit=True)]
    while left:
        code = left.pop()
        found.update(step.argval for step in dis.get_instructions(code) if step.opname in READS)
        left += [part for part in code.co_consts if isinstance(part, types.CodeType)]
    return found


def targets_of(statement):
    """The names that an assignment at the top of a file defines; None: the statement does something else too."""
    names = []
    for target in statement.targets if isinstance(statement, ast.Assign) else [None]:
        for part in target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]:
            if not isinstance(part, ast.Name):
                return None
            names.append(part.id)
    return names


def of_inputs_alone(tree):
    """ids of all expressions of a file that no model can depend on: those in get_inputs, and in assignments of names that only
    get_inputs and other such assignments read."""
    try:
        statements = [(statement, names_read(statement)) for statement in tree.body]
    except SyntaxError:  # such as a return outside a function, which the parser lets through; the file does not load
        return set()
    statements = [pair for pair in statements if not (isinstance(pair[0], ast.If) and names_read(pair[0].test) == MAIN)]
    if any(read & EVERYTHING for _, read in statements) or any("get_inputs" in read for _, read in statements):
        return set()
    givers = {id(statement) for statement, _ in statements if isinstance(statement, ast.FunctionDef) and statement.name == "get_inputs"}
    found = True
    while found:
        others = set().union(*[read for statement, read in statements if id(statement) not in givers])
        found = [statement for statement, _ in statements
                 if id(statement) not in givers and targets_of(statement) and not others.intersection(targets_of(statement))]  # fmt: skip
        givers.update(map(id, found))
    return {id(node) for statement, _ in statements if id(statement) in givers for node in ast.walk(statement)}


def state_of(model):
    """What a model's modules hold, one after another, with the members of lists and tables: ids of them, to be compared with those of
    later, and the objects themselves, so that no id is given twice."""
    held = []
    for _, module in modules_of(model):
        values = vars(module).values()
        held.extend(values)
        for value in values:
            if type(value) in HOLDERS and value:
                held.extend(value.values() if isinstance(value, dict) else value)
    return list(map(id, held)), held


class ModelStore:
    """Models by their sizes: those of one file, made without numbers."""

    def __init__(self):
        self.models = {}
        self.states = {}

    def find(self, key):
        return self.models.get(key)

    def put(self, key, model):
        if len(self.models) >= MOST_MODELS:
            oldest = next(iter(self.models))
            self.states.pop(id(self.models.pop(oldest)), None)
        self.models[key] = model
        self.states[id(model)] = state_of(model)

    def tensors_of(self, model):
        """(parameters, buffers) of module_walk.py: of a kept model, which no trace has changed, found once."""
        state = self.states.get(id(model))
        if state is None:
            return tensors_of(model)
        if len(state) == 2:
            self.states[id(model)] = state = (*state, tensors_of(model))
        return state[2]

    def settle(self, model):
        """After a trace: drops the model if the trace changed it."""
        before = self.states.get(id(model))
        if before is not None and before[0] != state_of(model)[0]:
            self.models = {key: other for key, other in self.models.items() if other is not model}
            self.states.pop(id(model))
