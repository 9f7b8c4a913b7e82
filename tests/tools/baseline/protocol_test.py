#!/usr/bin/env python3
"""Tests of how runs of PyTorch are timed, kept and judged, and of the device's lock (core/tools/baseline/timing_protocol.py), without PyTorch and
without a GPU.  usage: protocol_test.py"""

import fcntl
import os
import sys
import tempfile
import threading
import time
import types
import unittest
import unittest.mock

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.path[:0] = [os.path.join(ROOT, "core", "tools", "baseline")]

import timing_protocol as protocol  # noqa: E402


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
    """Clock.run with a library that only notes how long the device is held, and a clock that only this test moves."""

    def setUp(self):
        self.now = 0.0
        patch = unittest.mock.patch.object(protocol, "time", types.SimpleNamespace(perf_counter=lambda: self.now))
        patch.start()
        self.addCleanup(patch.stop)
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
        took = iter(seconds)
        return lambda: self.passes(next(took))

    def passes(self, seconds):
        self.now += seconds

    def test_a_run_that_the_host_was_too_slow_for_is_taken_again(self):
        self.assertEqual(self.clock.run(self.enqueueing(0.1, 0.1, 0), None, 300, self.refresh), 3)
        self.assertEqual(self.flushes, [300, protocol.MOST_FLUSHES, protocol.MOST_FLUSHES])
        self.assertEqual((self.refreshed, self.clock.late), (3, 0))

    def test_one_that_the_host_is_always_too_slow_for_is_counted(self):
        self.assertEqual(self.clock.run(lambda: self.passes(1.0), None, 1), protocol.TRIES)
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

        def somebody_waits():
            for _ in range(30000):
                if ending.is_set() or held_elsewhere(self.path + ".next"):
                    return True
                time.sleep(0.001)
            return False

        def greedy():
            while not ending.is_set():
                with first:
                    turns.append(1)
                    if not somebody_waits():
                        turns.append("nobody stood in the turnstile")
                        return

        thread = threading.Thread(target=greedy)
        thread.start()
        try:
            while not turns:
                time.sleep(0.001)
            for _ in range(5):
                before = len(turns)
                with second:
                    self.assertLessEqual(len(turns) - before, 1)
        finally:
            ending.set()
            thread.join()
        self.assertEqual(set(turns), {1})

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


if __name__ == "__main__":
    unittest.main()
