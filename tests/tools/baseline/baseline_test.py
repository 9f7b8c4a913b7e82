#!/usr/bin/env python3
"""Tests of what prepares PyTorch to be timed (core/tools/baseline): who chooses, compiles and keeps what, without PyTorch and without a
GPU.  usage: baseline_test.py"""

import functools
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import types
import unittest
import unittest.mock

from protocol_test import held_elsewhere  # which knows where the modules are

import choices
import chooser
import compiling
import limit
import timing_protocol as protocol
import tuning

CODE = "TRITON_CACHE_DIR"


class Tuning(unittest.TestCase):
    """What torch.compile times to choose a kernel is timed with the device to itself."""

    class Benchmarker:
        def benchmark_cpu(self, held):
            return held()

        def benchmark_gpu(self, held, max_benchmark_duration=25):
            self.duration = max_benchmark_duration
            return held()

        def benchmark_many_gpu(self, held):
            return [self.benchmark_gpu(held), held()]

    def module(self):
        return type("benchmarking", (), {"TritonBenchmarker": type("TritonBenchmarker", (), dict(vars(self.Benchmarker)))})

    def test_the_lock_is_held_and_given_back(self):
        path = os.path.join(tempfile.mkdtemp(), "lock")
        lock = protocol.DeviceLock(path)

        def held():
            return held_elsewhere(path)

        module = self.module()
        tuned = tuning.Tuning(module, lock)
        self.assertEqual(tuned.wrapped, 2)
        timer = module.TritonBenchmarker()
        self.assertFalse(held())
        self.assertFalse(timer.benchmark_cpu(held))
        self.assertEqual(tuned.timed, 0)
        self.assertTrue(timer.benchmark_gpu(held))
        self.assertEqual((timer.duration, tuned.timed), (25, 1))
        self.assertEqual(timer.benchmark_many_gpu(held), [True, True])  # the inner one does not give it back for the outer one
        self.assertFalse(held())

    def test_what_is_thrown_away_is_timed_shortly_and_holds_nothing(self):
        module = self.module()
        tuning.Tuning(module, None, rough=True)
        timer = module.TritonBenchmarker()
        timer.benchmark_many_gpu(lambda: None)
        self.assertEqual(timer.duration, tuning.ROUGH_MS)
        timer.benchmark_gpu(lambda: None, max_benchmark_duration=100)
        self.assertEqual(timer.duration, tuning.ROUGH_MS)

    def test_an_unknown_pytorch_is_noticed(self):
        self.assertEqual(tuning.Tuning(type("benchmarking", (), {}), None).wrapped, 0)


class Marks(unittest.TestCase):
    LISTING = {"task": "t", "hash": "h", "direction": "forward", "cases": [{"name": "bench/a", "operations": 1}, {"name": "bench/b", "operations": 2}]}

    def test_what_is_compiled_is_shared_and_what_is_chosen_is_not(self):
        environment = {"XDG_CACHE_HOME": "/somewhere"}
        choices.use(environment)
        with choices.thrown_away(environment) as other:
            self.assertEqual(other[CODE], environment[CODE])
            self.assertNotEqual(other[choices.CHOICES], environment[choices.CHOICES])
            kept = other[choices.CHOICES]
            self.assertTrue(os.path.isdir(kept))
        self.assertFalse(os.path.exists(kept))
        self.assertEqual(environment["TORCHINDUCTOR_USE_STATIC_CUDA_LAUNCHER"], "0")
        environment = {choices.CHOICES: "/mine"}
        choices.use(environment)
        self.assertEqual(environment[choices.CHOICES], "/mine")

    def test_a_mark_is_of_one_case_mode_and_machine(self):
        folder = tempfile.mkdtemp()
        first, second = self.LISTING["cases"]
        chosen = choices.Choices(folder, {"torch": "1", "device": "d"})
        self.assertEqual(len(chosen.wanted(self.LISTING, ["default", "max"])), 4)
        chosen.write(self.LISTING, first, "max", {"timed": 3})
        chosen.write(self.LISTING, second, "default", {"error": "no"})
        self.assertEqual(chosen.read(self.LISTING, first, "max")["timed"], 3)
        self.assertEqual(chosen.wanted(self.LISTING, ["max"]), [(second, "max")])
        self.assertEqual(chosen.wanted(self.LISTING, ["default"]), [(first, "default"), (second, "default")])  # what failed is tried again
        self.assertIsNone(choices.Choices(folder, {"torch": "2", "device": "d"}).read(self.LISTING, first, "max"))
        self.assertIsNone(chosen.read(dict(self.LISTING, hash="other"), first, "max"))


