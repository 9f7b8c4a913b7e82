#!/usr/bin/env python3
"""Tests imports.py: plants one violation at a time in a small tree and demands the message that points at it."""
import os
import tempfile
import unittest

import imports

# What every small tree has besides the planted file: headers that good and bad files include.
BESIDE = ("core/base/text.h", "core/machine/machine.h", "core/tools/import/refusal.py", "tests/kernel/kernel_fixture.h",
          "plugins/verifier/x/own.h", "plugins/verifier/y/b.h", "plugins/verifier/shared/of_kind.h", "plugins/profiler/time/case_times.h",
          "plugins/mutator/shared/wheel.h", "plugins/shared/source/tokens.h", "plugins/shared/asking/proposal.h")

# (file, its text, part of the message)
BAD = [
    # rooms
    ("core/base/a.c", '#include "system/loop.h"', "core/base may include no other room"),
    ("core/base/a.c", '#include "gpu/worker/driver.h"', "core/base may include no other room"),
    ("core/base/a.c", "  #  include\t<uv.h>", "core/base includes <uv.h>, which only"),
    ("core/base/a.h", "#include <sqlite3.h>", "which only archive may"),
    ("core/system/a.c", '#include "task/task.h"', "core/system may include base"),
    ("core/reference/operations/a.c", '#include "task/task.h"', "core/reference may include base"),
    ("core/task/a.c", '#include "kernel/kernel.h"', "core/task may include"),
    ("core/kernel/a.c", '#include "archive/archive.h"', "core/kernel may include"),
    ("core/machine/lanes/a.c", '#include "base/text.h"', "core/machine may include no other room"),
    ("core/archive/a.c", '#include "llm/llm.h"', "core/archive may include"),
    ("core/gpu/worker/a.c", '#include "stage/instance.h"', "core/gpu may include"),
    ("core/pipeline/a.c", '#include "run/build_step.h"', "core/pipeline may include"),
    ("core/stage/a.c", '#include "run/run.h"', "core/stage may include"),
    ("core/run/a.c", '#include "cli/run_result.h"', "core/run may include"),
    ("core/run/a.c", "#include <curl/curl.h>", "which only system may"),
    ("core/kernel/compiler/a.c", '#include "run/run.h"', "core/kernel may include system, base"),
    ("core/base/a.py", "import refusal", 'core/base includes "tools/import/refusal.py"'),
    # the folders of a room, both ways
    ("core/generator/graph/a.c", '#include "generator/text/writer.h"', "core/generator/graph may include nothing of the others"),
    ("core/generator/tile/a.c", '#include "generator/row/rows.h"', "core/generator/tile may include text, graph"),
    ("core/generator/text/a.c", '#include "generator/generator.h"', "core/generator/text may include graph"),
    ("core/machine/ptx/a.c", '#include "machine/decode/program.h"', "core/machine/ptx may include the files beside them"),
    ("core/machine/face.h", '#include "machine/ptx/module.h"', "the files of core/machine beside its folders may include nothing"),
    ("core/stage/confined/a.c", '#include "stage/instance.h"', "core/stage/confined may include nothing of the others"),
    ("core/stage/confined/a.c", '#include "stage/screen/screen_workers.h"', "core/stage/confined may include nothing of the others"),
    ("core/stage/screen/a.c", '#include "stage/runtime.h"', "core/stage/screen may include confined"),
    ("core/stage/a.c", '#include "stage/screen_worker/a.h"', "the files of core/stage beside its folders may include screen, confined"),
    ("core/reference/a.c", '#include "reference/operations/layout.h"', "the files of core/reference beside its folders may include nothing"),
    ("core/reference/a.c", '#include "reference/functions/functions.h"', "the files of core/reference beside its folders may include nothing"),
    ("core/reference/operations/a.c", '#include "reference/functions/functions.h"', "core/reference/operations may include the files beside them"),
    ("core/cli/shared/a.c", '#include "cli/commands.h"', "core/cli/shared may include nothing of the others"),
    ("core/cli/bench/a.c", '#include "cli/commands.h"', "core/cli/bench may include shared"),
    ("core/cli/judge/a.c", '#include "cli/bench/bench.h"', "core/cli/judge may include shared"),
    ("core/cli/report/a.c", '#include "cli/serve/server.h"', "core/cli/report may include shared"),
    ("core/cli/report/html/a.c", '#include "cli/serve/server.h"', "core/cli/report may include shared"),
    ("core/cli/report/a.c", '#include "cli/report/html/page.h"', "the files of core/cli/report beside its folders may include nothing"),
    ("core/cli/serve/a.c", '#include "cli/commands.h"', "core/cli/serve may include report, shared"),
    ("core/gpu/a.c", '#include "gpu/worker/driver.h"', "the files of core/gpu beside its folders may include nothing"),
    ("core/kernel/a.c", '#include "kernel/compiler/compiler.h"', "the files of core/kernel beside its folders may include nothing"),
    ("core/lift/a.c", '#include "lift/parser/tree_writer.h"', "the files of core/lift beside its folders may include nothing"),
    ("core/task/a.c", '#include "task/expected/value_pool.h"', "the files of core/task beside its folders may include nothing"),
    ("core/tools/faults/operators/a.c", '#include "tools/faults/corpus/corpus.h"', "core/tools/faults/operators may include nothing"),
    ("core/tools/faults/label/a.c", '#include "tools/faults/verify/tables.h"', "core/tools/faults/label may include corpus, operators"),
    ("core/tools/plugin_test/a.c", '#include "tools/faults/corpus/corpus.h"', "core/tools/plugin_test may include nothing of the others"),
    # how an include is written
    ("core/base/a.c", '#include "text.h"', "includes of core are written from core/"),
    ("core/base/a.c", '#include "../system/loop.h"', "includes of core are written from core/"),
    ("core/tools/faults/a.c", '#include "corpus/corpus.h"', "is no header of core/"),
    ("core/base/a.c", "#include <system/loop.h>", "includes of core are quoted"),
    ("core/base/a.c", "#include HEADER", "write the header's name out"),
    ("core/base/a.c", "#include_next <uv.h>", "which only"),
    ("core/base/a.c", '#include "rkb/strategy.h"', "is no header of core/"),
    ("core/run/a.c", '#include "plugins/strategy/grid/a.h"', "is no header of core/"),
    # the public headers
    ("core/include/rkb/a.h", '#include "base/text.h"', "a public header includes base/text.h"),
    ("core/include/rkb/a.h", "#include <uv.h>", "a public header includes <uv.h>"),
    ("core/include/rkb/a.h", "#include <rkb/draft/http.h>", "only drafts include drafts"),
    ("core/include/rkb/ext/a.h", "#include <rkb/draft/http.h>", "only drafts include drafts"),
    ("core/machine/a.h", "#include <rkb/strategy.h>", "core/machine includes <rkb/strategy.h>: of the public headers it may include"),
    ("core/machine/lanes/a.c", "#include <rkb/items.h>", "core/machine includes <rkb/items.h>: of the public headers it may include"),
    ("core/generator/a.c", "#include <rkb/strategy.h>", "which only plugin, run, stage, tools may"),
    ("core/cli/a.c", "#include <rkb/draft/http.h>", "which only stage, system, tools may"),
    ("plugins/verifier/gpu/a.c", "#include <rkb/draft/http.h>", "what shipped plugins use is no draft"),
    # plugins
    ("plugins/verifier/x/a.c", '#include "base/text.h"', "a plugin includes"),
    ("plugins/verifier/x/a.c", '#include "machine/machine.h"', "a plugin includes"),
    ("plugins/verifier/x/a.c", "#include <base/text.h>", "a plugin includes"),
    ("plugins/verifier/x/a.c", '#include "../y/b.h"', "plugins/verifier/shared and files of its own folder"),
    ("plugins/verifier/x/a.c", '#include "y/b.h"', "plugins/verifier/shared and files of its own folder"),
    ("plugins/verifier/x/a.c", '#include "b.h"', "plugins/verifier/shared and files of its own folder"),
    ("plugins/verifier/x/a.c", "#include <y/b.h>", "plugins/verifier/shared and files of its own folder"),
    ("plugins/verifier/x/a.c", '#include "../../../core/base/text.h"', "a plugin includes"),
    ("plugins/verifier/x/a.c", "#include <uv.h>", "which is the core's"),
    ("plugins/mutator/tune/a.c", '#include "plugins/profiler/time/case_times.h"', "plugins/mutator/shared and files of its own folder"),
    ("plugins/mutator/tune/a.c", '#include "profiler/time/case_times.h"', "plugins/mutator/shared and files of its own folder"),
    ("plugins/mutator/tune/a.c", '#include "../../profiler/time/case_times.h"', "plugins/mutator/shared and files of its own folder"),
    ("plugins/mutator/tune/a.c", '#include "time/case_times.h"', "plugins/mutator/shared and files of its own folder"),
    ("plugins/mutator/tune/a.c", '#include "shared/of_kind.h"', "plugins/mutator/shared and files of its own folder"),
    ("plugins/mutator/shared/a.c", '#include "tune/moves.h"', "a plugin includes"),
    ("plugins/shared/source/a.c", '#include "asking/proposal.h"', "plugins/shared/source may include nothing of the others"),
    ("plugins/shared/source/a.c", '#include "shared/weighted_draw.h"', "only <rkb/...>, plugins/shared and files of its own folder"),
    # folders without a row
    ("core/new_room/a.c", "", "is in no row"),
    ("core/generator/new_folder/a.c", "", "is in no row of FOLDERS"),
    ("core/stage/new_folder/a.c", "", "is in no row of FOLDERS"),
    ("core/run/new_folder/a.c", "", "is in no row of FOLDERS"),
    ("core/cli/report/html/new_folder/a.c", "", "is in no row of FOLDERS"),
    ("core/tools/import/new_folder/a.py", "", "is in no row of FOLDERS"),
    ("core/python/a.py", "", "its own files are in no row"),
    ("core/include/rkb/new_folder/a.h", "", "is in no row of HEADERS"),
    ("plugins/shared/new_folder/a.c", "", "is in no row of FOLDERS"),
    ("plugins/verifier/x/deep/a.c", '#include "../own.h"', "is in no row of FOLDERS"),
    ("plugins/new_kind/a.c", "", "is no kind of plugins"),
    ("core/a.c", '#include "base/text.h"', "lies in no folder"),
    # documents
    ("CONTRIBUTING.md", "The folders: `core/machine/`, `core/tools/`.", "names no core/base/"),
]

