#!/usr/bin/env python3
"""Tests of what times PyTorch (core/worker/baseline), without PyTorch and without a GPU.  usage: baseline_test.py"""

import fcntl
import functools
import os
import subprocess
import sys
import tempfile
import threading
import time
import types
import unittest
import unittest.mock

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.join(ROOT, "core", "worker", "baseline")]

import choices  # noqa: E402
import compiling  # noqa: E402
import protocol  # noqa: E402
import tuning  # noqa: E402

CODE = "TRITON_CACHE_DIR"


class Protocol(unittest.TestCase):
    def test_outliers_are_trimmed(self):
        self.assertEqual(protocol.trimmed_mean([1000] * 4 + [10] * 16), 10)

    def test_interval_holds_the_value_and_the_resolution(self):
        value, low, high = protocol.estimate([[0.01] * 10, [0.01] * 10])
        self.assertLessEqual(low, value)
        self.assertGreaterEqual(high, value)
        self.assertAlmostEqual(high - low, protocol.RESOLUTION_MS / 20**0.5)

    def test_clusters_widen_it(self):
        _, low, high = protocol.estimate([[1.0] * 10, [2.0] * 10, [3.0] * 10])
        self.assertGreater(high - low, 1)

    def test_the_device_is_held_while_work_is_enqueued(self):
        self.assertEqual(protocol.flushes_for(0), 1)
        self.assertGreaterEqual(protocol.flushes_for(1.0) * protocol.FLUSH_MS, 1.0)
        self.assertLessEqual(protocol.flushes_for(1e6) * protocol.FLUSH_MS, protocol.LONGEST_HOLD_MS)


class Running(unittest.TestCase):
    """Clock.run with a library that only notes how long the device is held."""

    def setUp(self):
        self.flushes, self.refreshed = [], 0
        self.clock = object.__new__(protocol.Clock)
        self.clock.late = 0
        self.clock.c = types.SimpleNamespace(
            rkb_timing_flush=lambda stream, times: self.flushes.append(times) or 0, rkb_timing_start=lambda stream: 0, rkb_timing_stop=lambda stream: 0,
            rkb_timing_elapsed=self.elapsed)

    def elapsed(self, stream, took):
        took._obj.value = len(self.flushes)
        return 0

    def refresh(self):
        self.refreshed += 1

    def enqueueing(self, *seconds):
        waits = iter(seconds)
        return lambda: time.sleep(next(waits))

    def test_a_run_that_the_host_was_too_slow_for_is_taken_again(self):
        self.assertEqual(self.clock.run(self.enqueueing(0.1, 0.1, 0), None, 300, self.refresh), 3)
        self.assertEqual(self.flushes, [300, protocol.MOST_FLUSHES, protocol.MOST_FLUSHES])
        self.assertEqual((self.refreshed, self.clock.late), (3, 0))

    def test_one_that_the_host_is_always_too_slow_for_is_counted(self):
        self.assertEqual(self.clock.run(lambda: time.sleep(0.03), None, 1), protocol.TRIES)
        self.assertEqual(self.flushes, [1, 2, 4, 8])
        self.assertEqual(self.clock.late, 1)


