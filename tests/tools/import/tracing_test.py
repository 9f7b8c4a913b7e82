"""What a trace takes over from PyTorch without asking it again: names, refused shapes, plain shapes, shapes of calls that were answered before, and models.

    /usr/bin/python3 tracing_test.py
"""

import ast
import itertools
import os
import sys

import torch
import torch.nn.functional as F
from torch.nn.modules import transformer as layers

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "core", "tools", "import"))

import early_checks  # noqa: E402
import meta_shapes  # noqa: E402
import module_hooks  # noqa: E402
from model_store import ModelStore, of_inputs_alone  # noqa: E402
from module_walk import modules_of, tensors_of  # noqa: E402
from module_stub import standing_in  # noqa: E402
from traced_graph import Recording  # noqa: E402
from tracing import trace  # noqa: E402

NAMES = ["relu", "relu", "x_1", "x", "x_1", "x", "sum", "sum", "camelCase", "ReLU6", "a.b.c", "3d", "x_01", "lambda", "device", "conv2d", "conv2d", "relu"]


def names_are_those_of_torch_fx():
    """Of PyTorch 1: other versions name otherwise, and a task's names do not depend on the version."""
    if not torch.__version__.startswith("1."):
        return
    ours, theirs = Recording(), torch.fx.Graph()
    for name in NAMES:
        ours.create_node("call_function", name, (), {})
        theirs.create_node("call_method", name, (), {})
    assert [node.name for node in ours.nodes] == [node.name for node in theirs.nodes], [node.name for node in ours.nodes]


def of(*shape):
    return torch.empty(shape, device="meta")


SHAPED = {  # name -> (function, calls of it)
    "linear": (F.linear, [(of(3, n), of(m, 4)) for n in (3, 4, 5) for m in (1, 7)] + [(of(4), of(2, 4)), (of(5), of(2, 4))]),
    "conv2d": (F.conv2d, [(of(2, c, h, 5), of(6, 3, k, k), None, 1, p, d, g) for c in (3, 6) for h in (1, 2, 4) for k in (1, 3) for p in (0, 1)
                          for d in (1, 2) for g in (1, 2)]),
    "conv1d": (F.conv1d, [(of(2, c, n), of(4, 3, 3)) for c in (2, 3) for n in (2, 3)]),
    "max_pool2d": (F.max_pool2d, [(of(2, 3, h, 4), k, None, p) for h in (1, 2, 3) for k in (2, (3, 1)) for p in (0, 1)]),
    "view": (torch.Tensor.view, [(of(3, 4), *wanted) for wanted in ((12,), (5, -1), (-1, 6), (2, 6), (7, 2), ((3, 2, 2),), (-1,), (0, -1))]),
    "reshape": (torch.Tensor.reshape, [(of(3, 4), (2, wanted)) for wanted in (5, 6, -1)]),
}  # fmt: skip


def what_is_refused_early_pytorch_refuses():
    refused = 0
    for name, (function, calls) in SHAPED.items():
        for arguments in calls:
            problem = early_checks.problem(name, arguments, {})
            try:
                fits = function(*arguments).numel() > 0  # nothing is no value of a graph
            except (RuntimeError, ValueError):
                fits = False
            assert not (problem and fits), (name, arguments, problem)
            refused += problem is not None
    assert refused > 20, refused
    for arguments in ((), (of(3),), (of(3, 4), "same"), (None, None)):
        assert all(early_checks.problem(name, arguments, {}) is None or name in ("view", "reshape") for name in early_checks.CHECKS)


def attention_layers():
    for width, held, heads, biased, weights, average, kind in itertools.product((12, 8), (12,), (1, 3, 5), (False, True), (False, True), (False, True), range(4)):
        x, bias = of(7, 2, width), of(3 * held) if biased else None
        others = (x, x) if kind else (of(6, 2, width), of(6, 2, width))
        mask = of(7, 7) if kind == 1 else None
        yield (x, *others, width if kind < 3 else width + 1, heads, of(3 * held, held), bias, None, None, False, 0.0, of(held, held), of(held), True, None, weights, mask,
               False, None, None, None, None, None, average)  # fmt: skip


def facts(value, arguments):
    """What is compared of a call's result."""
    if isinstance(value, tuple):
        return [facts(part, arguments) for part in value]
    return value if value is None else (value.shape, value.stride(), value.dtype, value is arguments[0])