GOOD = [
    ("core/base/a.c", '#include "base/text.h"\n#include <rkb/plugin.h>\n#include <yaml.h>'),
    ("core/run/a.c", '#include "archive/archive.h"\n#include <uv.h>\n#include <rkb/strategy.h>'),
    ("core/machine/lanes/a.c", '#include "machine/machine.h"\n#include <rkb/ext/counters.h>'),
    ("core/generator/tile/a.c", '#include "generator/tile/b.h"\n#include "generator/text/writer.h"\n#include "base/text.h"'),
    ("core/generator/generator.c", '#include "generator/search/schedule_changes.h"'),
    ("core/stage/a.c", '#include "stage/confined/confined.h"\n#include "stage/screen/screen_workers.h"'),
    ("core/cli/serve/a.c", '#include "cli/report/html/page.h"\n#include "cli/report/run_report.h"\n#include "cli/shared/arguments.h"'),
    ("core/cli/report/html/a.c", '#include "cli/report/run_report.h"\n#include "cli/shared/arguments.h"'),
    ("core/gpu/worker/a.c", '#include "gpu/protocol.h"'),
    ("core/bench/a.c", '#include "kernel/kernel_fixture.h"\n#include "kernel_fixture.h"\n#include "tools/faults/corpus/corpus.h"'),
    ("core/bench/a.py", "import os, refusal"),
    ("core/include/rkb/ext/a.h", "#include <rkb/plugin.h>\n#include <stdint.h>"),
    ("core/include/rkb/draft/a.h", "#include <rkb/plugin.h>\n#include <rkb/draft/b.h>"),
    ("plugins/verifier/x/a.c", '#include "own.h"\n#include "shared/of_kind.h"\n#include "source/tokens.h"\n#include <rkb/plugin.h>\n#include <math.h>'),
    ("plugins/verifier/machine/a.c", '#include "machine/machine.h"'),
    ("plugins/shared/asking/a.c", '#include "source/tokens.h"'),
    ("CONTRIBUTING.md", "The folders: `core/base/`, `core/machine/`, `core/tools/`."),
]


