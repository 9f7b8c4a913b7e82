#!/usr/bin/env python3
"""Stages that are programs, through the programs that users call.  usage: process_stages.py SOURCE_DIRECTORY BUILD_DIRECTORY

Every kind keeps the contract under rkb-plugin-test.  A run with a Python mutator, profiler and strategy gives the same archive on one worker
and on four, and when it was ended and resumed.  Each line of misbehaving.tsv is a program that breaks the protocol, and gets its verdict."""
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

source, build = map(os.path.abspath, sys.argv[1:3])
here = os.path.dirname(os.path.abspath(__file__))
programs, examples = os.path.join(here, "programs"), os.path.join(source, "core/python/examples")
os.environ["PYTHONPATH"] = os.path.join(source, "core/python")
SECRET = "5" * 64
failures = []


def expect(holds, what):
    if not holds:
        failures.append(what)
        print("FAILED:", what)


def call(*words, codes=(0,)):
    """What a program printed; a deadline ends a hang."""
    done = subprocess.run([os.path.join(build, "bin", words[0]), *words[1:]], capture_output=True, text=True, timeout=600, check=False)
    expect(done.returncode in codes, f"{' '.join(words)} ended with {done.returncode}: {done.stderr[-800:]}")
    return done.stdout + done.stderr


def stage(kind, program, folder=programs, **more):
    options = {"command": ["python3", program], "folder": folder, "environment": ["PYTHONPATH"], **more}
    return {"use": f"rkb.{kind}.process", "with": options}


def write(path, pipeline):
    with open(path, "w", encoding="utf-8") as file:
        json.dump(pipeline, file)  # JSON is YAML
    return path


def try_kind(kind):
    said = call("rkb-plugin-test", os.path.join(build, "plugins", kind, "process.so"), "--with",
                json.dumps(stage(kind, "every_kind.py")["with"]))
    expect("keeps the contract\n" in said, f"rkb-plugin-test on a {kind}: {said}")


def pipeline(**more):
    return {
        "rkb": 1, "name": "program", "seed": 3, "task": "softmax", "target": "h200", "objective": {"minimise": ["length.value"]},
        "limits": {"candidates": 16, "wall": "10m"}, "propose": [{"use": "rkb.translator.seed"}],
        "screen": [{**stage("verifier", "every_kind.py"), "id": "short"}, {**stage("profiler", "every_kind.py"), "id": "length"}],
        "search": {**stage("strategy", "every_kind.py"), "window": 4,
                   "operators": [{**stage("mutator", "unroll_mutator.py", examples), "id": "unroll"}, {"use": "rkb.mutator.tune"}]}, **more}


def try_runs(scratch):
    path = write(os.path.join(scratch, "run.json"), pipeline())
    one, four, resumed = (os.path.join(scratch, name) for name in ("one", "four", "resumed"))
    call("rkb-run", path, "--out", one, "--jobs", "1", "--secret", SECRET, codes=(0, 1))
    call("rkb-run", path, "--out", four, "--jobs", "4", "--secret", SECRET, codes=(0, 1))
    expect("0 differences" in call("rkb", "diff", one, four), "one worker and four give the same archive")
    call("rkb-run", path, "--out", resumed, "--secret", SECRET, "--set", "limits.candidates=6", codes=(0, 1))
    call("rkb-run", "--resume", resumed, "--set", "limits.candidates=16", codes=(0, 1))
    expect("0 differences" in call("rkb", "diff", one, resumed), "a resumed run gives the same archive")
    report = call("rkb", "report", one)
    expect("length.value" in report and "unroll" in report, f"the report names the stages: {report}")


def try_misbehaving(scratch):
    with open(os.path.join(here, "misbehaving.tsv"), encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file if not line.startswith("#")]
    # Only the one that never answers waits for its limit.
    entries = [{"use": "rkb.verifier.process", "id": how, "needs": [], "retries": 0,
                "with": {"command": ["python3", "misbehaving.py", how], "folder": programs, "wait": "1s" if how == "stall" else "5m"}}
               for how, _, _ in rows]
    entries = [{**entry, "deadline": "6m"} for entry in entries]
    path = write(os.path.join(scratch, "misbehaving.json"), {"rkb": 1, "name": "m", "task": "softmax", "target": "h200", "screen": entries})
    kernel = os.path.join(source, "tasks/softmax/seeds/forward/warp_online.cu")
    said = call("rkb", "check", kernel, "--pipeline", path, "--json", codes=(3,))
    verdicts = {one["stage"]: one for one in json.loads(said[said.index('{"direction"'):].splitlines()[0])["verdicts"]}
    for how, reason, words in rows:
        got = verdicts.get(how, {"reason": "(no verdict)", "message": ""})
        wanted = "" if reason == "-" else reason
        expect(got["reason"] == wanted, f"{how}: the reason is {got['reason']}, not {wanted}: {got['message']}")
        expect(words in got["message"], f"{how}: the message is '{got['message']}', not '{words}'")
    expect(verdicts["environment"]["message"] == "PATH", "a program sees PATH and no other variable")


def main():
    with ThreadPoolExecutor(2) as two:
        list(two.map(try_kind, ["translator", "mutator", "verifier", "profiler", "strategy"]))
    with tempfile.TemporaryDirectory() as scratch:
        try_runs(scratch)
        try_misbehaving(scratch)
    print(f"{len(failures)} failures")
    return 1 if failures else 0


sys.exit(main())