TOLD = {  # name -> (function, calls of it), right and wrong ones
    "linear": SHAPED["linear"][0:1] + (SHAPED["linear"][1] + [(of(2, 3, 4), of(5, 4), of(n)) for n in (1, 4, 5)] + [(of(4, 3).t(), of(5, 4)), (of(0, 4), of(5, 4))],),
    "conv1d": (F.conv1d, [(of(2, 4, 9), of(6, c, 3), of(n), s, p, d, g) for c in (2, 4) for n in (5, 6) for s in (1, 2) for p in (0, 2) for d in (1, 3) for g in (1, 2, 4)]),
    "conv2d": (F.conv2d, SHAPED["conv2d"][1] + [(of(2, 3, 5, 4), of(4, 3, 3, 2), None, (2, 1), (1, 0), 1), (of(3, 5, 4), of(4, 3, 3, 2)), (of(2, 3, 5, 4), of(4, 3, 3, 3), None, 1, "same"),
                                                 (of(2, 3, 5, 4), of(4, 3, 3, 3), None, 0), (of(2, 3, 5, 4), of(4, 3, 3, 3), None, 1, -1)]),
    "conv3d": (F.conv3d, [(of(2, 3, n, 4, 5), of(4, 3, 2, 2, 3), None, 2, 1) for n in (1, 2, 3)]),
    "cat": (torch.cat, [([of(2, n), of(2, 3)], dim) for n in (1, 3) for dim in (0, 1, -1, 2)] + [([of(0), of(2, 3)], 0), ([of(2, 3), of(2, 3).half()],), ([of(3, 2).t(), of(2, 3)], 1), ([],)]),
    "hardtanh": (F.hardtanh, [(of(2, 3), 0.0, high, inplace) for high in (6.0, 0.0, -1.0) for inplace in (False, True)] + [(of(3, 2).t(), 0.0, 1.0)]),
    "relu6": (F.relu6, [(of(2, 3),), (of(2, 3), True), (of(2, 3).int(),)]),
    "layer_norm": (F.layer_norm, [(of(2, 3, 4), wanted, weight) for wanted in ((4,), (3, 4), (3,), ()) for weight in (None, of(4), of(3, 4))]),
    "add": (torch.add, [(of(2, 3), other) for other in (1, 2.5, True, of(3), of(2, 1), of(2), of(4, 1, 1), of(2, 3).half(), of(2, 3).long(), of(3, 2).t(), of())] + [(of(2, 3).long(), 1.5)]),
    **{name: (function, [(of(2, 3),), (of(2, 3).long(),), (of(3, 2).t(),), (of(0, 3),), (of(2, 3), 1, 2, 3)])
       for name, function in (("sigmoid", torch.sigmoid), ("tanh", torch.tanh), ("exp", torch.exp), ("sqrt", torch.sqrt))},
    **{name: (function, [(x, inplace) for x in (of(2, 3), of(2, 3).half(), of(2, 3).long(), of(3, 2).t()) for inplace in (False, True)])
       for name, function in (("relu", F.relu), ("silu", F.silu))},
    "dropout": (F.dropout, [(x, p, training) for x in (of(2, 3), of(3, 2).t()) for p in (0.0, 0.5, 1.0, 1.5, -0.5) for training in (False,)]),
    "gelu": (F.gelu, [(of(2, 3),), (of(3, 2).t(),), (of(2, 3).long(),)]),
    "softmax": (F.softmax, [(of(*shape), dim) for shape in ((3,), (2, 3), (2, 3, 4)) for dim in (-3, -2, -1, 0, 1, 2)] + [(of(3, 2).t(), 0), (of(3), 0, 3, torch.float64)]),
    "max_pool2d": (F.max_pool2d, [(of(2, 3, h, 5), k, s, p, d, ceil) for h in (1, 4, 5) for k in (1, 2, (3, 2)) for s in (None, 1, (2, 3)) for p in (0, 1, (1, 0))
                                  for d in (1, 2) for ceil in (False, True)] + [(of(3, 5, 4), 2), (of(2, 3, 5, 4), 0), (of(2, 3, 5, 4), 2, 2, -1), (of(2, 3, 5, 4), (2, 2, 2))]),
    "avg_pool2d": (F.avg_pool2d, [(of(2, 3, h, 5), k, s, p, ceil) for h in (1, 4, 5) for k in (1, 2, (3, 2)) for s in (None, 1, (2, 3)) for p in (0, 1, (1, 0))
                                  for ceil in (False, True)] + [(of(3, 5, 4), 2), (of(2, 3, 5, 4), 2, 2, 0, False, True, 3), (of(2, 3, 5, 4).long(), 2)]),
    "adaptive_avg_pool2d": (F.adaptive_avg_pool2d, [(of(2, 3, 5, 4), size) for size in (1, 7, (1, 1), (2, 3), (None, 2), 0, (2,), (1, 2, 3))] + [(of(3, 5, 4), 2)]),
    "matmul": (torch.matmul, [(of(*a), of(*b)) for a in ((2, 3, 4), (5, 2, 3, 4), (1, 3, 4), (3, 4), (4,), (2, 4, 3)) for b in ((2, 4, 6), (5, 2, 4, 6), (4, 6), (4,), (1, 4, 6), (2, 3, 4))]
               + [(of(2, 4, 3).transpose(1, 2), of(2, 6, 4).transpose(1, 2)), (of(2, 3, 4), of(2, 4, 6).half())]),
    "multi_head_attention_forward": (F.multi_head_attention_forward, list(attention_layers())),
}  # fmt: skip


