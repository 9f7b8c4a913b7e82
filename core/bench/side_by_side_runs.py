"""The control of cores.py: runs of the same search side by side, each on a few cores of its own, with an archive, a cache and a coordinator of its own.
The runs share only the machine.  If each is slower than one run alone, the cause is the machine and not rkb: lower clocks, shared memory bandwidth, two
threads on one core, other work of the host."""
import os
import subprocess


def speeds_side_by_side(words, cores, own, folder, read_times):
    """Starts as many runs of `words` as fit into `cores`, each on `own` cores, and waits for them.  Returns `read_times` of each run's folder."""
    at_work = []
    for number in range(len(cores) // own):
        directory = os.path.join(folder, f"apart-{len(cores)}-{number}")
        taken = cores[number * own:(number + 1) * own]
        at_work.append((directory, subprocess.Popen(words(directory), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
                                                    env=dict(os.environ, XDG_CACHE_HOME=directory + "-cache"),
                                                    preexec_fn=lambda taken=taken: os.sched_setaffinity(0, taken))))
    for directory, process in at_work:
        if process.wait() not in (0, 1):
            raise SystemExit(f"a run apart ended with {process.returncode}: {directory}")
    return [read_times(directory) for directory, _ in at_work]
