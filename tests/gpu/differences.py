#!/usr/bin/env python3
"""Why PyTorch's times differ from those that others have seen: TF32 in cuDNN's convolutions, and a flush that writes.

    differences.py PREFIX [RUNS]

PREFIX is an installation of rkb.  Medians of RUNS (60) runs in microseconds by PyTorch's own events: behind a flush of 256 MiB that reads,
one that writes, and a wait of the device without a flush; the first two once more at the end.  No lock is taken: use the device alone."""

import json
import os
import statistics
import subprocess
import sys
import tempfile

PREFIX, RUNS = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 60
sys.path.insert(0, os.path.join(PREFIX, "libexec/rkb/baseline"))
import choices  # noqa: E402

os.environ[choices.CHOICES] = tempfile.mkdtemp(prefix="rkb-differences-")  # with TF32 nothing is to be kept
choices.use(os.environ)

import torch  # noqa: E402
import timed_work  # noqa: E402

OTHERS = ("mnist_cross_entropy", "mnist_pool", "mnist_linear", "mnist_linear_relu", "mnist_conv_relu_pool", "unet_linear", "layernorm",
         "llama_rmsnorm")
NOT_COUNTED = 5
ENQUEUED_CYCLES = 1000000  # while work that is no graph is enqueued
WAIT_CYCLES = 400000

cache = torch.empty(256 << 20, dtype=torch.uint8, device="cuda")
words, total = cache.view(torch.int32), torch.empty((), dtype=torch.int64, device="cuda")


def read():
    torch.sum(words, 0, out=total)


def write():
    cache.zero_()


def wait():
    torch.cuda._sleep(WAIT_CYCLES)


def median(timed, stream, flush):
    times = []
    for _ in range(NOT_COUNTED + RUNS):
        start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        timed.refresh()
        flush()
        if not timed.graph:
            torch.cuda._sleep(ENQUEUED_CYCLES)
        start.record(stream)
        timed()
        stop.record(stream)
        torch.cuda.synchronize()
        times.append(start.elapsed_time(stop) * 1e3)
    return statistics.median(times[NOT_COUNTED:])


def show(name, task, mode, graph):
    directory = os.path.join(PREFIX, "share/rkb/tasks", task)
    text = subprocess.run([os.path.join(PREFIX, "bin/rkb"), "cases", directory, "--direction", "forward"], check=True, capture_output=True).stdout
    case = next(case for case in json.loads(text)["cases"] if case["name"] == "bench/published")
    torch._dynamo.reset()
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        timed = timed_work.Work(timed_work.load_forward(directory), case, False, mode, graph, stream, torch.Generator("cuda").manual_seed(7))
        torch.cuda.synchronize()
        reading, writing, waiting, writing_again, reading_again = (median(timed, stream, flush) for flush in (read, write, wait, write, read))
    print(f"{task} published {name}: read {reading:.2f} {reading_again:.2f}, write {writing:.2f} {writing_again:.2f}, none {waiting:.2f}", flush=True)


def main():
    torch.backends.cuda.matmul.allow_tf32 = False
    for tf32 in (False, True):
        torch.backends.cudnn.allow_tf32 = tf32
        for mode in (None, "default"):
            for graph in (False, True):
                show(f"tf32={tf32} {mode or 'eager'}{' graph' if graph else ''}", "unet_conv2d", mode, graph)
    torch.backends.cudnn.allow_tf32 = False
    for task in OTHERS:
        show("default graph", task, "default", True)
        show("eager graph", task, None, True)


if __name__ == "__main__":
    main()