def what_is_told_without_pytorch_is_what_it_tells():
    for name, (function, calls) in TOLD.items():
        known = 0
        for arguments in calls:
            told = meta_shapes.told(name, arguments, {})
            try:
                wanted = function(*arguments)
            except (RuntimeError, ValueError, TypeError, IndexError, ArithmeticError, AssertionError):
                wanted = None
            if told is not None:
                known += 1
                assert wanted is not None, (name, arguments)
                assert facts(told, arguments) == facts(wanted, arguments), (name, arguments, told, wanted)
        assert known, name
    for arguments in ((), (of(3),), (of(3, 4), "same"), (None, None), ("x", of(3))):
        assert all(meta_shapes.told(name, arguments, {}) is None for name in ("conv2d", "linear", "cat"))


def a_stand_in_gives_way_to_what_it_stands_for():
    import xml

    name = "xml.sax.saxutils"
    __import__("xml.sax")
    sys.modules.pop(name, None)
    vars(sys.modules["xml.sax"]).pop("saxutils", None)
    with standing_in(name, disable=len):
        stands = sys.modules[name]
        assert xml.sax.saxutils is stands and stands.disable is len and not hasattr(stands, "__file__")
        assert stands.escape("<") == "&lt;" and sys.modules[name] is not stands and xml.sax.saxutils.escape("<") == "&lt;"
    assert sys.modules[name] is xml.sax.saxutils is not stands
    with standing_in(name, disable=len):
        assert sys.modules[name] is xml.sax.saxutils  # it is loaded: nothing stands in for it
    del sys.modules[name], xml.sax.saxutils
    with standing_in(name, disable=len):
        assert sys.modules[name].disable is len
    assert name not in sys.modules and not hasattr(xml.sax, "saxutils")
    with standing_in("xml.sax.no_such_module", disable=len):
        assert "xml.sax.no_such_module" not in sys.modules


class Turned(torch.nn.Module):
    def forward(self, x):
        first, second = torch.relu(x), torch.relu(x)  # one answer for both
        first.unsqueeze_(0)
        return first + 1, second + 1


def one_answer_may_stand_for_several_values():
    answers = {}
    for _ in range(2):
        graph = trace(Turned(), "test", {"x": torch.empty(3, 4)}, __file__, answers=answers).graph
        shapes = [tuple(node.meta["value"].shape) for node in graph.nodes if node.name.startswith("add")]
        assert shapes == [(1, 3, 4), (3, 4)], shapes
    assert answers


class Masked(torch.nn.Module):
    """Looks at its mask as nn.TransformerEncoder and its nn.MultiheadAttention of PyTorch 2 do."""

    def __init__(self):
        super().__init__()
        self.inner = torch.nn.MultiheadAttention(6, 2)

    def forward(self, x, mask):
        F._none_or_dtype(mask)
        mask = F._canonical_mask(mask=mask, mask_name="mask", target_type=x.dtype)
        found = [layers._detect_is_causal_mask(mask, given, x.shape[0]) for given in (None, False, True)]
        assert found == [False, False, True] and not layers._detect_is_causal_mask(None)
        return self.inner(x, x, x, attn_mask=mask, need_weights=False)[0]


