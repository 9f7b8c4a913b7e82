"""What a machine leaves to any program (cores.py): runs of the same search side by side, each on a few cores of its own, with an archive, a cache and a
coordinator of its own.  They share nothing but the machine.  What they lose beside one such run alone is the machine's doing: clocks, memory, cores
that are two threads of one, other work of the host."""
import os
import subprocess


def speeds_apart(words, cores, own, folder, read_times):
    """Runs of `words` side by side, on `own` of `cores` each; what `read_times` says of each run's folder.
    Runs that other runs leave no cores for are not started."""
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
