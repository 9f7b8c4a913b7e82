#!/usr/bin/env python3
"""What campaigns.py promises of its schedule, on jobs made of sh: order, cores, time, results kept, nothing run twice."""

import contextlib
import io
import os
import tempfile
import types
import unittest

import campaigns


def job(name, script="true", **more):
    return campaigns.Job("part", name, ["sh", "-c", script], **more)


class Ready(unittest.TestCase):
    def test_longest_chain_first(self):
        jobs = [job("long", seconds=10), job("short", seconds=3), job("behind", seconds=9, after=["part/short"])]
        campaigns.lay_paths(jobs, [])
        self.assertEqual(campaigns.ready(jobs, set(), 1, 0).name, "short")

    def test_first_parts_in_their_order(self):
        jobs = [campaigns.Job("a", "x", [], seconds=99), campaigns.Job("b", "x", []), campaigns.Job("c", "x", [])]
        campaigns.lay_paths(jobs, ["c", "b"])
        self.assertEqual([each.part for each in sorted(jobs, key=lambda each: -each.path)], ["c", "b", "a"])

    def test_narrow_fills_but_not_for_ever(self):
        jobs = [job("wide", cores=4, seconds=50), job("narrow", seconds=1)]
        campaigns.lay_paths(jobs, [])
        self.assertEqual(campaigns.ready(jobs, set(), 2, 0).name, "narrow")
        self.assertIsNone(campaigns.ready(jobs, set(), 2, campaigns.PATIENCE + 1))
        self.assertEqual(campaigns.ready(jobs, set(), 4, campaigns.PATIENCE + 1).name, "wide")


class Runs(unittest.TestCase):
    def run_jobs(self, out, jobs, seconds=20.0):
        campaigns.lay_paths(jobs, [])
        campaign = types.SimpleNamespace(jobs=jobs, cache=os.path.join(out, "cache"))
        options = types.SimpleNamespace(out=out, cores=2, seconds=seconds)
        with contextlib.redirect_stdout(io.StringIO()) as said:
            code = campaigns.Runner(campaign, options).run()
        with open(os.path.join(out, "jobs.tsv")) as file:
            return code, said.getvalue(), [line.split("\t")[:2] for line in file.read().splitlines()[1:]]

    def test_results_and_failures(self):
        with tempfile.TemporaryDirectory() as out:
            code, said, lines = self.run_jobs(out, [job("good", "echo found"), job("bad", "exit 7"), job("after", after=["part/bad"])])
            self.assertEqual(code, campaigns.FAILED)
            self.assertIn("part/bad ended with 7", said)
            self.assertEqual(sorted(lines), [["part/after", "held"], ["part/bad", "exit 7"], ["part/good", "held"]])
            with open(os.path.join(out, "part", "good.txt")) as file:
                self.assertEqual(file.read(), "found\n")

    def test_what_held_is_not_run_again(self):
        with tempfile.TemporaryDirectory() as out:
            jobs = lambda: [job("good"), job("bad", "[ -e %s/mended ] || exit 1" % out)]
            self.run_jobs(out, jobs())
            open(os.path.join(out, "mended"), "w").close()
            code, _, lines = self.run_jobs(out, jobs())
            self.assertEqual(code, 0)
            self.assertEqual(sorted(lines), [["part/bad", "exit 1"], ["part/bad", "held"], ["part/good", "held"]])

    def test_stopped_at_the_end_of_the_time(self):
        with tempfile.TemporaryDirectory() as out:
            jobs = [job("endless", "sleep 600 & wait"), job("behind", after=["part/endless"])]
            code, said, lines = self.run_jobs(out, jobs, seconds=5.0)
            self.assertEqual(code, campaigns.NOT_RUN)
            self.assertEqual(lines, [["part/endless", "stopped"]])
            self.assertIn("not run to its end: part/behind", said)


if __name__ == "__main__":
    unittest.main()