def stand_in_of_none_or_dtype(given):
    assert given is None or isinstance(given, torch.Tensor), type(given)
    return None if given is None else given.dtype


def stand_in_of_canonical_mask(mask, mask_name, target_type, **others):
    assert mask is None or isinstance(mask, torch.Tensor), type(mask)
    return None if mask is None else torch.zeros(mask.shape, dtype=target_type, device=mask.device)


def stand_in_of_detect_is_causal_mask(mask, is_causal=None, size=None):
    if is_causal is None and mask is not None:
        return bool((mask == torch.ones(size, size, dtype=torch.bool).triu(1)).all())
    return is_causal is True


def masks_reach_attention_as_they_are():
    stands = {(F, "_none_or_dtype"): stand_in_of_none_or_dtype, (F, "_canonical_mask"): stand_in_of_canonical_mask,
              (layers, "_detect_is_causal_mask"): stand_in_of_detect_is_causal_mask}  # fmt: skip
    own = {(owner, name): getattr(owner, name, None) for owner, name in stands}
    inputs = {"x": torch.empty(5, 2, 6), "mask": torch.empty(5, 5, dtype=torch.bool)}
    try:
        for (owner, name), function in stands.items():
            setattr(owner, name, function)
        graph = trace(Masked(), "test", inputs, __file__).graph
        assert all(getattr(owner, name) is function for (owner, name), function in stands.items())
    finally:
        for (owner, name), function in own.items():
            setattr(owner, name, function) if function else delattr(owner, name)
    call = next(node for node in graph.nodes if node.target is F.multi_head_attention_forward)
    mask = call.kwargs["attn_mask"]
    assert mask.op == "placeholder" and mask.meta["value"].dtype == torch.bool, mask.op
    before = set(vars(F)), set(vars(layers))
    trace(torch.nn.ReLU(), "test", {"input": torch.empty(2)}, __file__)
    assert (set(vars(F)), set(vars(layers))) == before


FILES = {  # text of a file -> numbers in it on which no model depends
    "n = 3\nm = 4\nclass Model:\n    size = m\ndef get_inputs():\n    return n, m, 5\n": {3, 5},
    "n = 3\nk = n * 2\ndef get_inputs():\n    return k\nclass Model: pass\n": {3, 2},
    "n = 3\nk = n\ndef get_inputs():\n    return k\nclass Model:\n    size = k\n": set(),
    "n = 3\ndef get_inputs():\n    return n\ndef get_init_inputs():\n    return get_inputs()\n": set(),
    "n = 3\ndef get_inputs():\n    return n\nclass Model:\n    size = globals()['n']\n": set(),
    "n, m = 3, 4\ndef get_inputs():\n    return n\nclass Model:\n    size = m\n": set(),
    "n = 3\ndef get_inputs():\n    return n\nclass Model:\n    def size(self, m):\n        n = 4\n        return [n for n in (n, m)]\n": {3},
    "n = 3\ndef get_inputs():\n    return n\nclass Model:\n    def size(self):\n        return [n for m in self.all]\n": set(),
    "n = 3\ndef get_inputs():\n    return n\nclass Model:\n    n = n\n": set(),
    "n = 3\ndef get_inputs():\n    return n\nreturn n\n": set(),
    "n = 3\ndef get_inputs():\n    return n\nif __name__ == '__main__':\n    print(n, get_inputs())\n": {3},
}  # fmt: skip


def numbers_of_inputs_are_found():
    for text, wanted in FILES.items():
        tree = ast.parse(text)
        alone = of_inputs_alone(tree)
        found = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and type(node.value) is int and id(node) in alone}
        assert found == wanted, (text, found)


def a_changed_model_is_made_anew():
    for change in (lambda layer: setattr(layer, "seen", 1), lambda layer: layer.list.append(2), lambda layer: layer.register_buffer("own", of(2))):
        store, model = ModelStore(), torch.nn.Sequential(torch.nn.ReLU())
        model[0].list = [1]
        store.put("key", model)
        store.settle(model)
        assert store.find("key") is model
        change(model[0])
        store.settle(model)
        assert store.find("key") is None


