"""The machine's own ceiling (cores.py): independent checks of one kernel, each on a core of its own and from an empty cache, with no process that
coordinates them.  What they lose with more cores is the machine's doing: cores that are two threads of one, clocks, memory, the kernel."""
import os
import resource
import shutil
import subprocess
import threading
import time


class Core(threading.Thread):
    """Checks one kernel again and again on one core, until the deadline has passed."""

    def __init__(self, words, core, folder, deadline):
        super().__init__(daemon=True)
        self.words, self.core, self.deadline = words, core, deadline
        self.cache, self.done, self.ended, self.failure = os.path.join(folder, f"cache-{core}"), 0, 0.0, None
        self.start()

    def run(self):
        while time.monotonic() < self.deadline and not self.failure:
            shutil.rmtree(self.cache, ignore_errors=True)
            check = subprocess.run(["taskset", "-c", str(self.core), *self.words], env=dict(os.environ, XDG_CACHE_HOME=self.cache), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
            if check.returncode:
                self.failure = f"rkb check ended with {check.returncode}: {check.stderr.decode(errors='replace')[-500:]}"
            self.done += 1
            self.ended = time.monotonic()


def checks_a_second(program, kernel, cores, seconds, folder):
    """(checks a second of all these cores together, seconds of processor time a check)."""
    rkb = os.path.join(os.path.dirname(os.path.abspath(program)), "rkb")
    words = [rkb, "check", os.path.abspath(kernel), "--secret", "07" * 32]
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    at_work = [Core(words, core, folder, began + seconds) for core in cores]
    for one in at_work:
        one.join()
        if one.failure:
            raise SystemExit(one.failure)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return sum(one.done / (one.ended - began) for one in at_work), spent / sum(one.done for one in at_work)
