"""Libraries through rkb-run and rkb library: what a run adds, what a later one reads and shows to a model, what is refused, and that equal
reads give equal archives.
usage: library.py SOURCE_DIRECTORY BINARY_DIRECTORY"""
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile

SOURCE, BINARY = sys.argv[1:3]
RKB, RUN = BINARY + "/bin/rkb", BINARY + "/bin/rkb-run"
SECRET = "%064x" % 7
os.environ.pop("RKB_PLUGIN_PATH", None)
WORK = tempfile.mkdtemp()
os.chmod(WORK, 0o755)
os.chdir(WORK)
os.environ["XDG_CACHE_HOME"] = WORK + "/cache"

SCREEN = """
screen:
  - {use: rkb.verifier.lint}
  - {use: rkb.verifier.machine, with: {families: 1, shapes: 0}}
  - {use: rkb.profiler.model}
"""
HEAD = "rkb: 1\nname: %s\ntarget: %s\nobjective: {minimise: [model.predicted_us]}\n"


def write(name, text):
    with open(name, "w") as file:
        file.write(text)


def run(pipeline, out, *more, task="softmax", expect=(0, 1)):
    done = subprocess.run([RUN, pipeline, "--task", f"{SOURCE}/tasks/{task}", "--out", out, "--quiet", "--secret", SECRET, "--jobs", "2", *more],
                          capture_output=True, text=True)
    assert done.returncode in expect, (done.returncode, done.stderr)
    return done


def query(out, sql):
    return sqlite3.connect(out + "/run.sqlite").execute(sql).fetchall()


def entries(folder):
    done = subprocess.run([RKB, "library", folder, "--json"], capture_output=True, text=True)
    return done, json.loads(done.stdout) if done.stdout else None


