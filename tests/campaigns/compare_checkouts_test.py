#!/usr/bin/env python3
"""What compare_checkouts.py promises, on checkouts whose programs are made of sh: changed words and results are found, times and folders are not."""

import contextlib
import io
import os
import tempfile
import unittest

import compare_checkouts

PROGRAM = """#!/bin/sh
case "$1" in
check)
  if [ "$2" = --help ]; then echo "  --secret HEX"; exit; fi
  if [ "$2" = --json ]; then echo "{\\"file\\":\\"%(folder)s/k.cu\\",\\"seconds\\":$$,\\"reason\\":\\"%(reason)s\\"}"; exit; fi
  echo "  machine        accept       $$ ms  %(message)s"
  echo "  model.predicted_us      %(predicted)s us";;
validate) echo "$*: no problem"; exit %(code)d;;
report)
  echo "took $$ s; best: candidate 2, model.predicted_us = %(predicted)s us"
  echo "  lint    1    $$ us";;
show) echo "1 accept";;
esac
"""
RUN = """#!/bin/sh
if [ "$1" = --help ]; then echo "  --secret HEX"; exit; fi
while [ "$1" != --out ]; do shift; done
mkdir -p "$2"
echo "task: %(folder)s/tasks/softmax" >"$2/pipeline.yaml"
python3 - "$2/run.sqlite" <<'P'
import os, sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
connection.execute("CREATE TABLE verdict (message TEXT, seconds REAL)")
connection.execute("CREATE TABLE fact (key TEXT, value TEXT)")
connection.execute("INSERT INTO verdict VALUES ('%(archived)s', ?)", [os.getpid()])
connection.executemany("INSERT INTO fact VALUES (?, ?)", [("created_ms", os.getpid()), ("seed", "1")])
connection.commit()
P
echo "3 candidates in $$ ms"
"""
SAYS = {"reason": "race", "message": "no remark", "predicted": "18.8", "code": 0, "archived": "no remark"}


def checkout(folder, **changed):
    """A folder that looks like a built checkout, whose programs say what is in SAYS but for what is changed."""
    says = dict(SAYS, folder=folder, **changed)
    for name in ("build/bin", "pipelines/experiments", "tasks/softmax/seeds/forward"):
        os.makedirs(os.path.join(folder, name))
    for name in ("pipelines/stock.yaml", "pipelines/experiments/base.yaml", "tasks/softmax/seeds/forward/rows.cu"):
        open(os.path.join(folder, name), "w").close()
    for name, text in (("rkb", PROGRAM), ("rkb-run", RUN)):
        path = os.path.join(folder, "build", "bin", name)
        with open(path, "w") as file:
            file.write(text % says)
        os.chmod(path, 0o755)
    return folder


class Compared(unittest.TestCase):
    def setUp(self):
        self.work = tempfile.TemporaryDirectory()
        self.addCleanup(self.work.cleanup)

    def folder(self, name):
        return os.path.join(self.work.name, name)

    def compare(self, before, after, *more):
        with contextlib.redirect_stdout(io.StringIO()) as said, contextlib.redirect_stderr(io.StringIO()):
            code = compare_checkouts.main([before, after, "--out", self.folder("out"), "--cores", "2", *more])
        return code, said.getvalue()

    def changed(self, **changed):
        return self.compare(checkout(self.folder("one")), checkout(self.folder("other"), **changed))

    def test_times_and_folders_are_no_difference(self):
        code, said = self.changed()
        self.assertEqual((code, said.count("# differs")), (compare_checkouts.IDENTICAL, 0), said)
        self.assertIn("check\t2\t0\t0\t0", said)
        self.assertIn("run\t9\t0\t0\t0", said)

    def test_every_form_of_a_duration_has_a_name(self):
        for duration in ("162 us", "1.74 s", "1 m 06 s", "2 h 05 m"):
            self.assertEqual(compare_checkouts.renamed("3 candidates in %s: all" % duration, "run"), "3 candidates in SECONDS: all")

    def test_a_changed_message_is_found_with_its_command(self):
        code, said = self.changed(message="nothing to remark")
        self.assertEqual((code, said.count("# differs")), (compare_checkouts.DIFFERENT, 1), said)
        self.assertIn("-  machine        accept SECONDS  no remark\n+  machine        accept SECONDS  nothing to remark\n", said)
        self.assertIn("cd %s && %s check --task tasks/softmax" % (self.folder("one"), self.folder("one/build/bin/rkb")), said)

    def test_a_changed_reason_is_found_in_json(self):
        code, said = self.changed(reason="bounds")
        self.assertEqual((code, said.count("# differs")), (compare_checkouts.DIFFERENT, 1), said)
        self.assertIn("rkb check --json", said)

    def test_a_predicted_time_is_a_result(self):
        code, said = self.changed(predicted="18.9")
        self.assertEqual(code, compare_checkouts.DIFFERENT)
        self.assertIn("+took SECONDS; best: candidate 2, model.predicted_us = 18.9 us", said)
        self.assertIn("+  model.predicted_us      18.9 us", said)

    def test_an_exit_code_is_a_result(self):
        code, said = self.changed(code=2)
        self.assertEqual((code, said.count("# differs")), (compare_checkouts.DIFFERENT, 4), said)
        self.assertIn("-exit code 0\n+exit code 2\n", said)

    def test_a_changed_row_of_an_archive_is_found(self):
        code, said = self.changed(archived="another")
        self.assertEqual((code, said.count("# differs")), (compare_checkouts.DIFFERENT, 1), said)
        self.assertIn("+verdict: message='another'", said)

    def test_a_file_of_one_side_is_a_difference(self):
        after = checkout(self.folder("other"))
        open(os.path.join(after, "pipelines", "new.yaml"), "w").close()
        code, said = self.compare(checkout(self.folder("one")), after, "--parts", "validate")
        self.assertEqual((code, said.count("# differs")), (compare_checkouts.DIFFERENT, 2), said)

    def test_the_secret_is_given_when_both_take_it(self):
        _, said = self.changed(message="other")
        self.assertIn("--secret " + compare_checkouts.SECRET, said)

    def test_nothing_compared_is_no_success(self):
        one, other = checkout(self.folder("one")), checkout(self.folder("other"))
        self.assertEqual(self.compare(one, other, "--tasks", "sofmax", "--parts", "check")[0], compare_checkouts.NOT_COMPARED)


if __name__ == "__main__":
    unittest.main()
