"""torch.compile's tuning takes turns on the device: what it times to choose a kernel is timed under the lock that every timed run
takes, so that several processes can compile side by side and none times a choice while another does.  What the others run besides
(a first call, an input that is made) and a processor that others use too can still spoil a time."""

import functools

CLASSES = ("Benchmarker", "TritonBenchmarker", "InductorBenchmarker")


def in_turns(benchmarking, lock):
    """Wraps the methods of torch._inductor.runtime.benchmarking that time something on a GPU; lock is a context manager that the
    one who holds it can enter again, because these methods call each other.  Returns how many there were."""
    wrapped = 0
    for owner in (getattr(benchmarking, name, None) for name in CLASSES):
        for name, method in list(vars(owner).items()) if owner else []:
            if name.startswith("benchmark_") and "gpu" in name and callable(method):
                setattr(owner, name, held(method, lock))
                wrapped += 1
    return wrapped


def held(method, lock):
    @functools.wraps(method)
    def with_the_device(*arguments, **named):
        with lock:
            return method(*arguments, **named)

    return with_the_device
