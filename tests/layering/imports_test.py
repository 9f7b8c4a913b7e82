#!/usr/bin/env python3
"""Plants one upward import at a time in an empty tree and expects imports.py to point at it.  usage: imports_test.py"""
import os
import subprocess
import sys
import tempfile

CHECK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "imports.py")

BAD = [
    ("core/base/a.c", '#include "system/loop.h"'),
    ("core/base/a.c", '#include "gpu/worker/driver.h"'),
    ("core/base/a.c", "  #  include\t<uv.h>"),
    ("core/base/a.h", "#include <sqlite3.h>"),
    ("core/system/a.c", '#include "task/task.h"'),
    ("core/reference/operations/a.c", '#include "task/task.h"'),
    ("core/task/a.c", '#include "kernel/kernel.h"'),
    ("core/kernel/a.c", '#include "archive/archive.h"'),
    ("core/machine/lanes/a.c", '#include "base/text.h"'),
    ("core/archive/a.c", '#include "llm/llm.h"'),
    ("core/gpu/worker/a.c", '#include "stage/instance.h"'),
    ("core/pipeline/a.c", '#include "run/build_step.h"'),
    ("core/stage/a.c", '#include "run/run.h"'),
    ("core/run/a.c", '#include "cli/shared/run_result.h"'),
    ("core/run/a.c", "#include <curl/curl.h>"),
    ("core/new_room/a.c", ""),
    ("core/generator/graph/a.c", '#include "generator/text/writer.h"'),
    ("core/generator/tile/a.c", '#include "generator/row/rows.h"'),
    ("core/generator/text/a.c", '#include "generator/generator.h"'),
    ("core/generator/new_folder/a.c", ""),
    ("core/machine/ptx/a.c", '#include "machine/decode/program.h"'),
    ("core/machine/ptx/a.c", '#include "machine/face.h"'),
    ("core/base/a.c", '#include "text.h"'),
    ("core/base/a.c", '#include "../system/loop.h"'),
    ("core/base/deeper/a.c", '#include "run/run.h"'),
    ("core/include/rkb/a.h", '#include "base/text.h"'),
    ("core/include/rkb/a.h", "#include <uv.h>"),
    ("plugins/verifier/x/a.c", '#include "base/text.h"'),
    ("plugins/verifier/x/a.c", '#include "machine/machine.h"'),
    ("plugins/verifier/x/a.c", "#include <base/text.h>"),
    ("plugins/verifier/x/a.c", '#include "../y/b.h"'),
    ("plugins/verifier/x/a.c", "#include <uv.h>"),
]

GOOD = [
    ("core/base/a.c", '#include "base/text.h"\n#include <rkb/plugin.h>\n#include <yaml.h>'),
    ("core/run/a.c", '#include "archive/archive.h"\n#include <uv.h>'),
    ("core/machine/lanes/a.c", '#include "machine/machine.h"'),
    ("core/generator/tile/a.c", '#include "generator/tile/b.h"\n#include "generator/text/writer.h"\n#include "base/text.h"'),
    ("core/generator/generator.c", '#include "generator/search/changes.h"'),
    ("core/include/rkb/ext/a.h", "#include <rkb/plugin.h>\n#include <stdint.h>"),
    ("plugins/verifier/x/a.c", '#include "own.h"\n#include <rkb/plugin.h>\n#include <math.h>'),
    ("plugins/verifier/x/deep/a.c", '#include "../own.h"'),
    ("plugins/verifier/machine/a.c", '#include "machine/machine.h"'),
]

BAD.append(("CONTRIBUTING.md", "The folders: `core/web/`."))
GOOD.append(("CONTRIBUTING.md", "The folders: `core/base/`."))


def run(path, text):
    beside = ["core/machine/machine.h"] if path.startswith("core/machine/") else []
    with tempfile.TemporaryDirectory() as tree:
        for name in ("plugins/verifier/x/own.h", "plugins/verifier/y/b.h", "core/base/text.h", *beside, path):
            os.makedirs(os.path.dirname(os.path.join(tree, name)), exist_ok=True)
            with open(os.path.join(tree, name), "w", encoding="utf-8") as file:
                file.write(text + "\n" if name == path else "")
        return subprocess.run([sys.executable, CHECK, tree], capture_output=True, text=True, check=False)


failures = 0
for expected, cases in ((1, BAD), (0, GOOD)):
    for path, text in cases:
        result = run(path, text)
        if result.returncode != expected or (expected and not result.stdout.startswith((path + ":1: ", os.path.dirname(path) + ":1: "))):
            print(f"{path}: {text!r} gave {result.returncode}: {result.stdout}{result.stderr}")
            failures += 1
print(f"{len(BAD)} violations and {len(GOOD)} good trees, {failures} misjudged")
sys.exit(1 if failures else 0)
