#!/usr/bin/env python3
"""What the checkers of other projects say of this suite's kernels.

Each kernel that computes one of the MODELS below is put into the form that a checker takes, at the task's bench shape: a module of PyTorch's whose
operator launches it.  The honest twins go the same way: a checker that refuses those as well found nothing.  The checkers' code is not here:
name folders with checkouts of them.

usage: peers.py write SOURCE_DIRECTORY BINARY_DIRECTORY OUT          CUDA texts and modules, by rkb export
       peers.py read OUT --kernelbench DIR --kernelguard DIR         checkers that read the text; no GPU
       peers.py run OUT --kernelbench DIR --robust-kbench DIR        checkers that execute; needs nvcc, PyTorch and a GPU
       peers.py table OUT                                            the table of docs/results, from what read and run left in OUT

run goes on where it was stopped; --for SECONDS ends it, --jobs N compiles so many at a time.  A child process per kernel and checker ends after
LONGEST seconds: then the checker has no answer.
"""

import argparse
import concurrent.futures
import ctypes
import hashlib
import importlib
import json
import multiprocessing
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
import types

AREAS = ("timing", "checking", "sampling", "shape", "state", "environment")
LONGEST = 25
AT_ONCE = 2  # on the GPU: times are compared with times of the same process alone
NVCC = ["-O3", "-std=c++17", "-arch=sm_90", "-shared", "-Xcompiler", "-fPIC"]

# task: what computes it in PyTorch, what is drawn for it, and what the C launcher wants behind the pointers.
MODELS = {
    "llama_rmsnorm": ("x, weight", "x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-8) * weight",
                      "torch.randn(16, 1024, 4096, device='cuda'), 1 + 0.5 * torch.randn(4096, device='cuda')", "torch.empty_like(x)", "*x.shape", "1e-8"),
    "softmax": ("x", "torch.softmax(x, dim=-1)", "2 * torch.randn(4096, 4096, device='cuda')", "torch.empty_like(x)", "*x.shape", ""),
    "mnist_linear_relu": ("x, weight, bias", "torch.relu(torch.nn.functional.linear(x, weight, bias))",
                          "torch.randn(64, 1600), torch.randn(128, 1600) / 40, torch.randn(128) / 40",
                          "torch.empty(x.shape[0], weight.shape[0], device=x.device)", "*x.shape, weight.shape[0]", ""),
}
REFERENCE = """import torch

class Model(torch.nn.Module):
    def forward(self, {names}):
        return {formula}

def get_inputs():
    return [{inputs}]

def get_init_inputs():
    return []
"""
# The module as its author would hand it in: for the checkers that read.
EXTENSION = '''import torch
from torch.utils.cpp_extension import load_inline

cuda_source = r"""{cuda}"""
extension = load_inline(name="candidate", cpp_sources="std::vector<at::Tensor> rkb_forward({declaration});", cuda_sources=cuda_source, functions=["rkb_forward"])

class ModelNew(torch.nn.Module):
    def forward(self, {names}):
        return extension.rkb_forward({names}{more})[0]
'''
# The same for the checkers that execute.  The library is loaded by ctypes: with PyTorch's headers each compile takes half a minute.
MODULE = """import ctypes
import torch

library = ctypes.CDLL("{library}")
scratch_bytes, launch = library.rkb_{task}_forward_scratch_bytes, library.rkb_{task}_forward
scratch_bytes.restype = ctypes.c_int64

def run({names}):
    sizes = [ctypes.c_int64(size) for size in [{sizes}]]
    y = {out}
    scratch = torch.empty(max(1, scratch_bytes(*sizes)), dtype=torch.uint8, device=x.device)
    status = launch(*[ctypes.c_void_p(t.data_ptr()) for t in [{names}, y]], *sizes, {attribute}ctypes.c_void_p(scratch.data_ptr()),
                    ctypes.c_void_p(torch.cuda.current_stream().cuda_stream))
    if status:
        raise RuntimeError("the launch gave error %d" % status)
    return y

class ModelNew(torch.nn.Module):
    def forward(self, {names}):
        return run({names})
"""


def without_comments(text):
    return re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S)


