"""Timed runs as docs/timing.md has them, for work that PyTorch enqueues: the C library's flush and events, the same lock,
the same estimate and interval as plugins/profiler/time/statistics.c."""

import ctypes
import fcntl
import os
import random
import time

DRAWS = 1000
ALPHA = 0.01
RESOLUTION_MS = 0.0005  # of the driver's events
FLUSH_MS = 0.04  # of one flush, at least: 125 MB at 4 TB/s and a launch
LONGEST_HOLD_MS = 20.0


class Clock:
    """One device: its lock, flush and events."""

    def __init__(self, library, ordinal=0):
        self.c = ctypes.CDLL(library)
        self.c.rkb_timing_bus.restype = ctypes.c_char_p
        self.c.rkb_timing_device.restype = ctypes.c_char_p
        for name in ("start", "stop"):
            getattr(self.c, "rkb_timing_" + name).argtypes = [ctypes.c_void_p]
        self.c.rkb_timing_flush.argtypes = [ctypes.c_void_p, ctypes.c_int]
        self.c.rkb_timing_elapsed.argtypes = [ctypes.c_void_p, ctypes.POINTER(ctypes.c_float)]
        message = ctypes.create_string_buffer(256)
        if self.c.rkb_timing_open(ordinal, message, ctypes.c_size_t(len(message))):
            raise RuntimeError(message.value.decode())
        self.device = self.c.rkb_timing_device().decode()
        self.driver = self.c.rkb_timing_driver()
        path = f"/tmp/rkb-gpu-{self.c.rkb_timing_bus().decode()}.lock"
        self.lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)

    def __enter__(self):
        fcntl.flock(self.lock, fcntl.LOCK_EX)
        return self

    def __exit__(self, *_):
        fcntl.flock(self.lock, fcntl.LOCK_UN)

    def check(self, status):
        if status:
            raise RuntimeError(f"the CUDA driver says {status}")

    def run(self, work, stream, flushes):
        """Milliseconds between the events; flushes keep the device busy until work has been enqueued."""
        took = ctypes.c_float()
        self.check(self.c.rkb_timing_flush(stream, flushes))
        self.check(self.c.rkb_timing_start(stream))
        work()
        self.check(self.c.rkb_timing_stop(stream))
        self.check(self.c.rkb_timing_elapsed(stream, ctypes.byref(took)))
        return took.value

    def state(self):
        text = ctypes.create_string_buffer(1024)
        length = self.c.rkb_timing_state(text, ctypes.c_size_t(len(text)))
        return dict(line.split("=", 1) for line in text.raw[:length].decode().splitlines() if "=" in line)


def trimmed_mean(times):
    times = sorted(times)
    drop = len(times) // 5
    kept = times[drop : len(times) - drop]
    return sum(kept) / len(kept)


def estimate(clusters, seed=1):
    """(value, low, high) in milliseconds; clusters: one list of samples for each fresh set of buffers."""
    draw = random.Random(seed)
    everything = [time for cluster in clusters for time in cluster]
    value, draws = trimmed_mean(everything), []
    for _ in range(DRAWS):
        chosen = [draw.choice(clusters) for _ in clusters]
        draws.append(trimmed_mean([draw.choice(cluster) for cluster in chosen for _ in cluster]))
    draws.sort()
    low, high = draws[int(ALPHA / 2 * DRAWS)], draws[int((1 - ALPHA / 2) * (DRAWS - 1))]
    least = RESOLUTION_MS / len(everything) ** 0.5
    if high - low < least:
        low, high = min(low, value - least / 2), max(high, value + least / 2)
    return value, low, high


def host_time(work, synchronize, repeats=5):
    """Milliseconds to enqueue, and until done, on an idle device."""
    enqueue, done = [], []
    for _ in range(repeats):
        synchronize()
        began = time.perf_counter()
        work()
        enqueue.append((time.perf_counter() - began) * 1e3)
        synchronize()
        done.append((time.perf_counter() - began) * 1e3)
    return sorted(enqueue)[repeats // 2], sorted(done)[repeats // 2]


def flushes_for(enqueue_ms):
    """How often to read the cache's size so that the device is still busy when the work has been enqueued."""
    return max(1, min(int(1.5 * enqueue_ms / FLUSH_MS) + 1, int(LONGEST_HOLD_MS / FLUSH_MS)))
