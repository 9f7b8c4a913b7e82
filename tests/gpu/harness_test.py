#!/usr/bin/env python3
"""Tests of the scripts beside it and of the baseline's statistics.  usage: harness_test.py RKB"""

import fcntl
import os
import subprocess
import sys
import tempfile
import time
import types
import unittest
import unittest.mock

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [HERE, os.path.join(ROOT, "core", "worker", "baseline")]

import agreement  # noqa: E402
import expectations  # noqa: E402
import gate  # noqa: E402
import protocol  # noqa: E402
import sample_faults  # noqa: E402
import tuning  # noqa: E402

RKB = sys.argv.pop(1)


class Made:
    """A candidate as archive.py gives it."""

    def __init__(self, expect, standing, reason="", us=None, verdicts=None):
        self.expect, self.standing, self.reason = expect.split(), standing, reason
        self.measurements = {} if us is None else {("time.us", ""): us}
        self.verdicts = verdicts or ({"gpu": (standing, reason, "")} if standing else {})


class Expectations(unittest.TestCase):
    def check(self, right, candidate, honest_us=10.0):
        self.assertEqual(expectations.came_out(candidate, honest_us)[0], right, candidate.expect)

    def test_each_kind(self):
        self.check(True, Made("accept timed", "accept", us=10))
        self.check(False, Made("accept timed", "accept"))
        self.check(False, Made("accept timed", "reject", us=10))
        self.check(True, Made("accept not-faster", "accept", us=9.9))
        self.check(False, Made("accept not-faster", "accept", us=9.0))
        self.check(True, Made("reject", "reject", "numeric.mismatch"))
        self.check(False, Made("reject", "unknown"))
        self.check(False, Made("reject input.modified", "reject", "numeric.mismatch"))
        duplicate = Made("accept", "accept")
        duplicate.verdicts = {}
        self.check(False, duplicate)
        self.check(True, Made("not-timed", "accept"))
        self.check(False, Made("not-timed", "accept", us=10))
        self.check(False, Made("something else", "accept"))


class Agreement(unittest.TestCase):
    def test_rank_correlation(self):
        self.assertAlmostEqual(agreement.rank_correlation([1, 2, 3, 4], [10, 20, 30, 40]), 1)
        self.assertAlmostEqual(agreement.rank_correlation([1, 2, 3, 4], [4, 3, 2, 1]), -1)
        # Ties take the mean rank: 1, 2.5, 2.5, 4 against 1, 2, 3, 4.
        self.assertAlmostEqual(agreement.rank_correlation([1, 2, 2, 3], [1, 2, 3, 4]), 4.5 / (4.5 * 5) ** 0.5)
        self.assertIsNone(agreement.rank_correlation([1, 2], [1, 2]))
        self.assertIsNone(agreement.rank_correlation([1, 1, 1], [1, 2, 3]))

    def test_only_pairs_count(self):
        both = Made("", "accept", verdicts={"machine": ("reject", "a", ""), "gpu": ("accept", "", "")})
        one = Made("", "accept", verdicts={"gpu": ("accept", "", "")})
        self.assertEqual([pair[0] for pair in agreement.verdict_pairs([both, one])], [both])


class Gate(unittest.TestCase):
    def made(self, check, time, device=0.0):
        return {"check": {"all": check, "run": check - device, "device": device}, "time": {"all": time, "time": time}}

    def test_waiting_for_a_device_is_not_the_gates(self):
        self.assertEqual(gate.whole(self.made(300, 100, device=50)), 350)

    def test_the_first_stands_alone(self):
        text = gate.line("t", "forward", [self.made(900, 100), self.made(300, 100), self.made(100, 100), self.made(200, 100)])
        self.assertTrue(text.startswith("| t | forward | 3 | 1000 | 300 | 400 |"), text)


