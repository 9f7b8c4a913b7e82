#!/usr/bin/env python3
"""The Python of exported packages, without PyTorch's library and without a GPU.  usage: export_package.py SOURCE_DIRECTORY BUILD_DIRECTORY

For every task whose kernels become an operator, the first seed of each direction is exported with `rkb export --wheel`, and the package's module is
imported beside a stand-in for torch that knows shapes, types and calls.  Each check case must be taken by the kernel and have the shapes that the
task says; other types, sizes past the domain and the processor must fall back to the reference."""
import glob
import importlib
import os
import shutil
import subprocess
import sys
import tempfile
import types

import yaml

source, build = map(os.path.abspath, sys.argv[1:3])
failures = []
calls = []


def expect(holds, what):
    if not holds:
        failures.append(what)
        print("FAILED:", what)


class Tensor:
    def __init__(self, shape, dtype, device="cuda:0", requires_grad=False):
        self.shape, self.dtype, self.device, self.requires_grad = tuple(shape), dtype, device, requires_grad
        self.is_cuda = device.startswith("cuda")

    def dim(self):
        return len(self.shape)

    def new_empty(self, shape, dtype):
        return Tensor(shape, dtype, self.device)

    new_zeros = new_empty


class Operators:
    """torch.ops: an operator that is called runs its fake."""

    def __init__(self, *names):
        self.names = names

    def __getattr__(self, name):
        return Operators(*self.names, name)

    def __call__(self, *arguments):
        calls.append(self.names[1])
        return fakes["::".join(self.names)](*arguments)


class Anything(types.ModuleType):
    """What the reference imports and never calls here."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return object if name == "Module" else Anything(name)

    def __call__(self, *arguments, **named):
        return Anything("result")


fakes, gradients = {}, {}


def register_autograd(name, gradient, setup_context):
    gradients[name] = (gradient, setup_context)


def stand_in():
    torch = Anything("torch")
    torch.Tensor, torch.ops = Tensor, Operators()
    for name in ("float16", "bfloat16", "float32", "float64", "int8", "uint8", "int32", "int64", "float8_e4m3fn", "float8_e5m2"):
        setattr(torch, name, name)
    torch.is_grad_enabled = lambda: True
    torch.library = types.SimpleNamespace(register_fake=fakes.__setitem__, register_autograd=register_autograd)
    sys.modules.update({"torch": torch, "torch.nn": Anything("nn"), "torch.nn.functional": Anything("functional")})
    torch.nn = sys.modules["torch.nn"]


def value(text, names):
    """The language of tasks, of sizes that are not negative."""
    functions = {"ceildiv": lambda a, b: -(-a // b), "min": min, "max": max}
    return eval(str(text).replace("/", "//"), {"__builtins__": {}}, {**names, **functions})  # our own task files


def shape(text, names):
    return tuple(value(part, names) for part in split(text))


def split(text):
    parts, depth, last = [], 0, ""
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            parts, last = parts + [last], ""
        else:
            last += letter
    return [part for part in parts + [last] if part.strip()]


def names_of(task, case):
    names = {**{n: float(a["default"]) for n, a in (task.get("attributes") or {}).items()}, **case["dims"],
             **{n: float(v) for n, v in case.get("attributes", {}).items()}}
    for name, text in (task.get("let") or {}).items():
        names[name] = value(text, names)
    return names


class Context:
    def save_for_backward(self, *tensors):
        self.saved_tensors = tensors


def try_case(module, task, name, case, backward):
    names = names_of(task, case)
    tensors = {n: Tensor(shape(s["shape"], names), s["dtype"]) for n, s in task["tensors"].items() if s["role"] != "out"}
    outputs = [(shape(s["shape"], names), s["dtype"]) for s in task["tensors"].values() if s["role"] == "out"]
    function = getattr(module, task["name"])
    arguments = list(function.__code__.co_varnames[:function.__code__.co_argcount])
    given = [tensors.get(n, names.get(n)) for n in arguments]
    where = f"{task['name']} {case['name']}"
    calls.clear()
    expect(module.verified(*given), f"{where}: the case is in the verified domain")
    got = function(*given)
    got = got if isinstance(got, tuple) else (got,)
    expect(calls == ["forward_0"], f"{where}: forward_0 is called, not {calls}")
    expect([(t.shape, t.dtype) for t in got] == outputs, f"{where}: the outputs are {[(t.shape, t.dtype) for t in got]}, not {outputs}")
    first = arguments.index(next(iter(tensors)))
    for other in (Tensor(given[first].shape, "complex64"), Tensor(given[first].shape, given[first].dtype, "cpu"),
                  Tensor(given[first].shape + (1,), given[first].dtype)):
        expect(not module.verified(*given[:first], other, *given[first + 1:]), f"{where}: {other.shape} {other.dtype} {other.device} falls back")
    if backward:
        gradient, save = gradients[f"{name}::forward_0"]
        context = Context()
        save(context, tuple(given), got[0] if len(got) == 1 else got)
        found = gradient(context, *[Tensor(s, d) for s, d in outputs])
        expect(len(found) == len(given), f"{where}: a gradient for each of {len(given)} arguments, not {len(found)}")
        for argument, one in zip(arguments, found):
            wanted = argument in task["wants_grad"]
            expect((one is not None) == wanted, f"{where}: the gradient of {argument} is {one}")
            if wanted and one is not None:
                expect((one.shape, one.dtype) == (tensors[argument].shape, tensors[argument].dtype), f"{where}: shape of the gradient of {argument}")
        without = module._gradient(context, *[None for _ in outputs])
        expect(len(without) == len(given), f"{where}: an output without a gradient counts as zeros")


def try_domain(module, task):
    """One dim past its range, where a tensor's size is that dim alone."""
    case = task["cases"]["check"][0]
    for dim, domain in task["dims"].items():
        if "range" not in domain:
            continue
        names = names_of(task, {**case, "dims": {**case["dims"], dim: int(str(domain["range"]).split("..")[1]) + 1}})
        tensors = {n: Tensor(shape(s["shape"], names), s["dtype"]) for n, s in task["tensors"].items() if s["role"] != "out"}
        code = module.verified.__code__
        given = [tensors.get(n, names.get(n)) for n in code.co_varnames[:code.co_argcount]]
        expect(not module.verified(*given), f"{task['name']}: {dim} past {domain['range']} falls back")


