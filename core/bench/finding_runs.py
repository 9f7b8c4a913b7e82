"""One run of the finding benchmark: the pipeline, the task without its seeds, rkb-run, and what its archive says afterwards."""
import dataclasses
import os
import shutil
import signal
import sqlite3
import subprocess
import threading
import time

MARKS = (1, 10, 20, 50, 100, 200, 500, 1000, 2000)  # candidates after which the best so far is written down
WRITERS = ("plain", "graph", "draw", "schedule")  # operators that write kernels from the graph; others edit text

SCREEN = """screen:
  - use: rkb.verifier.lint
  - use: rkb.verifier.machine
  - use: rkb.profiler.model
"""

UNCHECKED = "search.slower"  # why a candidate was left unchecked: no defect
GUESS = """insert:
  - {before: machine, stage: {use: rkb.profiler.early_counts}}
  - {before: machine, stage: {use: rkb.profiler.early_model, id: early}}
  - {before: machine, stage: {use: rkb.verifier.slower, id: early_slower, on_unknown: stop, with: {equal: true}}}
  - {before: machine, stage: {use: rkb.profiler.model, id: guess}}
  - {before: machine, stage: {use: rkb.verifier.slower, on_unknown: stop, with: {equal: true}}}
"""


@dataclasses.dataclass
class Place:
    """Where runs find their programs and leave their directories; end: time.monotonic() at which they are interrupted, or None."""
    build: str
    tasks: str
    runs: str
    keep: str
    defects: str
    jobs: int
    end: float

    def is_late(self):
        return self.end is not None and time.monotonic() > self.end

    def program(self, name):
        return os.path.join(self.build, "bin", name)


def pipeline_text(what, count, seed, source):
    limits = f"limits: {{candidates: {count}, generations: 100000, stale: 100000, within: 0.03, wall: 12h}}\n"
    head = (f"rkb: 1\nname: finding\nseed: {seed}\ntarget: h200\n"
            "objective: {minimise: [model.predicted_us], over: bench, combine: geomean, least: model.least_us}\n")
    if what in ("best", "niches", "steps", "guess"):
        rest = {"best": "}\n", "guess": "}\n" + GUESS, "steps": ", search.operators.schedule.with.forecast: 0}\n",
                "niches": ", search.with.islands: 8, search.with.niches: [structure.plan, structure.mapping, structure.staging]}\n"
                          "insert: [{before: model, stage: {use: rkb.profiler.structure}}]\n"}[what]
        return (f"rkb: 1\nname: finding\nextends: {source}/pipelines/stock-no-seeds.yaml\n"
                f"set: {{seed: {seed}, limits.candidates: {count}, limits.generations: 100000, limits.stale: 100000, limits.wall: 12h{rest}")
    if what == "random":  # the limits of the other arm; the best of all that are drawn
        return (head + limits + "propose:\n  - {use: rkb.translator.graph, with: {starts: [together]}}\n" + SCREEN +
                "search:\n  use: rkb.strategy.best_of_n\n  window: 16\n  operators:\n    - {use: rkb.translator.graph, id: draw}\n")
    if what == "hand":
        return head + "propose:\n  - use: rkb.translator.seed\n" + SCREEN
    plain = "  - {use: rkb.translator.graph, id: plain, with: {starts: [together]}}\n" if what == "first" else ""  # as stock does
    start = {"first": "suited", "apart": "apart"}[what]
    return head + f"propose:\n{plain}  - {{use: rkb.translator.graph, with: {{starts: [{start}]}}}}\n" + SCREEN


def figures(path, count):
    """Reads an archive: the best value after each of MARKS candidates, how many were built, and which kernels of the generator were not accepted."""
    base = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    rows = base.execute("select id, standing, reason, objective, operator, ptx_hash from candidate where duplicate_of is null order by id").fetchall()
    messages = dict(base.execute("select candidate, message from verdict where standing <> 'accept' and shadow = 0 order by position desc").fetchall())
    notes = dict(base.execute("select id, note from candidate").fetchall())
    base.close()
    best, after, defects, written, operators, built, course, unchecked = None, {}, [], 0, {}, 0, [], 0
    for number, (candidate, standing, reason, objective, operator, ptx) in enumerate(rows, 1):
        credit = operators.setdefault(operator, [0, 0])  # candidates, and how often one of them was the best so far
        credit[0] += 1
        built += 1 if ptx else 0
        if standing == "accept" and objective is not None and (best is None or objective < best):
            best = objective
            credit[1] += 1
            course.append([built, best])  # the best so far, from so many builds on
        if number in MARKS or number == count:
            after[number] = best
        if reason == UNCHECKED:
            unchecked += 1
        elif operator in WRITERS:
            written += 1
            if standing != "accept":
                defects.append([standing, reason, (notes.get(candidate) or "")[:160], (messages.get(candidate) or "")[:240]])
    return {"us": best, "candidates": len(rows), "built": built, "course": course, "accepted": sum(1 for row in rows if row[1] == "accept"),
            "after": after, "written": written, "unchecked": unchecked, "defects": defects, "operators": operators}


