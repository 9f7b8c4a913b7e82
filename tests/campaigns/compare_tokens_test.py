#!/usr/bin/env python3
"""What compare_tokens.py promises, on two commits of a repository made here."""

import contextlib
import io
import os
import subprocess
import tempfile
import unittest

import compare_tokens

BEFORE = '#include "one.h"\n/* Adds. */\nstatic int sum_of(int left, int right) {\n   fail("no sum");\n   return left + right; /* both */\n}\n' \
         "int twice(int value) {\n   return sum_of(value, value);\n}\n" + \
         "".join("int plus_%d(int value) {\n   return value + %d;\n}\n" % (n, n) for n in range(9))  # enough for git to know the file again


class Compared(unittest.TestCase):
    def setUp(self):
        work = tempfile.TemporaryDirectory()
        self.addCleanup(work.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(work.name)
        compare_tokens.git("init", "-q")
        os.makedirs("core")
        self.commit("core/one.c", BEFORE)

    def commit(self, path, text):
        with open(path, "w") as file:
            file.write(text)
        compare_tokens.git("add", "-A")
        compare_tokens.git("-c", "user.name=test", "-c", "user.email=test@localhost", "commit", "-q", "-m", "step")

    def compare(self, text, path="core/other.c"):
        os.remove("core/one.c")
        self.commit(path, text)
        with contextlib.redirect_stdout(io.StringIO()) as said:
            code = compare_tokens.main(["HEAD^", "HEAD"])
        return code, said.getvalue()

    def test_a_move_with_other_comments_includes_and_names_leaves_nothing(self):
        text = BEFORE.replace("sum_of", "total").replace("one.h", "other.h").replace("/* both */", "").replace("Adds", "Adds two numbers")
        self.assertEqual(self.compare(text), (0, "1 sources changed or moved, 1 identifiers renamed, 0 differences remain\n"))

    def test_a_changed_text_remains(self):
        code, said = self.compare(BEFORE.replace("no sum", "no total"))
        self.assertEqual(code, 1)
        self.assertIn('core/other.c: "no sum" -> "no total"\n', said)

    def test_a_changed_operation_remains(self):
        code, said = self.compare(BEFORE.replace("left + right", "left - right"))
        self.assertEqual(code, 1)
        self.assertIn("core/other.c: + -> -\n", said)

    def test_a_name_that_changed_at_one_place_alone_remains(self):
        code, said = self.compare(BEFORE.replace("return left + right", "return left + left"))
        self.assertEqual(code, 1)
        self.assertIn("right is called left and right\n", said)
        self.assertIn("left was called left and right\n", said)

    def test_a_further_statement_remains(self):
        code, said = self.compare(BEFORE.replace("   return left", "   right = 0;\n   return left"))
        self.assertEqual(code, 1)
        self.assertRegex(said, r"core/other.c: \d+ tokens before, \d+ after")

    def test_another_include_guard_is_no_difference(self):
        self.commit("core/one.c", "#ifndef ONE_H\n#define ONE_H\n" + BEFORE + "#endif\n")
        self.assertEqual(self.compare("#ifndef OTHER_H\n#define OTHER_H\n" + BEFORE + "#endif\n")[0], 0)


if __name__ == "__main__":
    unittest.main()