class Records(unittest.TestCase):
    KEY = {"task": "t", "device": "d"}

    def part(self, process, copy_us, ms):
        return {"process": process, "anchors": {"copy_us": copy_us, "chain_us": 5.0},
                "variants": {"eager": {"samples_ms": [[ms] * 5] * 3, "host_us": 1.0}}}

    def test_parts_under_the_same_conditions_are_taken_together(self):
        record = dict(self.KEY, parts=[self.part("a", 31.0, 1.0), self.part("b", 31.2, 2.0)])
        protocol.conclude(record)
        self.assertEqual(record["discarded_parts"], 0)
        self.assertEqual(record["baselines"]["eager"]["processes"], 2)
        self.assertAlmostEqual(record["baselines"]["eager"]["us"], 1500)

    def test_a_part_under_other_conditions_is_not_counted(self):
        record = dict(self.KEY, parts=[self.part("a", 40.0, 1.0), self.part("b", 31.2, 2.0)])
        protocol.conclude(record)
        self.assertEqual(record["discarded_parts"], 1)
        self.assertAlmostEqual(record["baselines"]["eager"]["us"], 2000)

    def test_a_failed_variant_is_named_and_not_the_best(self):
        part = self.part("a", 31.0, 1.0)
        part["variants"]["compile"] = {"error": "no"}
        record = dict(self.KEY, parts=[part])
        protocol.conclude(record)
        self.assertEqual(record["best"], "eager")
        self.assertEqual(record["baselines"]["compile"], {"error": "no"})

    def tuned(self, process, compile_ms, eager_ms):
        part = self.part(process, 31.0, eager_ms)
        part["variants"]["compile"] = {"samples_ms": [[compile_ms] * 5] * 3, "host_us": 1.0}
        return part

    def test_of_several_tunings_the_fastest_counts(self):
        key = {name: "k" for name in protocol.KEY}
        record, other = (dict(key, parts=[part], baselines={}) for part in (self.tuned("b", 3.0, 2.0), self.tuned("a", 1.0, 1.5)))
        other["parts"][0]["anchors"]["copy_us"] = 40.0  # a tuning has conditions of its own
        protocol.merge(record, other, "before")
        self.assertAlmostEqual(record["baselines"]["compile"]["us"], 1000)
        self.assertEqual((record["baselines"]["compile"]["tuning"], record["best"]), ("before", "compile"))
        self.assertAlmostEqual(record["baselines"]["eager"]["us"], 2000)  # chooses nothing: only the newest counts
        self.assertEqual(record["discarded_parts"], 0)
        record["parts"][0]["variants"]["compile"]["samples_ms"] = [[2.9] * 5, [3.0] * 5, [3.2] * 5]  # faster, if at all
        protocol.conclude(record)
        self.assertNotIn("tuning", record["baselines"]["compile"])
        record["parts"][0]["variants"]["compile"]["samples_ms"] = [[1.0] * 5] * 3
        record["parts"].append(self.tuned("c", 0.5, 2.0))  # timed again since: both are of the newest tuning
        protocol.conclude(record)
        self.assertEqual(record["baselines"]["compile"]["processes"], 2)
        newer = dict(key, parts=[self.tuned("d", 3.0, 2.0)], baselines={})
        protocol.merge(newer, record, "yesterday")
        self.assertEqual([part.get("tuning") for part in newer["parts"]], ["before", "yesterday", "yesterday", None])
        other["torch"] = "another"
        with self.assertRaises(ValueError):
            protocol.merge(record, other, "before")

    def test_a_record_of_another_driver_does_not_count(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "r.json")
            protocol.write_record(path, dict(self.KEY, parts=[self.part("a", 31.0, 1.0)], baselines={}))
            self.assertEqual(len(protocol.read_record(path, self.KEY)["parts"]), 1)
            self.assertEqual(protocol.read_record(path, dict(self.KEY, driver=1))["parts"], [])