class WithoutTorch(unittest.TestCase):
    """baseline.py with a PyTorch that does nothing."""

    def setUp(self):
        self.reserved = 0
        torch = types.ModuleType("torch")
        torch.cuda = types.SimpleNamespace(
            memory_reserved=lambda: self.reserved, empty_cache=self.empty,
            get_device_properties=lambda ordinal: types.SimpleNamespace(total_memory=100))
        torch._dynamo = types.SimpleNamespace(reset=lambda: None)
        torch._functorch = types.SimpleNamespace(config=types.SimpleNamespace())
        self.inductor = types.SimpleNamespace(compile_threads=16)
        self.inductor.patch = functools.partial(unittest.mock.patch.multiple, self.inductor)
        torch._inductor = types.SimpleNamespace(config=self.inductor)
        names = ["torch", "torch._dynamo", "torch._dynamo.config", "torch._functorch", "torch._functorch.config", "torch._inductor", "torch._inductor.config",
                 "torch._inductor.runtime", "torch._inductor.runtime.benchmarking"]
        with unittest.mock.patch.dict(sys.modules, {name: torch for name in names}), unittest.mock.patch.dict(os.environ):
            import baseline
        self.baseline = baseline
        self.listing = {"task": "t", "hash": "h", "direction": "forward", "directory": "", "cases": [{"name": "bench/a", "operations": 1}, {"name": "bench/b", "operations": 2}]}
        self.lock = os.path.join(tempfile.mkdtemp(), "lock")
        self.place = baseline.Place(
            types.SimpleNamespace(rkb="", out="", variants=["eager", "compile"], end=time.monotonic() + 6000),
            types.SimpleNamespace(lock=protocol.DeviceLock(self.lock)), types.SimpleNamespace(timed=0), choices.Choices(tempfile.mkdtemp(), {"torch": "1"}), None)
        self.replace("read_listing", lambda *_: self.listing)
        self.replace("load_forward", lambda _: None, baseline.timed_work)
        noise = unittest.mock.patch("builtins.print")
        noise.start()
        self.addCleanup(noise.stop)

    def replace(self, name, value, owner=None):
        patch = unittest.mock.patch.object(owner or self.baseline, name, value)
        patch.start()
        self.addCleanup(patch.stop)

    def empty(self):
        self.reserved = min(self.reserved, 20)


class Choosing(WithoutTorch):
    """What torch.compile chooses it chooses alone, once, and every process that measures loads it."""

    def chosen(self, seen, fail=()):
        def compile_once(listing, case, function, mode):
            seen.append((case["name"], mode, held_elsewhere(self.lock)))
            self.place.tuned.timed += 5
            if case["name"] in fail:
                raise TimeoutError("not compiled in 1 s")

        self.replace("compile_once", compile_once)
        return self.baseline.choose(self.place, self.listing, None, ["eager", "max_autotune", "max_autotune_graph"])

    def test_each_is_chosen_once_while_the_device_is_held(self):
        seen, mode = [], self.baseline.MODES["max_autotune"]
        self.assertTrue(self.chosen(seen))
        self.assertEqual(seen, [("bench/a", mode, True), ("bench/b", mode, True)])  # once for a variant and its graph
        self.assertFalse(held_elsewhere(self.lock))
        self.assertEqual(self.place.chosen.read(self.listing, self.listing["cases"][0], mode)["timed"], 5)
        self.assertTrue(self.chosen(seen))
        self.assertEqual(len(seen), 2)

    def test_nothing_is_chosen_where_it_is_measured(self):
        case = self.listing["cases"][0]
        self.replace("Prepared", lambda *_: types.SimpleNamespace())
        problem = self.baseline.prepare(self.place, self.listing, case, None, "max_autotune_graph")
        self.assertIsInstance(problem, self.baseline.NotChosen)
        self.assertEqual(self.baseline.prepare(self.place, self.listing, case, None, "eager").choices_timed, 0)
        self.assertTrue(self.chosen([]))
        self.assertEqual(self.baseline.prepare(self.place, self.listing, case, None, "max_autotune_graph").choices_timed, 0)

    def test_what_chose_again_says_so(self):
        def loads_nothing(*_):
            self.place.tuned.timed += 7
            self.assertEqual(self.inductor.compile_threads, 1)  # other processes would bring back what asks to be chosen again
            return types.SimpleNamespace()

        self.assertTrue(self.chosen([]))
        self.replace("Prepared", loads_nothing)
        self.assertEqual(self.baseline.prepare(self.place, self.listing, self.listing["cases"][0], None, "max_autotune").choices_timed, 7)
        self.assertEqual(self.inductor.compile_threads, 16)

    def test_what_takes_too_long_is_tried_once_and_named(self):
        seen = []
        self.assertTrue(self.chosen(seen, fail=["bench/a"]))
        self.assertEqual(len(seen), 2)
        self.replace("Prepared", lambda *_: types.SimpleNamespace())
        for variant in ("max_autotune", "max_autotune_graph"):
            problem = self.baseline.prepare(self.place, self.listing, self.listing["cases"][0], None, variant)
            self.assertEqual(self.baseline.failure_of(problem), {"error": "TimeoutError: not compiled in 1 s"})

    def test_when_the_time_is_up_nothing_is_begun(self):
        seen = []
        self.place.arguments.end = time.monotonic() - 1
        self.assertFalse(self.chosen(seen))
        self.assertEqual(seen, [])


