"""Sweeps of the shipped experiments against a model server whose behaviour is declared (tests/llm/server/declared_model.py).  Kernels are
checked by lint and measured by their bytes: the server decides how many a kernel has, so one knows what an experiment must find, and a
candidate takes a millisecond."""
import contextlib
import json
import os
import sqlite3
import subprocess

SECRET = "07" * 32
# lint rejects a broken manifest; the kernels' lines are what the tests call a profile.
PIPELINE = """rkb: 1
extends: {extends}
name: {name}
task: llama_rmsnorm
direction: forward
objective: {{minimise: [size.bytes], over: bench, combine: geomean}}
models:
  quick: {{base_url: "http://127.0.0.1:{port}/v1", key: {{env: DECLARED_KEY}}, check: false}}
remove: [machine, model]
insert:
  - {{into: screen, stage: {{use: rkb.profiler.size, needs: [lint]}}}}
{profiler}{more}"""
LINES = """  - {{into: screen, stage: {{use: rkb.profiler.process, id: lines, needs: [lint], with: {{command: [python3, lines_profiler.py], folder: {folder}, environment: [PYTHONPATH]}}}}}}
"""


class Runs:
    """source, binary: directories; folder: where sweeps and declarations are written."""

    def __init__(self, source, binary, folder):
        self.source, self.binary, self.folder = source, binary, folder
        self.environment = dict(os.environ, DECLARED_KEY="k" * 20, PYTHONPATH=f"{source}/core/python", PYTHONDONTWRITEBYTECODE="1",
                                XDG_CACHE_HOME=f"{folder}/cache")
        os.makedirs(f"{folder}/cache", mode=0o700, exist_ok=True)

    @contextlib.contextmanager
    def server(self, **declaration):
        """Yields the port of a server with this behaviour."""
        path = f"{self.folder}/declaration-{declaration['seed']}-{os.getpid()}.json"
        with open(path, "w", encoding="utf-8") as file:
            json.dump(declaration, file)
        process = subprocess.Popen(["python3", f"{self.source}/tests/llm/server/declared_model.py", path,
                                    f"{self.source}/tasks/llama_rmsnorm/seeds/forward/warp_per_row.cu"],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=self.environment)
        try:
            yield int(process.stdout.readline())
        finally:
            process.stdin.close()
            process.wait(60)

    def sweep(self, port, extends, name, more="", profile=False, seeds=1, changes=(), secret=SECRET):
        """Runs a sweep; returns its directory.  changes: for --set."""
        path, out = f"{self.folder}/{name}.yaml", f"{self.folder}/{name}"
        profiler = LINES.format(folder=f"{self.source}/tests/sweep/experiments") if profile else ""
        with open(path, "w", encoding="utf-8") as file:
            file.write(PIPELINE.format(extends=extends, name=name, port=port, more=f"seeds: {seeds}\n{more}", profiler=profiler))
        words = [f"{self.binary}/bin/rkb-run", "--sweep", path, "--out", out, "--quiet", "--secret", secret, "--cells", "2"]
        done = subprocess.run([*words, *(word for change in changes for word in ("--set", change))], capture_output=True, text=True,
                              env=self.environment, timeout=3000)
        assert done.returncode == 0, (name, done.returncode, done.stdout, done.stderr)
        return out

    def report(self, *directories):
        done = subprocess.run([f"{self.binary}/bin/rkb", "report", "--json", *directories], capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, (done.stdout, done.stderr)
        return json.loads(done.stdout)


def cells(sweep):
    """{(arm, seed): path of the archive}"""
    with open(f"{sweep}/sweep.json", encoding="utf-8") as file:
        plan = json.load(file)
    return {(cell["arm"], cell["seed"]): f"{sweep}/{cell['folder']}/run.sqlite" for cell in plan["cells"]}


def rows(archive, query, *values):
    with sqlite3.connect(f"file:{archive}?mode=ro", uri=True) as connection:
        return connection.execute(query, values).fetchall()


def prompts(archive, stage="%"):
    """[(stage, filled prompt)]"""
    return rows(archive, "SELECT call.stage, document.text FROM call JOIN document ON document.hash = call.prompt_hash WHERE call.stage LIKE ?", stage)