def same(left, right):
    done = subprocess.run([RKB, "diff", left, right], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def a_run_adds_its_best():
    write("seeds.yaml", HEAD % ("seeds", "h200") + "propose:\n  - {use: rkb.translator.seed, with: {files: [block_per_row.cu, warp_online.cu]}}\n" + SCREEN)
    run("seeds.yaml", "first", "--library", "elites")
    done, found = entries("elites")
    assert done.returncode == 0 and len(found) == 2, done
    accepted = {row[0]: row[1] for row in query("first", "SELECT source_hash, objective FROM candidate WHERE standing = 'accept'")}
    for elite in found:
        assert accepted[elite["source_hash"]] == elite["score"] and elite["operations"] == ["softmax"], elite
        assert (elite["task"], elite["direction"], elite["device"]) == ("softmax", "forward", "h200") and elite["limiter"], elite
    # The same run again finds the same: no file more, and the archive of what read two elites is not that of what read none.
    run("seeds.yaml", "again", "--library", "elites")
    assert len(entries("elites")[1]) == 2
    one = subprocess.run([RKB, "library", "elites", found[0]["identity"][:12]], capture_output=True, text=True).stdout
    assert "__global__" in one
    # An elite of other operations and of the same ones for another device, each further away than what softmax has.
    run("seeds.yaml", "other", "--library", "elites", "--set", "propose.seed.with.files=[]", "--set", "target=a100",
        "--set", "name=other")
    assert {elite["device"] for elite in entries("elites")[1]} == {"h200", "a100"}


MODEL = """models:
  m: {provider: command, command: [sh, %s/answer.sh], env: [PATH], cost_per_call: 0.01}
"""


def a_model_reads_the_nearest():
    write("answer.sh", f"cat > /dev/null\necho '```'\ncat {SOURCE}/tasks/softmax/seeds/forward/warp_online.cu\necho '```'\n")
    write("asked.yaml", HEAD % ("asked", "h200") + "limits: {generations: 1, cost_usd: 10}\n" + MODEL % WORK +
          "propose:\n  - {use: rkb.translator.library, with: {most: 2}}\n"
          "  - {use: rkb.translator.llm, id: translate, with: {models: [{model: m}], library: 1}}\n" + SCREEN +
          "search:\n  use: rkb.strategy.best_of_n\n  window: 2\n  operators:\n"
          "    - {use: rkb.mutator.llm, id: improve, with: {mode: improve, library: 3, models: [{model: m}]}}\n")
    best = min((e for e in entries("elites")[1] if e["device"] == "h200"), key=lambda e: e["score"])
    refused = run("asked.yaml", "none", expect=(2, 3))
    assert "--library DIR" in refused.stderr, refused.stderr
    for copy in ("before", "before2", "before3"):
        shutil.copytree("elites", copy)
    run("asked.yaml", "asked", "--library", "elites")
    prompts = dict(query("asked", "SELECT c.stage, d.text FROM call c JOIN document d ON d.hash = c.prompt_hash ORDER BY c.id DESC"))
    assert f"elite {best['identity'][:12]} of softmax forward on h200" in prompts["translate"]
    assert prompts["translate"].count("begins: elite ") == 1 and prompts["improve"].count("begins: elite ") == 3
    # The same limiter goes before the same device.
    limiter = query("asked", "SELECT count(*) FROM document WHERE text LIKE '%limited by%'")
    assert limiter[0][0] > 0
    # Proposals are candidates like others, the best one first; what they are is in their notes.
    notes = query("asked", "SELECT note, source_hash, standing FROM candidate WHERE operator = 'library' ORDER BY id")
    assert len(notes) == 2 and notes[0][0] == f"library {best['identity'][:12]}" and notes[0][2] == "accept", notes
    # What the run read is its own: of the run's directory the same run reads the same, though the folder has grown or is gone.
    run("asked.yaml", "repeated", "--library", "asked")
    same("asked", "repeated")
    run("asked.yaml", "from_copy", "--library", "before3")
    same("asked", "from_copy")


def a_resumed_run_reads_what_it_read():
    """Interrupted at once by the end of its input, and continued when the folder is empty."""
    process = subprocess.Popen([RUN, "asked.yaml", "--task", f"{SOURCE}/tasks/softmax", "--out", "cut", "--quiet", "--secret", SECRET, "--library",
                                "before2", "--until-input-ends"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    process.communicate(b"")
    shutil.rmtree("before2")
    facts = query("cut", "SELECT value FROM fact WHERE key = 'library'")
    assert facts == query("asked", "SELECT value FROM fact WHERE key = 'library'"), facts
    done = subprocess.run([RUN, "--resume", "cut", "--quiet"], capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr
    same("asked", "cut")
    assert not os.path.exists("before2")


def left_out(change):
    shutil.rmtree("bad", ignore_errors=True)
    shutil.copytree("before", "bad")
    name = sorted(os.listdir("bad"))[0]
    change("bad/" + name)
    done, found = entries("bad")
    assert done.returncode == 1 and len(found) == len(os.listdir("before")) - 1 and name in done.stderr, (done, found)
    return done.stderr


def hostile_entries_are_named_and_left_out():
    def link(path):
        os.rename(path, "outside.json")
        os.symlink(WORK + "/outside.json", path)

    def edit(path):
        text = open(path).read()
        write(path, text.replace("softmax", "softmin", 1))

    def grow(path):
        with open(path, "a") as file:
            file.write(" " * (1 << 20))

    def pipe(path):
        os.unlink(path)
        os.mkfifo(path)

    def name_twice(path):
        os.link(path, "twice.json")

    assert "it is a link" in left_out(link)
    assert "it was changed" in left_out(edit)
    assert "too large" in left_out(grow)
    assert "it is no file" in left_out(pipe)
    assert "other names" in left_out(name_twice)
    assert "others can write" in left_out(lambda path: os.chmod(path, 0o666))
    os.chmod("bad", 0o777)
    done = entries("bad")[0]
    assert done.returncode == 2 and "cannot be trusted" in done.stderr, done
    run("seeds.yaml", "untrusted", "--library", "bad", expect=(2,))
    assert not os.path.exists("untrusted"), "a run that was refused left a directory"
    os.symlink("before", "a_link")
    assert entries("a_link")[0].returncode == 2
    write("seeds.json", "no folder")
    assert entries("seeds.json")[0].returncode == 2
    done = subprocess.run([RUN, "seeds.yaml", "--sweep", "--library", "before", "--task", f"{SOURCE}/tasks/softmax"], capture_output=True, text=True)
    assert done.returncode == 2 and "one run on this machine" in done.stderr


def many_runs_write_at_once():
    command = [RUN, "seeds.yaml", "--task", f"{SOURCE}/tasks/softmax", "--quiet", "--library", "shared"]
    running = [subprocess.Popen(command + ["--out", f"at_once{i}", "--set", f"name=run{i % 3}"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) for i in range(6)]
    for process in running:
        assert process.wait() == 0, process.stderr.read()
    done, found = entries("shared")
    assert done.returncode == 0 and len(found) == 6 and len(os.listdir("shared")) == 6, (done, len(found))


try:
    a_run_adds_its_best()
    a_model_reads_the_nearest()
    a_resumed_run_reads_what_it_read()
    hostile_entries_are_named_and_left_out()
    many_runs_write_at_once()
finally:
    shutil.rmtree(WORK)
print("libraries are read, written and refused as described")
