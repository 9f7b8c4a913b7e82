"""Makes a run's archive of any size out of a small real one: candidates with parents, verdicts with witnesses, measurements, sources that
differ by a line, and conversations.  What is in it is a function of the numbers alone, so a test knows what a page must show."""
import hashlib
import json
import os
import shutil
import sqlite3
import subprocess

HOSTILE = '</script><script>window.owned = 1</script><img src=x onerror="window.owned = 2"><!--'
KERNEL = """/* rkb-kernel: 1
task: softmax
schedule:
  version: 1
  launches:
    - {{map: row, threads: {threads}, vector: 4}}
*/
#define STEP {step}
__global__ void softmax(const float *x, float *y, long n) {{
   // candidate {id}
   for (long i = threadIdx.x; i < n; i += STEP)
      y[i] = x[i];
}}
"""
LINE = 12  # of the store, which a witness names
CALLS_EVERY = 25  # requests


def standing_of(number):
    """Every fifth is rejected, every tenth is a duplicate of its parent, the first two are accepted."""
    if number > 2 and number % 10 == 0:
        return "duplicate"
    return "reject" if number > 2 and number % 5 == 0 else "accept"


def value_of(number, count):
    return 100.0 - 60.0 * (number / count) + (number * 7919 % 101) / 10


def parents_of(number):
    return [] if number <= 2 else [number - 1 - (number * 31 % min(number - 1, 3))] + ([1] if number % 7 == 0 else [])


def source_of(number):
    return KERNEL.format(threads=32 * (1 + number % 8), step=number % 64 + 1, id=number) + (f"// {HOSTILE}\n" if number == 3 else "")


def hash_of(number):
    return hashlib.sha256(str(number).encode()).hexdigest()


def start(rkb_run, source, folder):
    """A real run of three candidates, for its schema and its facts."""
    subprocess.run([rkb_run, f"{source}/tests/run/climb.yaml", "--set", "limits.candidates=3", "--out", folder, "--quiet"], check=False,
                   capture_output=True, timeout=600)


def add_candidate(archive, number, count):
    standing, parents, source = standing_of(number), parents_of(number), source_of(number)
    again = parents[0] if standing == "duplicate" else 0
    request = -1 if number <= 2 else number - 3
    accepted = standing == "accept"
    archive.execute("INSERT OR IGNORE INTO source(hash, text) VALUES (?, ?)", (hash_of(number), source))
    archive.execute("INSERT OR IGNORE INTO request VALUES (?, ?, ?, ?, 'ok', 'finished', NULL, NULL, NULL)",
                    (request, "propose" if request < 0 else "search", max(request, 0), "seed" if request < 0 else "edit"))
    archive.execute(f"INSERT INTO candidate VALUES ({', '.join('?' * 20)})",
                    (number, request, number - 1 if number <= 2 else 0, hash_of(number), hash_of(number), json.dumps({"BLOCK": 32 * (1 + number % 8)}),
                     "seed" if number <= 2 else "edit", "softmax", "forward", "accept" if accepted else "none" if again else "reject",
                     "" if accepted or again else "memory.out_of_bounds", again or None, "none", value_of(number, count) if accepted else None,
                     None, None, None, None, HOSTILE if number == 3 else f"step {number}", 1700000000000 + number))
    for position, parent in enumerate(parents):
        archive.execute("INSERT INTO parent VALUES (?, ?, ?, 'parent')", (number, position, parent))
    if again:
        return
    witness = json.dumps({"line": LINE, "kernel": "softmax", "block": [number, 0, 0], "thread": [7, 0, 0], "case": "square", "got": 1.5, "want": 2})
    verdicts = [("lint", "accept", "", "nothing to remark", None)]
    verdicts.append(("machine", "accept", "", "all cases agree", None) if accepted else
                    ("machine", "reject", "memory.out_of_bounds", f"candidate {number} writes past y", witness))
    for position, (stage, found, reason, message, evidence) in enumerate(verdicts, 1):
        archive.execute("INSERT INTO verdict VALUES (?, ?, ?, ?, ?, ?, ?, NULL, 0, ?, 1, 1, 0.01)",
                        (number, stage, position, found, reason, message, evidence, int(stage == "machine")))
    if accepted:
        for name, case in [("model.us", "")] + [("model.us", f"case {i}") for i in range(4)]:
            archive.execute("INSERT INTO measurement VALUES (?, ?, ?, ?, 'us', 'lower', NULL, 'predicted', NULL, 0, 1)",
                            (number, name, case, value_of(number, count)))


def add_call(archive, request):
    for kind, text in (("prompt", f"Make candidate {request + 3} faster. {HOSTILE}"), ("reply", f"Here is candidate {request + 3}.")):
        archive.execute("INSERT OR IGNORE INTO document VALUES (?, ?)", (f"{kind} {request}", text))
    archive.execute("INSERT INTO call(request, child, stage, model, state, prompt_hash, reply_hash, reserved_usd, cost_usd, input_tokens, "
                    "output_tokens, seconds, started_ms, outcome) VALUES (?, 0, 'edit', 'some-model', 'finished', ?, ?, 0.02, 0.01, 900, 80, 2.5, 0, "
                    "'answered')", (request, f"prompt {request}", f"reply {request}"))


def make(folder, count):
    """Replaces the candidates of the run in folder."""
    with sqlite3.connect(os.path.join(folder, "run.sqlite")) as archive:
        for table in ("measurement", "verdict", "parent", "candidate", "source", "request_input", "request", "call", "document", "dialogue", "promotion"):
            archive.execute(f"DELETE FROM {table}")
        bests, best = [], 1e9
        for number in range(1, count + 1):
            add_candidate(archive, number, count)
            if standing_of(number) == "accept" and value_of(number, count) < best:
                best = value_of(number, count)
                bests.append({"candidate": number, "elapsed": number * 0.25})
        for request in range(0, max(count - 2, 0), CALLS_EVERY):
            add_call(archive, request)
        facts = {"objective": "model.us", "task": "softmax", "direction": "forward", "target": "h200", "name": "made", "ended": "limit",
                 "ended_because": "limits.candidates reached", "times": json.dumps({"elapsed": count * 0.25, "bests": bests, "stages": [
                     {"id": "lint", "section": "screen", "jobs": count, "total": 1.0, "longest": 0.1},
                     {"id": "machine", "section": "screen", "jobs": count, "total": 9.0, "longest": 0.5}]})}
        for key, value in facts.items():
            archive.execute("INSERT OR REPLACE INTO fact VALUES (?, ?)", (key, value))
    return best, bests


def copy(folder, to):
    shutil.copytree(folder, to)
