#!/usr/bin/env python3
"""Tests of the scripts beside it.  usage: harness_test.py RKB"""

import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [HERE]

import agreement  # noqa: E402
import expectations  # noqa: E402
import gate  # noqa: E402
import sample_faults  # noqa: E402

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
        self.check(True, Made("no-gain", "accept", us=9.9))
        self.check(False, Made("no-gain", "accept", us=9.0))
        self.check(False, Made("no-gain", "accept"))
        self.check(True, Made("no-gain", "reject", "numeric.mismatch"))
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
