"""The machine's own ceiling (cores.py): independent checks of one kernel, each on a core of its own and from an empty cache, with no process that
coordinates them.  What they lose with more cores is the machine's doing: cores that are two threads of one, clocks, memory, the kernel."""
import os
import resource
import subprocess

# One shell a core, bound to it.  Threads of one Python would share a lock, and wait for it while all cores are busy.
# The first check of each reads the program from the disk, so no time is taken of it.
LOOP = """"$2" check "$3" --secret "$4" >"$5" 2>&1 || exit 1
began=$(date +%s%N) done=0
while [ $(($(date +%s%N) - began)) -lt "$1" ]; do
  rm -rf "$XDG_CACHE_HOME"
  "$2" check "$3" --secret "$4" >"$5" 2>&1 || exit 1
  done=$((done + 1))
done
echo $done $(($(date +%s%N) - began))"""


def checks_a_second(program, kernel, cores, seconds, folder):
    """(checks a second of all these cores together, seconds of processor time a check)."""
    rkb = os.path.join(os.path.dirname(os.path.abspath(program)), "rkb")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    at_work = []
    for core in cores:
        said = os.path.join(folder, f"said-{core}")
        words = ["taskset", "-c", str(core), "sh", "-c", LOOP, "sh", str(int(seconds * 1e9)), rkb, os.path.abspath(kernel), "07" * 32, said]
        at_work.append((said, subprocess.Popen(words, env=dict(os.environ, XDG_CACHE_HOME=os.path.join(folder, f"cache-{core}")), stdin=subprocess.DEVNULL,
                                               stdout=subprocess.PIPE, text=True)))
    rate, checks = 0.0, 0
    for said, one in at_work:
        output, _ = one.communicate()
        if one.returncode:
            with open(said, encoding="utf-8") as file:
                raise SystemExit(f"rkb check failed: {file.read()[-500:]}")
        done, took = (int(word) for word in output.split())
        rate += done / took * 1e9
        checks += done
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return rate, (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / checks
