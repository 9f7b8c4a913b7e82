"""torch.compile's tuning: what it times to choose a kernel is timed under the lock that every timed run takes, and counted, so
that a process which should only load choices can be seen to have made none."""

import functools
import inspect

CLASSES = ("Benchmarker", "TritonBenchmarker", "InductorBenchmarker")
ROUGH_MS = 2  # the time for timing a choice; PyTorch takes 25


class Tuning:
    """Wraps the methods of torch._inductor.runtime.benchmarking that time something on a GPU.  lock is a context manager that the
    one who holds it can enter again, because these methods call each other; None: nothing is held.  rough: a short look is enough,
    because what it leads to is not kept."""

    def __init__(self, benchmarking, lock, rough=False):
        self.lock, self.rough, self.wrapped, self.timed = lock, rough, 0, 0
        for owner in (getattr(benchmarking, name, None) for name in CLASSES):
            for name, method in list(vars(owner).items()) if owner else []:
                if name.startswith("benchmark_") and "gpu" in name and callable(method):
                    setattr(owner, name, self.around(method))
                    self.wrapped += 1

    def around(self, method):
        shorter = {"max_benchmark_duration": ROUGH_MS}
        if not self.rough or not shorter.keys() <= inspect.signature(method).parameters.keys():
            shorter = {}

        @functools.wraps(method)
        def with_the_device(*arguments, **named):
            self.timed += 1
            if self.lock is None:
                return method(*arguments, **dict(named, **shorter))
            with self.lock:
                return method(*arguments, **dict(named, **shorter))

        return with_the_device
