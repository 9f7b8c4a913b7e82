#!/usr/bin/env python3
"""Times PyTorch on a task's bench cases: eager, torch.compile and max-autotune, each also under a CUDA graph.

    baseline.py --rkb PROGRAM --library librkb-timing.so --out FOLDER [--variants eager,compile,...] [--until SECONDS]
                [--compilers N [--compile-seconds N]] [--choose-only] [--case NAME] TASK:DIRECTION... | --serve

Writes one JSON file for each (task, direction, case); it also holds the times of other processes.  A variant that the file has for this
PyTorch, driver and device is not timed again, except by --serve, which adds another part.  Backward times torch.autograd.grad on device leaves, forward excluded.  TF32 is off for products and convolutions.

torch.compile chooses kernels by timing them.  A separate process does that alone, while it holds the device (chooser.py).  The processes
that measure load its choices (choices.py), and a counter shows that they do not choose again.  With --compilers, N processes compile side
by side first, so that little is left to compile while the choosing process holds the device.  On a new host:

    baseline.py ... --compilers CORES --choose-only TASK:DIRECTION...
"""

import argparse
import json
import os
import random
import subprocess
import sys
import time

import choices

choices.use(os.environ)

import torch
import torch._dynamo.config
import torch._functorch.config
import torch._inductor.config
import torch._inductor.runtime.benchmarking

import chooser
import compiling
import limit
import timing_protocol as protocol
import tuning
import timed_work

VARIANTS = ["eager", "eager_graph", "compile", "compile_graph", "max_autotune", "max_autotune_graph"]
MODES = {"eager": None, "compile": "default", "max_autotune": "max-autotune-no-cudagraphs"}
SETS = 3  # sets of buffers for each variant
ROUNDS = 12  # timed runs of each set; the first is not counted
LONG_MS = 20.0  # runs longer than this are timed ROUNDS / 3 times
PREPARE_SECONDS = float(os.environ.get("RKB_PREPARE_SECONDS") or 300)  # most seconds to prepare one variant of one case
KEPT_SHARE = 0.2  # share of the device's memory for variants that wait to be timed
ABSURD_SHARE = 0.05  # a time is absurd below this share of a copy's bandwidth, and of a tenth of that in arithmetic


