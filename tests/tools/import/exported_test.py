"""Exported programs: each becomes a text whose Model computes what the module computes, and which imports.

    exported_test.py [DUMP]

With PyTorch 2.1 or later the modules go through torch.export, save and load, also with a batch that may change.  Older ones have no
torch.export: there the same writer gets the ATen graphs that make_fx traces, and the rest is skipped by name.
"""

import collections
import operator
import os
import re
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
for folder in (os.path.join(HERE, "..", "..", "..", "core", "tools", "import"), os.path.join(HERE, "..", "..", "reference"), HERE):
    sys.path.insert(0, folder)

import torch  # noqa: E402

import aten_calls  # noqa: E402
import exported  # noqa: E402
import import_task  # noqa: E402
from exported_modules import modules  # noqa: E402
from refusal import Refused  # noqa: E402

VERSION = tuple(int(part) for part in re.findall(r"\d+", torch.__version__)[:2])
Kind = collections.namedtuple("Kind", "name")
Argument = collections.namedtuple("Argument", "name")
InputSpec = collections.namedtuple("InputSpec", "kind arg target")
OutputSpec = collections.namedtuple("OutputSpec", "kind target")
Signature = collections.namedtuple("Signature", "input_specs output_specs")
Program = collections.namedtuple("Program", "graph graph_signature state_dict example_inputs")


def traced(module, inputs):
    """A program in the form of torch.export's, of the ATen graph that make_fx gives."""
    from torch.fx.experimental.proxy_tensor import make_fx
    from torch.nn.utils.stateless import functional_call

    state = dict(module.named_parameters())
    state.update(module.named_buffers())
    names = [name for name in state if not name.endswith("num_batches_tracked")]

    def flat(*tensors):
        return functional_call(module, dict(zip(names, tensors)), tensors[len(names) :])

    with torch.no_grad():
        graph = make_fx(flat)(*[state[name].detach() for name in names], *inputs).graph
    parameters = dict(module.named_parameters())
    specs = []
    for node, name in zip([node for node in graph.nodes if node.op == "placeholder"], names + [None] * len(inputs)):
        kind = "USER_INPUT" if name is None else "PARAMETER" if name in parameters else "BUFFER"
        specs.append(InputSpec(Kind(kind), Argument(node.name), name))
    results = [node for node in graph.nodes if node.op == "output"][0].args[0]
    count = len(results) if isinstance(results, (tuple, list)) else 1
    return Program(graph, Signature(specs, [OutputSpec(Kind("USER_OUTPUT"), None)] * count), state, (inputs, {}))


def programs():
    """[(name, module, inputs, text)]; the text comes from a saved program where PyTorch can save one."""
    made = []
    for name, module, inputs in modules():
        made.append((name + " of make_fx", module, inputs, exported.written(traced(module, inputs), name)[0]))
        if VERSION < exported.LEAST:
            print("skipped %s of torch.export: PyTorch %s does not have it" % (name, torch.__version__))
            continue
        batch = torch.export.Dim("batch", min=2, max=64)
        for label, shapes in (("as it is", None), ("with a batch", [{0: batch}] * len(inputs))):
            program = torch.export.export(module, inputs, dynamic_shapes=tuple(shapes) if shapes else None)
            for form, decomposed in (("", program), (", decomposed", program.run_decompositions())):
                with tempfile.TemporaryDirectory() as folder:
                    path = os.path.join(folder, "program.pt2")
                    torch.export.save(decomposed, path)
                    made.append(("%s of torch.export, %s%s" % (name, label, form), module, inputs, exported.load(path)[0]))
    return made


def same_values(module, inputs, text):
    """Problems of the written Model, with the module's own numbers in it."""
    scope = {}
    exec(compile(text, "written", "exec"), scope)
    model = scope["Model"]()
    state = dict(module.named_parameters())
    state.update(module.named_buffers())
    own = dict(model.named_parameters())
    own.update(model.named_buffers())
    with torch.no_grad():
        for key, tensor in state.items():
            if key.replace(".", "_") in own:
                own[key.replace(".", "_")].copy_(tensor)
        wanted, found = module(*inputs), model(*inputs)
    wanted, found = (value if isinstance(value, tuple) else (value,) for value in (wanted, found))
    fine = len(wanted) == len(found) and all(torch.allclose(a, b, rtol=1e-5, atol=1e-5) for a, b in zip(wanted, found))
    return [] if fine else ["the written Model computes something else"]