def walks_are_those_of_pytorch():
    shared, tied = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)
    tied.weight = shared.weight
    model = torch.nn.Sequential(torch.nn.Sequential(shared, torch.nn.BatchNorm1d(2)), shared, tied, torch.nn.Linear(2, 2, bias=False), torch.nn.GRU(2, 2))
    model.register_module("nothing", None)
    model.register_buffer("none", None)
    model[0].register_buffer("same", model[0][1].running_mean)
    assert modules_of(model) == list(model.named_modules())
    for ours, theirs in zip(tensors_of(model), (model.named_parameters(), model.named_buffers())):
        assert [(name, id(tensor)) for name, tensor in ours.items()] == [(name, id(tensor)) for name, tensor in theirs]


class Layers(torch.nn.Module):
    """Two of each layer, and some that are not as they come."""

    def __init__(self):
        super().__init__()
        nn = torch.nn
        made = []
        for _ in range(2):
            made += [nn.Conv2d(3, 3, 3, padding=1), nn.BatchNorm2d(3).eval(), nn.ReLU(inplace=True), nn.Dropout(0.0), nn.Conv2d(3, 3, 1, bias=False), nn.ReLU6(),
                     nn.AvgPool2d(2, ceil_mode=True), nn.MaxPool2d(1), nn.GroupNorm(3, 3), nn.Dropout(0.5)]  # fmt: skip
        made += [nn.ReLU6(), nn.Conv2d(3, 3, 3, padding=1, padding_mode="reflect"), nn.ReLU6()]
        made[-3].register_forward_pre_hook(lambda _, given: (given[0] * 2,))
        made[-1].forward = lambda x: x * 3 + 1
        self.front = nn.Sequential(*made)
        self.back = nn.Sequential(*[layer for _ in range(2) for layer in (nn.Linear(3, 3), nn.LayerNorm(3), nn.GELU(), nn.Linear(3, 3, bias=False), nn.Sigmoid())])
        self.tied = nn.Linear(3, 3)
        self.tied.weight = self.back[0].weight

    def forward(self, x):
        y = self.front(x)
        torch.nn.functional.relu_(y[:, :2])
        return self.tied(self.back(y.permute(0, 2, 3, 1))), self.back[2](y.flatten(1))


def described(model, shape):
    graph = trace(model, "test", {"x": torch.empty(shape)}, __file__, answers={}).graph
    return [(node.op, node.target, node.name, node.args, node.kwargs, node.meta["line"], [other.name for other in node.users],
             getattr(node.meta["value"], "shape", None)) for node in graph.nodes if "value" in node.meta]  # fmt: skip


def layers_call_what_they_call_on_the_long_way():
    model, plain, learn = Layers(), module_hooks.PLAIN_LAYERS, module_hooks.LayerCalls.learn
    learnt = []
    try:
        module_hooks.LayerCalls.learn = lambda self, key, *others: (learnt.append(key), learn(self, key, *others))[1]
        short = described(model, (2, 3, 8, 9))
        module_hooks.PLAIN_LAYERS = frozenset()
        long = described(model, (2, 3, 8, 9))
    finally:
        module_hooks.PLAIN_LAYERS, module_hooks.LayerCalls.learn = plain, learn
    assert len(short) == len(long)
    for ours, theirs in zip(short, long):
        assert repr(ours) == repr(theirs), (ours, theirs)
    assert len(learnt) == len(set(learnt)) and 10 < len(learnt) < 22, len(learnt)


def main():
    for test in (names_are_those_of_torch_fx, what_is_refused_early_pytorch_refuses, what_is_told_without_pytorch_is_what_it_tells,
                 a_stand_in_gives_way_to_what_it_stands_for, one_answer_may_stand_for_several_values, masks_reach_attention_as_they_are,
                 numbers_of_inputs_are_found, a_changed_model_is_made_anew, walks_are_those_of_pytorch, layers_call_what_they_call_on_the_long_way):  # fmt: skip
        test()
        print("ok     %s" % test.__name__.replace("_", " "))
    return 0


if __name__ == "__main__":
    sys.exit(main())