def first_accepted(path, begun, before):
    """Seconds until the archive had an accepted kernel, and its time by the model.  begun: of this sitting, in seconds since 1970; before: seconds of
    earlier ones.  None: there is none, or an earlier sitting found it and nobody looked."""
    base = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    rows = base.execute("select archived_ms, objective from candidate where standing = 'accept' order by archived_ms, id limit 1").fetchall()
    base.close()
    seconds = 1e-3 * rows[0][0] - begun if rows else -1
    return [round(before + seconds, 2), rows[0][1]] if seconds >= 0 else None


def keep_defects(path, stem):
    """Writes the text of each kernel that the generator wrote and the screen did not accept, with the reason."""
    base = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    rows = base.execute(f"""select candidate.id, candidate.standing, candidate.reason, ifnull(note, ''), text,
        ifnull((select group_concat(stage || ': ' || message || ' ' || ifnull(evidence, ''), char(10)) from verdict
                where verdict.candidate = candidate.id and verdict.standing <> 'accept' and shadow = 0), '')
        from candidate join source on source.hash = source_hash
        where candidate.standing <> 'accept' and candidate.reason <> ? and duplicate_of is null and operator in ({','.join('?' * len(WRITERS))})""", (UNCHECKED, *WRITERS)).fetchall()
    base.close()
    for candidate, standing, reason, note, text, said in rows:
        with open(f"{stem}.{candidate}.cu", "w", encoding="utf-8") as file:
            file.write(text)
        with open(f"{stem}.{candidate}.txt", "w", encoding="utf-8") as file:
            file.write(f"{standing} {reason}\n{note}\n{said}\n")


def copy_task(place, task, what):
    """Returns the task's directory.  For runs that must not read seeds it is a copy without seeds, below the run's directory."""
    path = os.path.join(place.tasks, task)
    if what == "hand":
        return path
    copy = os.path.join(place.runs, "tasks", task)
    if not os.path.isdir(copy):
        scratch = f"{copy}.{os.getpid()}.{threading.get_ident()}"
        shutil.copytree(path, scratch, ignore=shutil.ignore_patterns("seeds", "best"))
        try:
            os.rename(scratch, copy)
        except OSError:  # another run was faster
            shutil.rmtree(scratch)
    return copy


def execute(place, words):
    """Runs rkb-run until it ends or must be interrupted.  Returns its status, standard error, and its and its children's processor seconds."""
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
    timer = None if place.end is None else threading.Timer(max(0.0, place.end - time.monotonic()), process.send_signal, [signal.SIGINT])
    if timer:
        timer.start()
    text = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if timer:
        timer.cancel()
    return process.returncode, text, usage.ru_utime + usage.ru_stime


def command_of(place, run, task, direction, what, count, seed):
    if os.path.exists(os.path.join(run, "run.sqlite")):
        return [place.program("rkb-run"), "--resume", run, "--jobs", str(place.jobs), "--quiet"]
    shutil.rmtree(run, ignore_errors=True)
    pipeline = f"{run}.yaml"
    with open(pipeline, "w", encoding="utf-8") as file:
        file.write(pipeline_text(what, count, seed, os.path.dirname(place.tasks)))
    return [place.program("rkb-run"), pipeline, "--task", task, "--direction", direction, "--secret", f"{seed:064x}", "--out", run,
            "--jobs", str(place.jobs), "--quiet"]


def read_cost(path):
    if not os.path.exists(path):
        return 0.0, 0.0
    with open(path, encoding="utf-8") as file:
        seconds, cpu = file.read().split()
    return float(seconds), float(cpu)


def measure(place, task, direction, what, count, seed):
    """Makes the run, or continues it, and returns its line.  The directory of a run that ended is removed."""
    os.makedirs(os.path.join(place.runs, "tasks"), exist_ok=True)
    run = os.path.join(place.runs, f"{task}.{direction}.{what}.{count}.{seed}")
    seconds, cpu = read_cost(f"{run}.cost")  # of earlier sittings
    earlier, begun, started = seconds, time.time(), time.monotonic()
    status, text, used = execute(place, command_of(place, run, copy_task(place, task, what), direction, what, count, seed))
    seconds, cpu = seconds + time.monotonic() - started, cpu + used
    row = {"task": task, "direction": direction, "what": what, "count": count, "seed": seed, "ended": status in (0, 1), "us": None, "candidates": 0,
           "seconds": round(seconds, 2), "cpu": round(cpu, 2)}
    archive = os.path.join(run, "run.sqlite")
    if os.path.exists(archive):
        row.update(figures(archive, count))
        row["accepted_first"] = first_accepted(archive, begun, earlier)
        if place.keep:
            subprocess.run([place.program("rkb"), "best", run, "--out", os.path.join(place.keep, f"{task}.{direction}.{what}{seed}.cu")],
                           capture_output=True, check=False)
        if place.defects:
            keep_defects(archive, os.path.join(place.defects, f"{task}.{direction}.{what}{seed}"))
    if status not in (0, 1, 130):
        row["error"] = text.strip()[-300:]
    if status == 130:
        with open(f"{run}.cost", "w", encoding="utf-8") as file:
            file.write(f"{seconds} {cpu}")
    else:
        shutil.rmtree(run, ignore_errors=True)
        for rest in (f"{run}.yaml", f"{run}.cost"):
            if os.path.exists(rest):
                os.remove(rest)
    return row