class ChoosingElsewhere(WithoutTorch):
    """One that has chosen would choose again when it loads: a process that measures has another one choose."""

    # Notes each request, and answers by what it asks for.
    SERVER = """
import json, sys
print(json.dumps({"seconds": 0}), flush=True)
for line in sys.stdin:
    open(sys.argv[1], "a").write(line)
    direction = json.loads(line)["direction"]
    if direction == "gone":
        break
    print(json.dumps({"error": "no such task"} if direction == "unknown" else {"seconds": 1}), flush=True)
"""

    def setUp(self):
        super().setUp()
        self.heard = os.path.join(tempfile.mkdtemp(), "heard")
        self.place.chooser = chooser.Chooser([sys.executable, "-c", self.SERVER, self.heard])
        self.addCleanup(self.place.chooser.end)
        self.replace("choose", lambda *_: self.fail("chosen where it is measured"))

    def requests(self):
        with open(self.heard, encoding="utf-8") as file:
            return [json.loads(line) for line in file]

    def test_it_is_asked_for_what_is_missing_and_started_once(self):
        variants = ["eager", "max_autotune"]
        self.assertTrue(self.baseline.have_chosen(self.place, self.listing, ["eager"]))  # which chooses nothing
        self.assertIsNone(self.place.chooser.process)
        self.assertTrue(self.baseline.have_chosen(self.place, self.listing, variants))
        first = self.place.chooser.process
        self.assertTrue(self.baseline.have_chosen(self.place, self.listing, variants))
        self.assertIs(self.place.chooser.process, first)
        self.assertEqual(self.requests(), [{"do": "choose", "directory": "", "direction": "forward", "variants": variants}] * 2)
        for case in self.listing["cases"]:
            self.place.chosen.write(self.listing, case, self.baseline.MODES["max_autotune"], {"timed": 3})
        self.assertTrue(self.baseline.have_chosen(self.place, self.listing, variants))
        self.assertEqual(len(self.requests()), 2)

    def test_what_it_says_is_heard(self):
        with self.assertRaisesRegex(RuntimeError, "no such task"):
            self.baseline.have_chosen(self.place, dict(self.listing, direction="unknown"), ["compile"])
        with self.assertRaisesRegex(RuntimeError, "has ended"):
            self.baseline.have_chosen(self.place, dict(self.listing, direction="gone"), ["compile"])
        self.assertTrue(self.baseline.have_chosen(self.place, self.listing, ["compile"]))  # another one
        self.place.chooser.process.kill()
        self.place.chooser.process.wait()
        with self.assertRaisesRegex(RuntimeError, "has ended"):
            self.baseline.have_chosen(self.place, self.listing, ["compile"])
        self.assertEqual([request["direction"] for request in self.requests()], ["unknown", "gone", "forward"])

    def started(self, *arguments):
        """What baseline.py works with when it is started so."""
        places, torch = [], self.baseline.torch
        torch.__version__, torch.zeros = "1", lambda *_, **__: None
        torch.cuda.is_available, torch.cuda.current_device = lambda: True, lambda: 0
        torch.backends = types.SimpleNamespace(cuda=types.SimpleNamespace(matmul=types.SimpleNamespace()), cudnn=types.SimpleNamespace())
        torch._dynamo.config, torch._inductor.runtime = types.SimpleNamespace(), types.SimpleNamespace(benchmarking=None)
        self.replace("Clock", lambda *_: types.SimpleNamespace(driver=1, device="d"), protocol)
        self.replace("end_with_parent", lambda: None, compiling)
        self.replace("serve", places.append)
        with unittest.mock.patch.object(sys, "argv", ["baseline.py", *arguments]), unittest.mock.patch.dict(os.environ, {choices.CHOICES: "/choices"}):
            self.baseline.main()
        return places[0]

    def test_the_one_that_is_started_chooses_itself(self):
        place = self.started("--rkb", "r", "--library", "l", "--out", tempfile.mkdtemp(), "--until", "60", "--serve")
        interpreter, program, *arguments = place.chooser.command
        self.assertEqual((interpreter, program), (sys.executable, self.baseline.__file__))
        other = self.started(*arguments)
        self.assertIsNone(other.chooser)
        self.assertEqual((other.arguments.rkb, other.arguments.library, other.arguments.out), ("r", "l", place.arguments.out))
        self.assertAlmostEqual(other.arguments.end, place.arguments.end, delta=30)

    def test_when_the_time_is_up_nothing_is_measured(self):
        self.place.arguments.end = time.monotonic() - 1
        self.assertFalse(self.baseline.have_chosen(self.place, self.listing, ["compile"]))


