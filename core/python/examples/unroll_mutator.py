"""A mutator: one loop that has no unroll pragma gets one, or loses it.  Use it in a pipeline as

    - {use: rkb.mutator.process, id: unroll, with: {command: [python3, unroll_mutator.py], folder: .}}
"""
import re

from rkb import stage

LOOP = re.compile(r"^([ \t]*)for \(", re.MULTILINE)
PRAGMA = re.compile(r"^[ \t]*#pragma unroll[^\n]*\n", re.MULTILINE)


@stage.mutator
def unroll(request):
    source = request.parent.source
    end_of_manifest = source.index("*/")
    loops = [match for match in LOOP.finditer(source) if match.start() > end_of_manifest]
    if not loops:
        return None
    loop = request.random.choice(loops)
    before, after = source[:loop.start()], source[loop.start():]
    written = list(PRAGMA.finditer(before))
    if written and written[-1].end() == len(before):
        before, note = before[:written[-1].start()], "pragma unroll taken away"
    else:
        count = request.random.choice([1, 2, 4, 8])
        before, note = f"{before}{loop.group(1)}#pragma unroll {count}\n", f"pragma unroll {count}"
    line = before.count("\n") + 1
    return stage.Candidate(before + after, tune=request.parent.tune, note=f"{note} before line {line}")


stage.run()
