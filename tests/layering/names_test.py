#!/usr/bin/env python3
"""Tests names.py: a name in two folders needs an exception, and an exception lists exactly the folders."""
import unittest

import names

KNOWN = {"sizes": ({"core/a", "core/b"}, "a reason")}
ALONE = {"graph": {"core/a"}, "sizes": {"core/a", "core/b"}}


class Names(unittest.TestCase):
    def test_what_is_listed_passes(self):
        self.assertEqual(names.faults(ALONE, KNOWN), [])
        self.assertEqual(names.faults(ALONE | {"__init__": {"core/a", "core/b"}}, KNOWN), [])

    def test_a_name_that_is_not_listed_fails(self):
        self.assertIn("graph: in core/a, core/c", names.faults(ALONE | {"graph": {"core/a", "core/c"}}, KNOWN)[0])

    def test_a_further_folder_fails(self):
        lines = names.faults(ALONE | {"sizes": {"core/a", "core/b", "plugins/shared/c"}}, KNOWN)
        self.assertEqual(len(lines), 1)
        self.assertIn("plugins/shared/c", lines[0])

    def test_another_folder_fails(self):
        self.assertEqual(len(names.faults(ALONE | {"sizes": {"core/a", "core/c"}}, KNOWN)), 1)

    def test_an_exception_that_is_not_needed_fails(self):
        self.assertIn("no longer in core/a, core/b", names.faults({"graph": {"core/a"}, "sizes": {"core/a"}}, KNOWN)[0])


if __name__ == "__main__":
    unittest.main()