class SampleFaults(unittest.TestCase):
    def test_one_of_each_operator(self):
        with tempfile.TemporaryDirectory() as folder:
            for operator in ("a", "b", "c"):
                for number in range(3):
                    path = os.path.join(folder, "made", operator, "softmax", "forward", "one_row")
                    os.makedirs(path, exist_ok=True)
                    with open(os.path.join(path, f"{number}.cu"), "w") as file:
                        file.write(operator)
            picked = []
            for out in ("first", "second"):
                subprocess.run([sys.executable, os.path.join(HERE, "sample_faults.py"), os.path.join(folder, "made"), os.path.join(folder, out), "2",
                                "softmax:forward"], check=True, capture_output=True)
                picked.append(sorted(os.listdir(os.path.join(folder, out, "softmax.forward"))))
            self.assertEqual(picked[0], picked[1])
            self.assertEqual(len({name.split(".")[0] for name in picked[0]}), 2)
            self.assertEqual(set(sample_faults.found(os.path.join(folder, "made"))), {("softmax", "forward")})


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
        other["torch"] = "another"
        with self.assertRaises(ValueError):
            protocol.merge(record, other, "before")

    def test_a_record_of_another_driver_does_not_count(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "r.json")
            protocol.write_record(path, dict(self.KEY, parts=[self.part("a", 31.0, 1.0)], baselines={}))
            self.assertEqual(len(protocol.read_record(path, self.KEY)["parts"]), 1)
            self.assertEqual(protocol.read_record(path, dict(self.KEY, driver=1))["parts"], [])


class Tuning(unittest.TestCase):
    """What torch.compile times to choose a kernel is timed with the device to itself."""

    class Benchmarker:
        def benchmark_cpu(self, held):
            return held()

        def benchmark_gpu(self, held):
            return held()

        def benchmark_many_gpu(self, held):
            return [self.benchmark_gpu(held), held()]

    def test_the_lock_is_held_and_given_back(self):
        path = os.path.join(tempfile.mkdtemp(), "lock")

        def held():
            """As another process sees it: a lock on a file opened anew."""
            other = os.open(path, os.O_RDWR)
            try:
                fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return False
            except BlockingIOError:
                return True
            finally:
                os.close(other)

        lock = protocol.DeviceLock(path)
        module = type("benchmarking", (), {"TritonBenchmarker": type("TritonBenchmarker", (), dict(vars(self.Benchmarker)))})
        self.assertEqual(tuning.in_turns(module, lock), 2)
        timer = module.TritonBenchmarker()
        self.assertFalse(held())
        self.assertFalse(timer.benchmark_cpu(held))
        self.assertTrue(timer.benchmark_gpu(held))
        self.assertEqual(timer.benchmark_many_gpu(held), [True, True])  # the inner one does not give it back for the outer one
        self.assertFalse(held())

    def test_an_unknown_pytorch_is_noticed(self):
        self.assertEqual(tuning.in_turns(type("benchmarking", (), {}), None), 0)


