#!/usr/bin/env python3
"""Tests mirror.py: a folder of tests without a room, a room without tests, and a name that does not tell the folder are faults."""
import os
import tempfile
import unittest

import mirror

ROOMS = {"base", "cli"}
OTHERS = {"fuzz": "a reason"}
LISTS = {
    "base": {"tests/base/CMakeLists.txt": "rkb_add_test(base_text SOURCES test_text.c)\n"},
    "cli": {"tests/cli/CMakeLists.txt": "foreach(case)\n  add_test(NAME cli_${name} COMMAND x)\nendforeach()\n"},
    "plugins": {"tests/plugins/CMakeLists.txt": "rkb_add_plugin_test(seed rkb_translator_seed)\n"},
}
FOLDERS = {"base", "cli", "plugins", "fuzz"}


class Mirror(unittest.TestCase):
    def test_a_mirror_passes(self):
        self.assertEqual(mirror.faults(ROOMS, FOLDERS, LISTS, OTHERS), [])

    def test_a_folder_without_a_room_fails(self):
        lines = mirror.faults(ROOMS, FOLDERS | {"report"}, LISTS, OTHERS)
        self.assertEqual(len(lines), 1)
        self.assertIn("tests/report: neither a folder of core/", lines[0])

    def test_a_room_without_tests_fails(self):
        self.assertEqual(mirror.faults(ROOMS | {"web"}, FOLDERS, LISTS, OTHERS), ["tests/web: core/web has no test there"])
        lists = LISTS | {"web": {"tests/web/CMakeLists.txt": "# core/web\nrkb_add_fuzz(page)\n"}}
        self.assertEqual(mirror.faults(ROOMS | {"web"}, FOLDERS | {"web"}, lists, OTHERS), ["tests/web: core/web has no test there"])

    def test_plugins_need_tests(self):
        lists = {folder: texts for folder, texts in LISTS.items() if folder != "plugins"}
        self.assertEqual(mirror.faults(ROOMS, FOLDERS, lists, OTHERS), ["tests/plugins: plugins has no test there"])

    def test_a_name_that_does_not_tell_the_folder_fails(self):
        for name in ("text_of_base", "bases", "cli_base"):
            lists = LISTS | {"base": {"tests/base/deep/CMakeLists.txt": f"# a line\nrkb_add_test({name} SOURCES x.c)\n"}}
            self.assertEqual(mirror.faults(ROOMS, FOLDERS, lists, OTHERS), [f"tests/base/deep/CMakeLists.txt:2: call the test '{name}' base_..."])

    def test_the_folder_alone_and_a_variable_are_names(self):
        lists = LISTS | {"base": {"tests/base/CMakeLists.txt": "add_test(NAME base COMMAND x)\nrkb_add_test(${name} SOURCES x.c)\n"}}
        self.assertEqual(mirror.faults(ROOMS, FOLDERS, lists, OTHERS), [])

    def test_an_entry_that_is_not_needed_fails(self):
        self.assertIn("there is no such folder", mirror.faults(ROOMS, FOLDERS - {"fuzz"}, LISTS, OTHERS)[0])
        self.assertIn("a room of core/ has this name", mirror.faults(ROOMS, FOLDERS, LISTS, OTHERS | {"base": "a reason"})[0])

    def test_what_a_python_left_behind_is_no_folder(self):
        with tempfile.TemporaryDirectory() as tree:
            for path in ("report/__pycache__/looks.pyc", "empty", "cli/deep/case"):
                os.makedirs(os.path.join(tree, os.path.dirname(path) or path))
                if "/" in path:
                    open(os.path.join(tree, path), "w", encoding="utf-8").close()
            self.assertEqual(mirror.folders_of(tree), {"cli"})


if __name__ == "__main__":
    unittest.main()