def violations(planted, whole=False):
    """What imports.py says of a small tree with the planted files {path: text}."""
    with tempfile.TemporaryDirectory() as tree:
        for name, text in {**dict.fromkeys(BESIDE, ""), **planted}.items():
            os.makedirs(os.path.dirname(os.path.join(tree, name)), exist_ok=True)
            with open(os.path.join(tree, name), "w", encoding="utf-8") as file:
                file.write(text + "\n")
        return imports.check(tree, whole)[0]


class Imports(unittest.TestCase):
    def test_each_violation_is_pointed_at(self):
        for path, text, message in BAD:
            with self.subTest(path=path, text=text):
                said = violations({path: text})
                self.assertEqual(len(said), 1, said)
                self.assertTrue(said[0].startswith((path + ":1: ", os.path.dirname(path) + ":1: ")), said)
                self.assertIn(message, said[0])

    def test_good_files_pass(self):
        for path, text in GOOD:
            with self.subTest(path=path, text=text):
                self.assertEqual(violations({path: text}), [])

    def test_a_circle_of_folders_names_its_way(self):
        said = violations({"core/stage/confined/a.c": '#include "stage/instance.h"', "core/stage/a.c": '#include "stage/confined/confined.h"'})
        self.assertIn("core/stage:1: the imports between folders has a circle: core/stage -> core/stage/confined -> core/stage", said)

    def test_a_circle_of_public_headers(self):
        said = violations({"core/include/rkb/a.h": "#include <rkb/ext/b.h>", "core/include/rkb/ext/b.h": "#include <rkb/a.h>"})
        self.assertEqual(len(said), 1)
        self.assertIn("the public headers has a circle: core/include/rkb/a.h -> core/include/rkb/ext/b.h", said[0])

    def test_a_circle_of_a_table(self):
        for folder, row, other in (("core/stage", "confined", "screen"), ("core/cli/report", ".", "html"), ("core/tools/faults", "operators", "label")):
            with self.subTest(folder=folder):
                imports.FOLDERS[folder][row].append(other)
                try:
                    self.assertTrue(any("FOLDERS of imports.py has a circle" in line for line in violations({})))
                finally:
                    imports.FOLDERS[folder][row].remove(other)

    def test_a_row_without_a_folder(self):
        self.assertIn("core/stage/screen:1: tests/layering/imports.py has a row for this folder, and there is none", violations({}, whole=True))

    def test_a_header_that_is_not_there(self):
        self.assertIn('core/run/a.c:1: "base/gone.h" is no header of core/', violations({"core/run/a.c": '#include "base/gone.h"'}, whole=True))
        self.assertFalse(any("a.c" in line for line in violations({"core/task/a.c": '#include "task/evaluator_identity.h"'}, whole=True)))


if __name__ == "__main__":
    unittest.main()
