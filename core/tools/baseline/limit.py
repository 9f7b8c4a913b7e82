"""A limit on the time that a compiler may take.  Main thread only."""

import signal


class Limit:
    """Raises TimeoutError in this thread when its time is up, and again every other second: compilers take an exception for a
    choice that does not work, and go on."""

    def __init__(self, seconds):
        self.seconds = seconds

    def __enter__(self):
        self.late = False
        self.before = signal.signal(signal.SIGALRM, self.end)
        signal.setitimer(signal.ITIMER_REAL, self.seconds, 2)

    def __exit__(self, *_):
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, self.before)
        if self.late:  # though something took the exception for a choice that does not work, and left that choice out
            self.end()

    def end(self, *_):
        self.late = True
        raise TimeoutError(f"not compiled in {self.seconds:g} s")
