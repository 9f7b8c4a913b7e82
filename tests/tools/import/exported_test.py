"""Exported programs: each becomes a text whose Model computes what the module computes, and which imports.

    exported_test.py [DUMP]

With PyTorch 2.1 or later the modules go through torch.export, save and load, also with a batch that may change.  Older ones have no
torch.export: there the same writer gets the ATen graphs that make_fx traces, and the rest is skipped by name.
"""

import collections
import os
import re
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
for folder in (os.path.join(HERE, "..", "..", "..", "core", "tools", "import"), os.path.join(HERE, "..", "..", "reference"),
               os.path.join(HERE, "..", "..", "import"), HERE):  # fmt: skip
    sys.path.insert(0, folder)

import torch  # noqa: E402

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
    cases = [("a file that is no program", refusal_of_an_old_pytorch)]
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