def time_works(clock, works, stream):
    handle = stream.cuda_stream
    enqueue, done = protocol.host_time(works[0], torch.cuda.synchronize)
    flushes = protocol.flushes_for(enqueue)
    rounds = max(4, ROUNDS // 3) if done > LONG_MS else ROUNDS
    clusters = [[] for _ in works]
    for turn in range(rounds):
        order = list(range(len(works)))
        random.shuffle(order)
        for index in order:
            took = clock.run(works[index], handle, flushes, works[index].refresh)
            if turn:
                clusters[index].append(took)
    return clusters, done


class Prepared:
    """One variant on SETS sets of buffers, compiled and captured, ready to be timed."""

    def __init__(self, function, case, backward, variant):
        base, graph = variant.removesuffix("_graph"), variant.endswith("_graph")
        began = time.monotonic()
        self.stream = torch.cuda.Stream()
        with torch.cuda.stream(self.stream):
            generators = [torch.Generator("cuda").manual_seed(7 + i) for i in range(SETS)]
            self.works = [timed_work.Work(function, case, backward, MODES[base], graph, self.stream, generator) for generator in generators]
        torch.cuda.synchronize()
        self.seconds, self.choices_timed = time.monotonic() - began, None

    def time(self, clock, reference):
        with torch.cuda.stream(self.stream):
            late = clock.late
            with clock:
                clusters, done = time_works(clock, self.works, self.stream)
            late = clock.late - late
            self.works[0].refresh()
            self.works[0]()
            torch.cuda.synchronize()
        outputs = timed_work.flat(self.works[0].result)
        result = {"samples_ms": clusters, "host_us": done * 1e3, "prepared_s": self.seconds, "choices_timed": self.choices_timed,
                  "late": late}
        if reference is not None:
            result["difference"] = timed_work.far_from(outputs, reference)
        return result, outputs


def time_copy(clock, moved_bytes):
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        works = [timed_work.Copy(moved_bytes) for _ in range(SETS)]
        with clock:
            clusters, _ = time_works(clock, works, stream)
    value, low, high = protocol.estimate(clusters)
    return {"us": value * 1e3, "low_us": low * 1e3, "high_us": high * 1e3}


def absurd(record, case):
    """The variants with an implausible time: far from the speed of the memory and from the speed of the arithmetic."""
    floor = record["copy"]["us"]
    return [name for name, times in record["baselines"].items()
            if times.get("us", 0) > 60 and floor / times["us"] < ABSURD_SHARE and case["operations"] / (times["us"] * 1e-6) < 1e12]


class NotChosen(Exception):
    """A choice failed, or nothing was chosen; the message says which."""


def failure_of(problem):
    """Returns the failure of a variant that does not work.  The table names it."""
    if isinstance(problem, NotChosen):
        return {"error": str(problem)}
    return {"error": f"{type(problem).__name__}: {str(problem)[:300]}"}


class Place:
    """The device, the choices and the settings of one process."""

    def __init__(self, arguments, clock, tuned, chosen, chooser):
        """chooser: None in the process that chooses."""
        self.arguments, self.clock, self.tuned, self.chosen, self.chooser = arguments, clock, tuned, chosen, chooser


class Timed:
    """The record of one case: a file with a part for each process that has timed it."""

    def __init__(self, clock, out, listing, case):
        self.clock, self.case = clock, case
        name = case["name"].rsplit("/", 1)[-1]
        self.key = {"task": listing["task"], "hash": listing["hash"], "direction": listing["direction"], "case": case["name"],
                    "torch": torch.__version__, "driver": clock.driver, "device": clock.device}
        self.path = os.path.join(out, f"{listing['task']}.{listing['direction']}.{name}.json")
        self.record = protocol.read_record(self.path, self.key)
        self.part = protocol.part_of_this_process(self.record)
        self.reference = None

    def has(self, variant):
        return variant in self.record["baselines"]

    def add(self, variant, prepared, last=True):
        """prepared: ready to be timed, or the failure to make it so.  last: the file is written; otherwise more comes at once."""
        try:
            if isinstance(prepared, Exception):
                raise prepared
            result, outputs = prepared.time(self.clock, self.reference)
            self.reference = self.reference or (outputs if variant == "eager" else None)
        except Exception as problem:
            result = failure_of(problem)
        self.part["variants"][variant] = result
        self.part["anchors"] = self.clock.anchors(torch.cuda.current_stream().cuda_stream)
        self.part["state"] = self.clock.state()
        self.part["date"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        if last:
            self.write()

    def write(self):
        self.record["copy"] = self.record.get("copy") or time_copy(self.clock, self.case["bytes"])
        protocol.conclude(self.record)
        self.record["absurd"] = absurd(self.record, self.case)
        protocol.write_record(self.path, self.record)

    def shown(self, variant):
        times = self.record["baselines"][variant]
        return f"{times['us']:.1f} us" if "us" in times else times["error"]


def mode_of(variant):
    return MODES[variant.removesuffix("_graph")]


def modes_of(variants):
    """The modes that must be compiled, each once, in the order of MODES."""
    wanted = {mode_of(variant) for variant in variants}
    return [mode for mode in MODES.values() if mode and mode in wanted]


def prepare(place, listing, case, function, variant):
    """Returns a variant that is ready to be timed, or the failure.  Never chooses kernels, because several processes prepare side by side.
    Compiles in this process only: Triton's Config loses, on its way back from another process, the mark that coordinate descent is done,
    and PyTorch would repeat the descent."""
    mode = mode_of(variant)
    mark = place.chosen.read(listing, case, mode) if mode else {}
    if mark is None or "error" in mark:
        return NotChosen(mark["error"] if mark else "torch.compile has chosen nothing for it yet")
    before = place.tuned.timed
    try:
        with limit.Limit(PREPARE_SECONDS), torch._inductor.config.patch(compile_threads=1):
            prepared = Prepared(function, case, listing["direction"] == "backward", variant)
    except Exception as problem:
        return problem.with_traceback(None)  # the traceback's frames would keep buffers alive
    prepared.choices_timed = place.tuned.timed - before
    return prepared


def compile_once(listing, case, function, mode):
    torch._dynamo.reset()
    timed_work.Work(function, case, listing["direction"] == "backward", mode, False, torch.cuda.Stream(), torch.Generator("cuda"))


def choose(place, listing, function, variants):
    """Makes the choices that are not there yet; False: the time was up before.  The device is held for each, not for all."""
    for case, mode in place.chosen.wanted(listing, modes_of(variants)):
        if time.monotonic() > place.arguments.end:
            return False
        began, before = time.monotonic(), place.tuned.timed
        with place.clock.lock.for_the_process():
            try:
                with limit.Limit(PREPARE_SECONDS):
                    compile_once(listing, case, function, mode)
                found = {"timed": place.tuned.timed - before}
            except Exception as problem:
                found = failure_of(problem)
        found["seconds"] = round(time.monotonic() - began, 2)
        place.chosen.write(listing, case, mode, found)
        torch.cuda.empty_cache()
        print(f"{listing['task']} {listing['direction']} {case['name']} {mode}: {found}", file=sys.stderr, flush=True)
    return True


def have_chosen(place, listing, variants):
    """Makes the choices that are not there yet, here or where they should be made; False: the time was up before."""
    if not place.chooser:
        return choose(place, listing, timed_work.load_forward(listing["directory"]), variants)
    if place.chosen.wanted(listing, modes_of(variants)):
        place.chooser.ask({"do": "choose", "directory": listing["directory"], "direction": listing["direction"], "variants": variants})
    return time.monotonic() <= place.arguments.end


def time_case(place, timed, listing, case, function):
    for variant in place.arguments.variants:
        if timed.has(variant):
            continue
        if time.monotonic() > place.arguments.end:
            return False
        torch._dynamo.reset()
        timed.add(variant, prepare(place, listing, case, function, variant))
        torch.cuda.empty_cache()
        print(f"{listing['task']} {listing['direction']} {case['name']} {variant}: {timed.shown(variant)}", flush=True)
    return True


def time_listing(place, listing, function):
    return all(time_case(place, Timed(place.clock, place.arguments.out, listing, case), listing, case, function) for case in listing["cases"])


def read_listing(rkb, directory, direction):
    text = subprocess.run([rkb, "cases", directory, "--direction", direction], check=True, capture_output=True).stdout
    return json.loads(text)


def listing_of(arguments, entry):
    """The cases that the command line asks for: those of TASK:DIRECTION, or only the one named by --case."""
    listing = read_listing(arguments.rkb, *entry.rsplit(":", 1))
    wanted = [case for case in listing["cases"] if arguments.case in (None, case["name"])]
    if not wanted:
        raise SystemExit(f"baseline.py: {entry} has no case {arguments.case}: {', '.join(case['name'] for case in listing['cases'])}")
    return dict(listing, cases=wanted)


def prepare_all(place, request):
    """[(listing, case, variant, prepared)]: everything compiled; as much of it as there is room for kept ready (None: no room)."""
    listing = read_listing(place.arguments.rkb, request["directory"], request["direction"])
    function = timed_work.load_forward(listing["directory"])
    torch._dynamo.reset()  # not later: what it forgets is loaded again when it is timed
    room = KEPT_SHARE * torch.cuda.get_device_properties(0).total_memory
    found = []
    for case in listing["cases"]:
        for variant in request["variants"]:
            prepared = prepare(place, listing, case, function, variant)
            if not isinstance(prepared, Exception) and torch.cuda.memory_reserved() > room:
                prepared = None
                torch.cuda.empty_cache()
            found.append((listing, case, variant, prepared))
    return found


def time_all(place, ready):
    """Times all prepared variants.  Frees each one when it has been timed."""
    by_case = {}
    while ready:
        listing, case, variant, prepared = ready.pop(0)
        if case["name"] not in by_case:
            by_case = {case["name"]: Timed(place.clock, place.arguments.out, listing, case)}
        if prepared is None:
            torch.cuda.empty_cache()
            prepared = prepare(place, listing, case, timed_work.load_forward(listing["directory"]), variant)
        by_case[case["name"]].add(variant, prepared, last=not ready or ready[0][1] is not case)
        del prepared


def serve(place):
    """Answers requests, one JSON object a line, for a program that alternates with other work on the device:
    {"do": "choose", "directory": ..., "direction": ..., "variants": [...]} makes what choices are missing, and is asked of one process
    while nothing else runs; {"do": "prepare", ...} makes everything ready; {"do": "time"} times what is ready and adds it to the
    files.  Each gets one line back: {"seconds": ...} or {"error": ...}, and so does the start."""
    answers, sys.stdout = sys.stdout, sys.stderr  # so that text which compilers print is not taken for an answer
    ready = []
    print(json.dumps({"seconds": 0}), file=answers, flush=True)
    for line in sys.stdin:
        request, began = json.loads(line), time.monotonic()
        try:
            if request["do"] == "choose":
                have_chosen(place, read_listing(place.arguments.rkb, request["directory"], request["direction"]), request["variants"])
            elif request["do"] == "prepare":
                ready = []
                torch.cuda.empty_cache()
                ready = prepare_all(place, request)
            elif request["do"] == "time":
                time_all(place, ready)
            answer = {"seconds": time.monotonic() - began}
        except Exception as problem:
            answer = failure_of(problem)
        print(json.dumps(answer), file=answers, flush=True)
    return 0


def command_of(arguments):
    return [sys.executable, os.path.abspath(__file__), "--rkb", arguments.rkb, "--library", arguments.library, "--out", arguments.out]


def compile_all(arguments):
    """Compiles each case in a process of its own, the costliest case first, because its choosing takes longest.  A failure is not reported
    here: it happens again, and is reported, when the case is chosen."""
    command = command_of(arguments) + ["--variants", ",".join(arguments.variants), "--compile-only"]
    cases = [(case["operations"], entry, case["name"]) for entry in arguments.work for case in listing_of(arguments, entry)["cases"]]
    works = [[entry, "--case", name] for _, entry, name in sorted(cases, reverse=True)]
    compiling.side_by_side(command, works, arguments.compilers, min(arguments.end, time.monotonic() + arguments.compile_seconds))


def compile_only(listing, function, modes):
    for case in listing["cases"]:
        for mode in modes:
            began, problem = time.monotonic(), ""
            try:
                compile_once(listing, case, function, mode)
            except Exception as failure:
                problem = ": " + failure_of(failure)["error"]
            print(f"{listing['task']} {listing['direction']} {case['name']} {mode}: {time.monotonic() - began:.1f} s{problem}", flush=True)
            torch.cuda.empty_cache()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rkb", required=True)
    parser.add_argument("--library", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--variants", type=lambda text: text.split(","), default=VARIANTS)
    parser.add_argument("--until", type=float, default=1e9, help="seconds after which nothing new is begun")
    parser.add_argument("--compilers", type=int, default=0, help="processes that compile before anything is timed")
    parser.add_argument("--compile-seconds", type=float, default=1e9, help="that they may take; what is left is compiled when it is chosen")
    parser.add_argument("--compile-only", action="store_true", help="what --compilers starts: choose nothing that is kept")
    parser.add_argument("--choose-only", action="store_true", help="choose in this process, and time nothing")
    parser.add_argument("--case", metavar="NAME", help="of each TASK:DIRECTION this case alone")
    parser.add_argument("--serve", action="store_true", help="take requests from standard input")
    parser.add_argument("work", nargs="*", metavar="TASK:DIRECTION")
    arguments = parser.parse_args()
    arguments.end = time.monotonic() + arguments.until
    if arguments.compile_only or arguments.serve:
        compiling.end_with_parent()
    if not torch.cuda.is_available():
        sys.exit("baseline.py: this PyTorch finds no GPU")
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    # Sums of products in fp32, as the precision classes fp16 and bf16 demand of a candidate.
    torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
    torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
    torch._functorch.config.donated_buffer = False  # the backward pass is run again and again
    torch._dynamo.config.recompile_limit = 64  # room for every case in every mode
    if arguments.compilers:
        compile_all(arguments)
    torch.zeros(1, device="cuda")
    os.makedirs(arguments.out, exist_ok=True)
    clock = protocol.Clock(arguments.library, torch.cuda.current_device())
    tuned = tuning.Tuning(torch._inductor.runtime.benchmarking, None if arguments.compile_only else clock, rough=arguments.compile_only)
    if not tuned.wrapped:
        print("this PyTorch tunes by other means than are known here: nothing else may use the device meanwhile", file=sys.stderr)
    conditions = {"torch": torch.__version__, "driver": clock.driver, "device": clock.device}
    left = str(max(0, arguments.end - time.monotonic()))
    other = None if arguments.choose_only else chooser.Chooser(command_of(arguments) + ["--serve", "--choose-only", "--until", left])
    place = Place(arguments, clock, tuned, choices.Choices(os.environ[choices.CHOICES], conditions), other)
    if arguments.serve:
        return serve(place)
    for entry in arguments.work:
        listing = listing_of(arguments, entry)
        function = timed_work.load_forward(listing["directory"])
        if arguments.compile_only:
            compile_only(listing, function, modes_of(arguments.variants))
        elif not have_chosen(place, listing, arguments.variants) or not (arguments.choose_only or time_listing(place, listing, function)):
            print("time is up; the same command goes on where this one stopped", flush=True)
            return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