class Room(unittest.TestCase):
    """Of what waits to be timed only as much is kept ready as the device has room for; the rest is prepared again in its turn."""

    def setUp(self):
        self.reserved = 0
        torch = types.ModuleType("torch")
        torch.cuda = types.SimpleNamespace(
            memory_reserved=lambda: self.reserved, empty_cache=self.empty,
            get_device_properties=lambda ordinal: types.SimpleNamespace(total_memory=100))
        torch._dynamo = types.SimpleNamespace(reset=lambda: None)
        torch._functorch = types.SimpleNamespace(config=types.SimpleNamespace())
        names = ["torch", "torch._dynamo", "torch._dynamo.config", "torch._functorch", "torch._functorch.config", "torch._inductor", "torch._inductor.runtime",
                 "torch._inductor.runtime.benchmarking"]
        with unittest.mock.patch.dict(sys.modules, {name: torch for name in names}):
            import baseline
        self.baseline = baseline
        listing = {"task": "t", "direction": "forward", "directory": "", "cases": [{"name": "bench/a"}, {"name": "bench/b"}]}
        for name, value in (("read_listing", lambda *_: listing), ("load_forward", lambda _: None), ("prepare", self.prepare),
                            ("Timed", lambda clock, out, listing, case: Kept(self.seen, case["name"]))):
            patch = unittest.mock.patch.object(baseline, name, value)
            patch.start()
            self.addCleanup(patch.stop)
        self.seen, self.prepared = [], []

    def prepare(self, function, case, backward, variant):
        self.prepared.append((case["name"], variant))
        self.reserved += 10
        return len(self.prepared)

    def empty(self):
        self.reserved = min(self.reserved, 20)

    def test_what_has_no_room_is_prepared_in_its_turn(self):
        ready = self.baseline.prepare_all(types.SimpleNamespace(rkb=""), {"directory": "", "direction": "forward", "variants": ["eager", "eager_graph"]})
        self.assertEqual([prepared for *_, prepared in ready], [1, 2, None, None])
        self.baseline.time_all(types.SimpleNamespace(out=""), None, ready)
        self.assertEqual(ready, [])
        self.assertEqual(self.prepared[4:], [("bench/b", "eager"), ("bench/b", "eager_graph")])
        # Written once a case, when its last variant has been timed.
        self.assertEqual(self.seen, [
            ("bench/a", "eager", 1, False), ("bench/a", "eager_graph", 2, True), ("bench/b", "eager", 5, False), ("bench/b", "eager_graph", 6, True)])


    def test_what_takes_too_long_is_named_and_tried_once(self):
        def prepare(function, case, backward, variant):
            self.prepared.append((case["name"], variant))
            return TimeoutError("not compiled in 1 s") if variant.startswith("compile") and case["name"] == "bench/a" else 1

        with unittest.mock.patch.object(self.baseline, "prepare", prepare):
            ready = self.baseline.prepare_all(types.SimpleNamespace(rkb=""),
                                              {"directory": "", "direction": "forward", "variants": ["eager", "compile", "compile_graph"]})
        self.assertEqual([str(prepared) for *_, prepared in ready], ["1", "not compiled in 1 s", "not compiled in 1 s", "1", "1", "1"])
        self.assertEqual(len(self.prepared), 5)

    def test_no_compiler_outlives_the_one_that_started_it(self):
        began, start = [], subprocess.Popen

        def popen(command, **_):
            began.append(start(["sleep", "60"]))
            return began[-1]

        arguments = types.SimpleNamespace(rkb="", library="", out="", variants=["compile"], work=["a", "b", "c"], compilers=2, each=1e9,
                                          end=time.monotonic() + 60)
        killer = subprocess.Popen(["sh", "-c", f"sleep 0.3; kill -TERM {os.getpid()}"])
        with unittest.mock.patch.object(self.baseline.subprocess, "Popen", popen), self.assertRaises(KeyboardInterrupt), \
                unittest.mock.patch("builtins.print"):
            self.baseline.compile_all(arguments)
        killer.wait()
        self.assertEqual([child.returncode for child in began], [-9, -9])

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


class Kernels(unittest.TestCase):
    def build(self, path):
        result = subprocess.run([RKB, "build", path, "--task", os.path.join(ROOT, "tasks", "softmax")], capture_output=True, text=True)
        self.assertEqual(result.returncode, 0, f"{path}: {result.stdout}{result.stderr}")

    def test_cheats_build_and_say_what_is_expected(self):
        folder = os.path.join(HERE, "cheats")
        names = sorted(name for name in os.listdir(folder) if name.endswith(".cu"))
        self.assertGreaterEqual(len(names), 10)
        for name in names:
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                self.assertIn("expect: ", file.read(), name)
            self.build(os.path.join(folder, name))

    def test_hostile_kernels_build(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.executable, os.path.join(HERE, "hostile.py"), folder, "13"], check=True)
            folder = os.path.join(folder, "0")
            names = sorted(os.listdir(folder))
            self.assertEqual(len(names), 14)  # 13 and an honest one after the tenth
            for name in names:
                self.build(os.path.join(folder, name))


if __name__ == "__main__":
    unittest.main()