class Compiling(WithoutTorch):
    def arguments(self, **given):
        return types.SimpleNamespace(**dict({"rkb": "", "library": "", "out": "", "variants": ["compile"], "work": ["a:forward", "b:forward"],
                                             "case": None, "compilers": 2, "compile_seconds": 1e9, "end": time.monotonic() + 6000}, **given))

    def popen(self, script, began):
        start = subprocess.Popen

        def started(command, env=None, start_new_session=False, **_):
            began.append(start(["sh", "-c", script], env=env, start_new_session=start_new_session))
            return began[-1]

        return unittest.mock.patch.object(compiling.subprocess, "Popen", started)

    def while_waiting(self, do, hours=0):
        """Calls do each time when all compilers have been started and are waited for; every wait takes that long by the clock there."""
        passed = [0]

        def sleep(_):
            do()
            passed[0] += 3600 * hours
            time.sleep(0.01)

        return unittest.mock.patch.object(compiling, "time", types.SimpleNamespace(sleep=sleep, monotonic=lambda: time.monotonic() + passed[0]))

    def test_no_compiler_outlives_the_one_that_started_it(self):
        began = []
        with self.popen("sleep 6000 & sleep 6000", began), self.while_waiting(lambda: os.kill(os.getpid(), signal.SIGTERM)), \
                self.assertRaises(KeyboardInterrupt):
            self.baseline.compile_all(self.arguments())
        self.assertEqual([child.returncode for child in began], [-9, -9])
        for child in began:  # nor what it has started itself
            with self.assertRaises(ProcessLookupError):
                for _ in range(3000):
                    os.killpg(child.pid, 0)
                    time.sleep(0.02)

    def test_a_compiler_ends_with_a_parent_that_was_killed(self):
        reader, writer = os.pipe()
        child = "import compiling, os, sys, time; compiling.end_with_parent(); os.write(int(sys.argv[1]), b'.'); time.sleep(6000)"
        parent = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {child!r}, '{writer}'], pass_fds=[{writer}]).wait()"
        folder = os.path.dirname(compiling.__file__)
        first = subprocess.Popen([sys.executable, "-c", parent], pass_fds=[writer], env=dict(os.environ, PYTHONPATH=folder))
        os.close(writer)
        self.assertEqual(os.read(reader, 1), b".")
        first.kill()
        self.assertEqual(os.read(reader, 1), b"")  # nobody is left who could write
        first.wait()

    def test_when_it_returns_nothing_compiles_any_more(self):
        began = []
        with self.popen("sleep 0.1", began):
            self.baseline.compile_all(self.arguments())
        self.assertEqual([child.returncode for child in began], [0, 0, 0, 0])
        with self.popen("sleep 6000", began), self.while_waiting(lambda: None, hours=1):
            self.baseline.compile_all(self.arguments(compile_seconds=600))
        self.assertEqual([child.returncode for child in began[4:]], [-9, -9])

    def test_they_share_machine_code_and_keep_no_choice(self):
        began, folder = [], tempfile.mkdtemp()
        script = f'echo "${CODE} ${choices.CHOICES}" > "{folder}/$$"'
        with self.popen(script, began), unittest.mock.patch.dict(os.environ, {CODE: "/code", choices.CHOICES: "/choices"}):
            self.baseline.compile_all(self.arguments())
        lines = []
        for name in os.listdir(folder):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                lines.append(file.read().split())
        self.assertEqual([code for code, _ in lines], ["/code"] * 4)
        self.assertEqual({os.path.dirname(chosen) for _, chosen in lines}, {tempfile.gettempdir()})


    def test_each_case_has_a_process_and_the_costliest_come_first(self):
        given = []
        self.replace("side_by_side", lambda command, works, count, end: given.extend(works), compiling)
        self.baseline.compile_all(self.arguments())
        self.assertEqual(given, [["b:forward", "--case", "bench/b"], ["a:forward", "--case", "bench/b"],
                                 ["b:forward", "--case", "bench/a"], ["a:forward", "--case", "bench/a"]])
        arguments = self.arguments(case="bench/b")
        self.assertEqual([case["name"] for case in self.baseline.listing_of(arguments, "a:forward")["cases"]], ["bench/b"])
        with self.assertRaisesRegex(SystemExit, "no case bench/c: bench/a, bench/b"):
            self.baseline.listing_of(self.arguments(case="bench/c"), "a:forward")

    def test_the_cores_are_shared_out_among_those_that_there_are(self):
        began, folder = [], tempfile.mkdtemp()
        script = f'echo "$TORCHINDUCTOR_COMPILE_THREADS" > "{folder}/threads"'
        with self.popen(script, began), unittest.mock.patch.object(os, "cpu_count", lambda: 16):
            self.baseline.compile_all(self.arguments(compilers=14, case="bench/b"))
        with open(os.path.join(folder, "threads"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "24\n")


class Room(WithoutTorch):
    """Of what waits to be timed only as much is kept ready as the device has room for; the rest is prepared again in its turn."""

    def setUp(self):
        super().setUp()
        self.seen, self.prepared = [], []
        self.replace("prepare", self.prepare)
        self.replace("Timed", lambda clock, out, listing, case: Kept(self.seen, case["name"]))

    def prepare(self, place, listing, case, function, variant):
        self.prepared.append((case["name"], variant))
        self.reserved += 10
        return len(self.prepared)

    def test_what_has_no_room_is_prepared_in_its_turn(self):
        ready = self.baseline.prepare_all(self.place, {"directory": "", "direction": "forward", "variants": ["eager", "eager_graph"]})
        self.assertEqual([prepared for *_, prepared in ready], [1, 2, None, None])
        self.baseline.time_all(self.place, ready)
        self.assertEqual(ready, [])
        self.assertEqual(self.prepared[4:], [("bench/b", "eager"), ("bench/b", "eager_graph")])
        # Written once a case, when its last variant has been timed.
        self.assertEqual(self.seen, [
            ("bench/a", "eager", 1, False), ("bench/a", "eager_graph", 2, True), ("bench/b", "eager", 5, False), ("bench/b", "eager_graph", 6, True)])

    def test_the_limit_is_heard_though_a_compiler_goes_on(self):
        with self.assertRaises(TimeoutError):
            with limit.Limit(0.05):
                for _ in range(2):
                    try:
                        time.sleep(30)
                    except TimeoutError:
                        continue
                    self.fail("not interrupted")
                time.sleep(30)


class Kept:
    def __init__(self, seen, case):
        self.seen, self.case = seen, case

    def add(self, variant, prepared, last):
        self.seen.append((self.case, variant, prepared, last))


if __name__ == "__main__":
    unittest.main()