def key_of(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def write(options):
    """OUT/subjects.json: entry, its kernel and its twin by the hashes of their texts; OUT/<hash>.cu for nvcc, .txt as an author hands it in."""
    root = options.source / "tests" / "adversary"
    export = [str(options.binary / "bin" / "rkb"), "export", "--task"]
    options.out.mkdir(parents=True, exist_ok=True)
    subjects, written = [], {}
    for area in AREAS:
        for folder in sorted((root / area).iterdir()):
            kernel = folder / "kernel.cu"
            found = re.search(r"^task: (\w+)\ndirection: forward$", kernel.read_text(), re.M) if kernel.exists() else None
            case = (folder / "entry.case").read_text() if found else ""
            if not found or found[1] not in MODELS or "\nstanding: accept" in case:
                continue
            twin = folder / (re.search(r"^twin: (.*)$", case, re.M) or [0, "twin.cu"])[1]
            for path in (kernel, twin):
                name = key_of(path)
                if name in written:
                    continue
                task = str(options.source / "tasks" / found[1])
                subprocess.run(export + [task, "--c", "--out", str(options.out / (name + ".cu")), str(path)], check=True)
                text = subprocess.run(export + [task, "--torch", str(path)], check=True, capture_output=True, text=True).stdout
                names = MODELS[found[1]][0]
                declaration = ", ".join("at::Tensor " + one for one in names.split(", ")) + (", double eps" if MODELS[found[1]][5] else "")
                more = ", " + MODELS[found[1]][5] if MODELS[found[1]][5] else ""
                (options.out / (name + ".txt")).write_text(EXTENSION.format(cuda=without_comments(text), declaration=declaration, names=names, more=more))
                written[name] = True
            subjects.append({"entry": f"{area}/{folder.name}", "task": found[1], "kernel": key_of(kernel), "twin": key_of(twin)})
    subjects.sort(key=lambda one: hashlib.sha256(one["entry"].encode()).hexdigest())  # a cut anywhere leaves a sample
    (options.out / "subjects.json").write_text(json.dumps(subjects, indent=1))
    print(f"{len(subjects)} entries, {len(written)} texts")


class Answers:
    """OUT/answers.jsonl: what each checker said of each text."""

    def __init__(self, out):
        self.path = out / "answers.jsonl"
        self.rows = [json.loads(line) for line in self.path.read_text().splitlines()] if self.path.exists() else []

    def has(self, checker, text):
        return any(row["checker"] == checker and row["text"] == text for row in self.rows)

    def add(self, checker, text, answer, why=""):
        self.rows.append({"checker": checker, "text": text, "answer": answer, "why": str(why)[:200]})
        with open(self.path, "a") as file:
            print(json.dumps(self.rows[-1]), file=file)


def texts_of(out):
    """(text, task) of kernels, with a twin after the first kernel that has it."""
    seen = {}
    for one in json.loads((out / "subjects.json").read_text()):
        for text in (one["kernel"], one["twin"]):
            seen.setdefault(text, one["task"])
    return list(seen.items())


def load_file(name, path):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def read(options):
    answers = Answers(options.out)
    static = load_file("kernel_static_checker", options.kernelbench / "src" / "kernelbench" / "kernel_static_checker.py")
    guard = load_file("kernelguard", options.kernelguard / "kernelguard.py")
    for text, _ in texts_of(options.out):
        code = (options.out / (text + ".txt")).read_text()
        valid, errors, _ = static.validate_kernel_static(code, backend="cuda", precision="fp32")
        answers.add("kernelbench.text", text, "passed" if valid else "refused", "; ".join(errors))
        said = guard.analyze_code(code)
        answers.add("kernelguard", text, "refused" if said["should_filter"] else "passed", said["classification"])


class Absent(types.ModuleType):
    """Stands for a package that a checkout imports at its top and the checks do not need: a client of some server, a progress bar."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {"__init__": lambda self, *a, **k: None})


class PlainModel:
    """pydantic.BaseModel as far as a record with defaults needs it."""

    def __init__(self, **fields):
        for name in {n for kind in type(self).__mro__ for n in getattr(kind, "__annotations__", {})}:
            value = fields.get(name, getattr(type(self), name, None))
            setattr(self, name, dict(value) if isinstance(value, dict) else value)


def load_checkers(options):
    """The modules, before any CUDA call: children are forked from here."""
    for name in ("dotenv", "tqdm", "openai", "litellm", "requests", "pydantic"):
        try:
            importlib.import_module(name)
        except ImportError:
            sys.modules[name] = Absent(name)
            if name == "pydantic":
                sys.modules[name].BaseModel = PlainModel
    import torch

    there, torch.cuda.is_available = torch.cuda.is_available, lambda: False  # a default argument asks for the current device when it is loaded
    sys.path[:0] = [str(options.kernelbench / "src"), str(options.robust_kbench)]
    try:
        kernelbench = importlib.import_module("kernelbench.eval")
        importlib.import_module("kernelbench.utils")
        robust = importlib.import_module("robust_kbench.sandbox.correct_forward_fn")
    finally:
        torch.cuda.is_available = there
    return torch, kernelbench, robust


def by_kernelbench(checkers, reference, module):
    torch, kernelbench, _ = checkers
    result = kernelbench.eval_kernel_against_ref(reference, module, num_correct_trials=5, num_perf_trials=20, measure_performance=True,
                                                 device=torch.device("cuda:0"), backend="cuda", precision=torch.float32)
    if not result.correctness:
        return "refused", str({key: value for key, value in result.metadata.items() if key not in ("hardware", "device")})
    if result.metadata.get("excessive_speedup"):
        return "flagged", f"{result.ref_runtime:.4f} and {result.runtime:.4f} ms"
    return "passed", f"{result.ref_runtime:.4f} and {result.runtime:.4f} ms"


def by_robust_kbench(checkers, reference, module):
    torch, _, robust = checkers
    names = {}
    exec(reference, names)  # pylint: disable=exec-used
    exec(module, names)  # pylint: disable=exec-used
    expected = names["Model"]()

    class Called(torch.nn.Module):
        def forward(self, *inputs, fn):
            return fn(*inputs)

    result = robust.check_forward_correctness(Called, expected.forward, names["run"], names["get_inputs"], {}, {}, rtol=1e-3, atol=1e-3)
    return ("passed" if result.correct else "refused"), f"{result.num_correct} of {result.total_correct_trials}, {result.max_diff}"


CHECKERS = {"kernelbench": by_kernelbench, "robust-kbench": by_robust_kbench}


def child(pipe, name, checkers, reference, module):
    os.setsid()
    sys.stdout = sys.stderr = open(os.devnull, "w")
    try:
        pipe.send(CHECKERS[name](checkers, reference, module))
    except Exception as error:  # pylint: disable=broad-except
        pipe.send(("refused", f"{type(error).__name__}: {error}"))


def judge(name, checkers, reference, module):
    """In a process of its own, which a kernel may ruin."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(False)
    process = context.Process(target=child, args=(theirs, name, checkers, reference, module))
    process.start()
    theirs.close()
    try:
        answer = ours.recv() if ours.poll(LONGEST) else ("no answer", f"after {LONGEST} s")
    except EOFError:
        answer = ("refused", "the process ended")
    if process.is_alive():
        try:
            os.kill(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    process.join()
    return answer


def compile_one(out, text):
    library = out / (text + ".so")
    if not library.exists():
        done = subprocess.run(["nvcc"] + NVCC + ["-o", str(library), str(out / (text + ".cu"))], capture_output=True, text=True, timeout=120)
        if done.returncode:
            return done.stderr.strip()[-300:]
    return ""


def run(options):
    answers, end = Answers(options.out), time.monotonic() + options.seconds
    checkers = load_checkers(options)
    compilers = concurrent.futures.ThreadPoolExecutor(options.jobs)
    built = [(text, task, compilers.submit(compile_one, options.out, text)) for text, task in texts_of(options.out)
             if not all(answers.has(name, text) for name in CHECKERS)]
    judges = concurrent.futures.ThreadPoolExecutor(AT_ONCE)

    def answer(text, task, compiled):
        if time.monotonic() > end:
            return
        names, formula, inputs, out, sizes, attribute = MODELS[task]
        reference = REFERENCE.format(names=names, formula=formula, inputs=inputs)
        module = MODULE.format(library=options.out / (text + ".so"), task=task, names=names, sizes=sizes, out=out,
                               attribute=f"ctypes.c_double({attribute}), " if attribute else "")
        error = compiled.result()
        for name in CHECKERS:
            if not answers.has(name, text):
                answers.add(name, text, *(("refused", "does not compile: " + error) if error else judge(name, checkers, reference, module)))

    waiting = [judges.submit(answer, *one) for one in built]
    for one in waiting:
        one.result()
    for _, _, compiled in built:
        compiled.cancel()


def table(options):
    subjects, answers = json.loads((options.out / "subjects.json").read_text()), Answers(options.out).rows
    said = {(row["checker"], row["text"]): row["answer"] for row in answers}
    names = ["kernelbench", "kernelbench.text", "robust-kbench", "kernelguard"]
    print("| area | entries | " + " | ".join(names) + " |")
    print("|---|---|" + "---|" * len(names))
    for area in AREAS + ("all",):
        mine = [one for one in subjects if area in ("all", one["entry"].split("/")[0])]
        cells = []
        for name in names:
            judged = [one for one in mine if (name, one["kernel"]) in said and (name, one["twin"]) in said]
            found = [one for one in judged if said[name, one["kernel"]] != "passed" and said[name, one["twin"]] == "passed"]
            both = [one for one in judged if said[name, one["kernel"]] != "passed" and said[name, one["twin"]] != "passed"]
            cells.append(f"{len(found)} of {len(judged)}" + (f", {len(both)} with their twins" if both else ""))
        print(f"| {area} | {len(mine)} | " + " | ".join(cells) + " |")
    twins = {one["twin"] for one in subjects}
    for name in names:
        of = [text for text in twins if (name, text) in said]
        print(f"{name}: {sum(said[name, text] != 'passed' for text in of)} of {len(of)} honest twins refused")


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    kinds = parser.add_subparsers(dest="kind", required=True)
    one = kinds.add_parser("write")
    for word in ("source", "binary", "out"):
        one.add_argument(word, type=pathlib.Path)
    for kind in ("read", "run", "table"):
        one = kinds.add_parser(kind)
        one.add_argument("out", type=pathlib.Path)
        for word in ("kernelbench", "kernelguard", "robust-kbench"):
            one.add_argument("--" + word, type=pathlib.Path)
        one.add_argument("--for", dest="seconds", type=float, default=86400)
        one.add_argument("--jobs", type=int, default=4)
    options = parser.parse_args()
    options.out = options.out.resolve()
    {"write": write, "read": read, "run": run, "table": table}[options.kind](options)


if __name__ == "__main__":
    main()