def same_graph(text, dump):
    """Problems of the import of the written text."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "written.py")
        with open(path, "w") as file:
            file.write(text)
        made = import_task.build(path, "sample", [], ["forward", "backward"])
        target = os.path.join(folder, "sample")
        import_task.write(target, made)
        if not dump:
            return []
        import compare
        from user_function import user_function

        shares = [compare.held(dump, target, direction, 1, user_function(made)) for direction in compare.directions_of(target)]
        return ["%.3g of the bound at %s" % pair for pair in shares if not pair[0] <= 1]


def calls_of_aten():
    """Operations as torch.export leaves them, with their arguments by place: (operation, arguments, named ones)."""
    aten, x, y = torch.ops.aten, torch.randn(3, 4, 5), torch.randn(3, 4, 5)
    yield from ((op, (x, *more), {}) for op in (aten.var.dim, aten.std.dim) for more in (([1],), ([1], False), ([1], True, True), ([0, 2], False, True)))
    yield from ((op, (x, [1]), {"correction": c, "keepdim": k}) for op in (aten.var.correction, aten.std.correction) for c in (0, 1) for k in (False, True))
    yield from ((op, (x, *more), {}) for op in (aten.var.default, aten.std.default) for more in ((), (False,)))
    yield from ((op, (x, [1], k), {}) for op in (aten.sum.dim_IntList, aten.mean.dim, aten.amax.default, aten.amin.default) for k in (False, True))
    yield from ((op, (x, 1, k), {}) for op in (aten.argmax.default, aten.prod.dim_int) for k in (False, True))
    yield from ((op, (x, 1), {}) for op in (aten.cumsum.default, aten.softmax.int, aten.log_softmax.int, aten.unsqueeze.default))
    yield from ((op, (x, y), {"alpha": 2}) for op in (aten.add.Tensor, aten.sub.Tensor))
    yield from ((aten.slice.Tensor, (x, 1, *cut), {}) for cut in ((1, 3), (1,), (0, 4, 2), (-2,)))
    yield from ((aten.clamp.default, (x, *ends), {}) for ends in ((-0.5,), (None, 0.5), (-0.5, 0.5)))
    yield from ((aten.leaky_relu.default, (x, *slope), {}) for slope in ((), (0.3,)))
    yield from ((aten.gelu.default, (x,), named) for named in ({}, {"approximate": "tanh"}))
    yield from ((aten.elu.default, (x, *more), {}) for more in ((), (0.5,)))
    yield from ((op, (x, *more), {}) for op, more in (
        (aten.hardtanh.default, (-0.2, 0.3)), (aten.select.int, (1, 2)), (aten.transpose.int, (0, 2)), (aten.permute.default, ([2, 0, 1],)), (aten.tril.default, (1,)),
        (aten.triu.default, (-1,)), (aten.flip.default, ([1],)), (aten.roll.default, ([1], [2])), (aten.repeat.default, ([2, 1, 1],)), (aten.expand.default, ([3, 4, 5],)),
        (aten.pow.Tensor_Scalar, (2,)), (aten.narrow.default, (1, 1, 2)), (aten.norm.ScalarOpt_dim, (2, [1], True)), (aten.logsumexp.default, ([1], True)),
        (aten.softplus.default, (2.0, 5.0)), (aten.rsub.Scalar, (1.0,)), (aten.masked_fill.Scalar, (y > 0, 1.5)), (aten.lerp.Scalar, (y, 0.3))))  # fmt: skip


def what_is_written_is_what_aten_computes():
    problems = []
    for op, arguments, named in calls_of_aten():
        names, scope = {}, {"torch": torch, "F": torch.nn.functional, "operator": operator}

        def shown(value):
            if isinstance(value, torch.Tensor):
                names.setdefault(id(value), "t%d" % len(names))
                scope[names[id(value)]] = value
                return names[id(value)]
            if isinstance(value, (list, tuple)):
                return "(%s,)" % ", ".join(map(shown, value))
            return "slice(%s)" % ", ".join(map(repr, (value.start, value.stop, value.step))) if isinstance(value, slice) else repr(value)

        try:
            text = aten_calls.call_of(op, arguments, named).text(shown)
            wanted, found = op(*arguments, **named), eval(text, scope)
        except Refused:
            continue
        found = found[0] if isinstance(found, tuple) else found
        if found.shape != wanted.shape or not torch.allclose(found.double(), wanted.double(), rtol=1e-5, atol=1e-6):
            problems.append("%s of %s, %s is written as %s" % (op, [value for value in arguments if not isinstance(value, torch.Tensor)], named, text))
    return problems


def refusal_of_an_old_pytorch():
    with tempfile.NamedTemporaryFile(suffix=".pt2") as file:
        try:
            import_task.build(file.name, "sample", [], ["forward"])
        except Refused as refusal:
            wanted = "torch.export" if VERSION < exported.LEAST else "does not load"
            return [] if wanted in refusal.sentences[0] else ["refused with: %s" % refusal.sentences]
    return ["an empty file was imported"]


def main():
    dump = sys.argv[1] if len(sys.argv) > 1 else None
    failed = 0
    cases = [("a file that is no program", refusal_of_an_old_pytorch), ("what is written is what ATen computes", what_is_written_is_what_aten_computes)]
    cases += [(name, lambda m=module, i=inputs, t=text: same_values(m, i, t) + same_graph(t, dump)) for name, module, inputs, text in programs()]
    for name, run in cases:
        try:
            problems = run()
        except Refused as refusal:
            problems = refusal.sentences
        failed += bool(problems)
        print("%s %s" % ("FAILED" if problems else "ok    ", name))
        for problem in problems:
            print("    " + problem)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
