"""Compiles in several processes side by side.  Each ends when the process that started it ends, in whatever way; otherwise it would
disturb the choosing and timing that come next."""

import ctypes
import os
import signal
import subprocess
import time

import choices

MOST_THREADS = 3  # compilers for each core, because a compiler does not always have work


def side_by_side(command, works, count, end):
    """Runs the command with each of the works, a list of arguments, count at a time, until all or the time is through.  SIGTERM is
    handled like ^C."""
    waiting, running = list(works), []
    count = min(count, max(len(waiting), 1))  # the cores are divided among the processes
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with choices.thrown_away(os.environ) as environment:
        environment.setdefault("TORCHINDUCTOR_COMPILE_THREADS", str(max(2, MOST_THREADS * os.cpu_count() // count)))
        try:
            while (waiting or running) and time.monotonic() < end:
                while waiting and len(running) < count:
                    work = waiting.pop(0)
                    child = subprocess.Popen(command + work, env=environment, stderr=subprocess.DEVNULL, start_new_session=True)
                    running.append((child, work))
                time.sleep(0.05)
                running = [entry for entry in running if entry[0].poll() is None]
        finally:
            for child, work in running:
                stop(child, work)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
    for work in waiting:
        print(f"{' '.join(work)}: not begun", flush=True)


def stop(child, work):
    """Ends a process and the compilers that it has started."""
    print(f"{' '.join(work)}: not compiled in time", flush=True)
    os.killpg(child.pid, signal.SIGKILL)
    child.wait()


def end_with_parent():
    """Asks the system to kill this process when its parent ends, in whatever way (prctl(2), PR_SET_PDEATHSIG)."""
    parent = os.getppid()
    ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)