def export(folder, *words):
    done = subprocess.run([os.path.join(build, "bin/rkb"), "export", *words, "--wheel", folder], capture_output=True, text=True, timeout=600, check=False)
    return done.returncode, done.stdout + done.stderr


def load(folder, name):
    open(os.path.join(folder, name, "_kernels.py"), "w", encoding="utf-8").close()  # in place of the library
    sys.path.insert(0, folder)
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(folder)


def try_task(folder, scratch):
    with open(os.path.join(folder, "task.yaml"), encoding="utf-8") as file:
        task = yaml.safe_load(file)
    seeds = [sorted(glob.glob(os.path.join(folder, "seeds", d, "*.cu"))) for d in ("forward", "backward")]
    files = [one[0] for one in seeds if one]
    package, name = os.path.join(scratch, task["name"]), f"rkb_{task['name']}"
    code, said = export(package, *files)
    if any(s["role"] == "inout" for s in task["tensors"].values()):
        expect(code == 1 and "changed in place" in said and not os.path.exists(package), f"{task['name']}: refused, and nothing is written: {said}")
        return 0
    expect(code == 0, f"{task['name']}: {said}")
    if code:
        return 0
    module = load(package, name)
    for case in task["cases"]["check"]:
        if "directions" not in case or "forward" in case["directions"]:
            try_case(module, task, name, case, len(files) == 2)
    try_domain(module, task)
    return 1


def try_dispatch(scratch):
    seeds = os.path.join(source, "tasks/softmax/seeds/forward")
    both = [os.path.join(seeds, "warp_online.cu"), os.path.join(seeds, "block_per_row.cu")]
    package = os.path.join(scratch, "dispatch")
    code, said = export(package, *both)
    expect(code == 2 and "both be taken for all sizes" in said, f"two kernels for all sizes: {said}")
    for condition, words in (("nobody=D > 1", "the name of one of the files"), ("block_per_row=Q > 1", "the task has no size 'Q'"),
                             ("block_per_row=D >", "--when:"), ("block_per_row=__import__('os')", "--when:")):
        code, said = export(package, *both, "--when", condition)
        expect(code == 2 and words in said, f"--when {condition}: {said}")
    code, said = export(package, *both, "--when", "block_per_row=D > 8192 and N < 100")
    expect(code == 0, said)
    sys.modules.pop("rkb_softmax", None), sys.modules.pop("rkb_softmax.reference", None), sys.modules.pop("rkb_softmax._kernels", None)
    module = load(package, "rkb_softmax")
    for sizes, wanted in (((4, 9000), "forward_1"), ((4, 8192), "forward_0"), ((100, 9000), "forward_0")):
        calls.clear()
        module.softmax(Tensor(sizes, "float32"))
        expect(calls == [wanted], f"{sizes} is {wanted}'s, not {calls}")
    calls.clear()
    module.softmax(Tensor((4, 4), "float32", requires_grad=True))
    expect(calls == [], "a gradient is wanted and there is no backward kernel: the reference is called")
    code, said = export(package, *both[:1])
    expect(code == 2 and "File exists" in said, f"a folder that exists is left alone: {said}")
    code, said = export(os.path.join(scratch, "back"), os.path.join(source, "tasks/softmax/seeds/backward/warp_per_row.cu"))
    expect(code == 1 and "a package needs a forward kernel" in said, said)


def main():
    stand_in()
    scratch = tempfile.mkdtemp()
    try:
        count = sum(try_task(os.path.dirname(path), scratch) for path in sorted(glob.glob(os.path.join(source, "tasks/*/task.yaml"))))
        expect(count >= 30, f"only {count} tasks were exported")
        try_dispatch(scratch)
    finally:
        shutil.rmtree(scratch)
    print(f"{count} packages, {len(failures)} failures")
    return 1 if failures else 0


sys.exit(main())