def held_elsewhere(path):
    """Whether somebody holds a lock, as another process sees it: on a file opened anew."""
    other = os.open(path, os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return False
    except BlockingIOError:
        return True
    finally:
        os.close(other)


class Lock(unittest.TestCase):
    def setUp(self):
        self.path = os.path.join(tempfile.mkdtemp(), "lock")

    def test_one_who_waits_comes_before_one_who_comes_again(self):
        first, second, turns, ending = protocol.DeviceLock(self.path), protocol.DeviceLock(self.path), [], threading.Event()

        def greedy():
            while not ending.is_set() and len(turns) < 100:
                with first:
                    turns.append(1)
                    time.sleep(0.03)

        thread = threading.Thread(target=greedy)
        thread.start()
        while not turns:
            time.sleep(0.001)
        for _ in range(5):
            before = len(turns)
            with second:
                self.assertLessEqual(len(turns) - before, 2)
        ending.set()
        thread.join()

    def test_held_for_the_process_it_can_be_taken_in_every_thread(self):
        lock, seen = protocol.DeviceLock(self.path), []

        def inside():
            with lock:
                seen.append(held_elsewhere(self.path))

        with lock.for_the_process():
            thread = threading.Thread(target=inside, daemon=True)
            thread.start()
            thread.join(10)
            self.assertEqual((seen, held_elsewhere(self.path)), ([True], True))
        self.assertFalse(held_elsewhere(self.path))


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
    LISTING = {"task": "t", "hash": "h", "direction": "forward", "cases": [{"name": "bench/a"}, {"name": "bench/b"}]}

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
        self.listing = {"task": "t", "hash": "h", "direction": "forward", "directory": "", "cases": [{"name": "bench/a"}, {"name": "bench/b"}]}
        self.lock = os.path.join(tempfile.mkdtemp(), "lock")
        self.place = baseline.Place(
            types.SimpleNamespace(rkb="", out="", variants=["eager", "compile"], end=time.monotonic() + 60),
            types.SimpleNamespace(lock=protocol.DeviceLock(self.lock)), types.SimpleNamespace(timed=0), choices.Choices(tempfile.mkdtemp(), {"torch": "1"}))
        self.replace("read_listing", lambda *_: self.listing)
        self.replace("load_forward", lambda _: None, baseline.work)
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


class Compiling(WithoutTorch):
    def arguments(self, **given):
        return types.SimpleNamespace(**dict({"rkb": "", "library": "", "out": "", "variants": ["compile"], "work": ["a", "b", "c"], "compilers": 2,
                                             "compile_seconds": 1e9, "end": time.monotonic() + 60}, **given))

    def popen(self, script, began):
        start = subprocess.Popen

        def started(command, env=None, start_new_session=False, **_):
            began.append(start(["sh", "-c", script], env=env, start_new_session=start_new_session))
            return began[-1]

        return unittest.mock.patch.object(compiling.subprocess, "Popen", started)

    def test_no_compiler_outlives_the_one_that_started_it(self):
        began = []
        killer = subprocess.Popen(["sh", "-c", f"sleep 0.3; kill -TERM {os.getpid()}"])
        with self.popen("sleep 60 & sleep 60", began), self.assertRaises(KeyboardInterrupt):
            self.baseline.compile_all(self.arguments())
        killer.wait()
        self.assertEqual([child.returncode for child in began], [-9, -9])
        for child in began:  # nor what it has started itself
            with self.assertRaises(ProcessLookupError):
                for _ in range(100):
                    os.killpg(child.pid, 0)
                    time.sleep(0.02)

    def test_a_compiler_ends_with_a_parent_that_was_killed(self):
        reader, writer = os.pipe()
        child = "import compiling, os, sys, time; compiling.end_with_parent(); os.write(int(sys.argv[1]), b'.'); time.sleep(60)"
        parent = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {child!r}, '{writer}'], pass_fds=[{writer}]).wait()"
        folder = os.path.dirname(compiling.__file__)
        first = subprocess.Popen([sys.executable, "-c", parent], pass_fds=[writer], env=dict(os.environ, PYTHONPATH=folder))
        os.close(writer)
        self.assertEqual(os.read(reader, 1), b".")
        began = time.monotonic()
        first.kill()
        self.assertEqual(os.read(reader, 1), b"")  # nobody is left who could write
        self.assertLess(time.monotonic() - began, 30)
        first.wait()

    def test_when_it_returns_nothing_compiles_any_more(self):
        began = []
        with self.popen("sleep 0.1", began):
            self.baseline.compile_all(self.arguments())
        self.assertEqual([child.returncode for child in began], [0, 0, 0])
        with self.popen("sleep 60", began):
            self.baseline.compile_all(self.arguments(compile_seconds=0.2))
        self.assertEqual([child.returncode for child in began[3:]], [-9, -9])

    def test_they_share_machine_code_and_keep_no_choice(self):
        began, folder = [], tempfile.mkdtemp()
        script = f'echo "${CODE} ${choices.CHOICES}" > "{folder}/$$"'
        with self.popen(script, began), unittest.mock.patch.dict(os.environ, {CODE: "/code", choices.CHOICES: "/choices"}):
            self.baseline.compile_all(self.arguments())
        lines = []
        for name in os.listdir(folder):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                lines.append(file.read().split())
        self.assertEqual([code for code, _ in lines], ["/code"] * 3)
        self.assertEqual({os.path.dirname(chosen) for _, chosen in lines}, {tempfile.gettempdir()})


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
            with self.baseline.Limit(0.05):
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
