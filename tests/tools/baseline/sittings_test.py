"""What sittings.py keeps of records: one line a process, case and variant, without samples, and nothing that ends a field."""

import json
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../../core/tools/baseline"))
import sittings

RECORD = {
    "task": "t", "direction": "forward", "case": "bench/a", "parts": [
        {"process": "12@34", "date": "2026-01-01T00:00:00Z", "tuning": "before", "anchors": {"copy_us": 34.123456, "chain_us": 6.5},
         "variants": {"eager": {"samples_ms": [[0.1, 0.001], [0.3, 0.2, 9.0]], "host_us": 12.0, "late": 0}}},
        {"process": "13@34", "variants": {"compile": {"error": "ran out\tof\nmemory"}}}]}


class Lines(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        with open(os.path.join(self.folder.name, "t.forward.a.json"), "w", encoding="utf-8") as file:
            json.dump(RECORD, file)
        self.lines = [dict(zip(sittings.COLUMNS, line, strict=True)) for line in sittings.lines_of(self.folder.name)]

    def test_a_line_for_each_process_and_variant(self):
        self.assertEqual([(line["process"], line["variant"]) for line in self.lines], [("12", "eager"), ("13", "compile")])

    def test_the_mean_leaves_out_the_ends(self):
        line = self.lines[0]
        self.assertEqual((line["us"], line["samples"]), ("200", "5"))
        self.assertEqual((line["copy_us"], line["host_us"], line["late"], line["tuning"]), ("34.123", "12", "0", "before"))

    def test_what_failed_has_no_time(self):
        line = self.lines[1]
        self.assertEqual((line["us"], line["samples"], line["date"]), ("", "", ""))
        self.assertEqual(line["error"], "ran out of memory")


if __name__ == "__main__":
    unittest.main()
