"""Timed runs as docs/timing.md has them, for work that PyTorch enqueues: the C library's flush and events, the same lock,
the same estimate and interval as plugins/profiler/time/statistics.c."""

import contextlib
import ctypes
import fcntl
import json
import os
import threading
import time

import numpy

DRAWS = 1000
ALPHA = 0.01
RESOLUTION_MS = 0.0005  # the resolution of the driver's events
FLUSH_MS = 0.04  # the least time of one flush: 125 MB at 4 TB/s, and a launch
LONGEST_HOLD_MS = 20.0
MOST_FLUSHES = int(LONGEST_HOLD_MS / FLUSH_MS)
TRIES = 4  # how often a run is repeated if the host was too slow for it
LOCK_WAIT_S = 0.005
ANCHOR_ROUNDS = 48  # three in each of sixteen places (core/gpu/worker/worker_kernels.h)


def lock_file(file):
    """Polls for the lock, as every program does.  A program that waits in the kernel would be woken first and overtake those that poll."""
    while True:
        try:
            return fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(LOCK_WAIT_S)


def lock_path(bus):
    """The file that core/gpu/device_lock.c locks too: in a folder of this user's, where nobody else can hold it."""
    cache = os.environ.get("XDG_CACHE_HOME", "")
    folder = os.path.join(cache if cache.startswith("/") else os.path.join(os.environ["HOME"], ".cache"), "rkb", "locks")
    os.makedirs(os.path.dirname(folder), exist_ok=True)
    with contextlib.suppress(FileExistsError):
        os.mkdir(folder, 0o700)
    about = os.stat(folder)
    if about.st_uid != os.geteuid() or about.st_mode & 0o022:
        raise RuntimeError(f"{folder} is not yours alone: set XDG_CACHE_HOME to a folder of your own")
    return os.path.join(folder, f"gpu-{bus}.lock")


class DeviceLock:
    """A lock between processes on a file, which a thread that holds it may take again.  A second file is the turnstile: who waits for
    the device stands in it, so that one who gives the device back and wants it at once again comes after (core/gpu/devices.c
    does the same)."""

    def __init__(self, path):
        self.file, self.turnstile = (os.open(name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600) for name in (path, path + ".next"))
        self.threads, self.counting = threading.RLock(), threading.Lock()
        self.depth = 0

    def take(self):
        with self.counting:
            if self.depth == 0:
                lock_file(self.turnstile)
                try:
                    lock_file(self.file)
                finally:
                    fcntl.flock(self.turnstile, fcntl.LOCK_UN)
            self.depth += 1

    def give(self):
        with self.counting:
            self.depth -= 1
            if self.depth == 0:
                fcntl.flock(self.file, fcntl.LOCK_UN)

    @contextlib.contextmanager
    def for_the_process(self):
        """Holds the lock for all threads of the process, because PyTorch compiles and tunes backward passes in a thread of its own."""
        self.take()
        try:
            yield
        finally:
            self.give()

    def __enter__(self):
        self.threads.acquire()
        self.take()
        return self

    def __exit__(self, *_):
        self.give()
        self.threads.release()


class Clock:
    """One device: its lock, flush and events.  As a context manager it is the lock, which its holder may take again."""

    def __init__(self, library, ordinal=0):
        self.c = ctypes.CDLL(library)
        self.c.rkb_timing_bus.restype = ctypes.c_char_p
        self.c.rkb_timing_device.restype = ctypes.c_char_p
        for name in ("start", "stop"):
            getattr(self.c, "rkb_timing_" + name).argtypes = [ctypes.c_void_p]
        self.c.rkb_timing_anchor.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_uint]
        self.c.rkb_timing_flush.argtypes = [ctypes.c_void_p, ctypes.c_int]
        self.c.rkb_timing_elapsed.argtypes = [ctypes.c_void_p, ctypes.POINTER(ctypes.c_float)]
        message = ctypes.create_string_buffer(256)
        if self.c.rkb_timing_open(ordinal, message, ctypes.c_size_t(len(message))):
            raise RuntimeError(message.value.decode())
        self.device = self.c.rkb_timing_device().decode()
        self.driver = self.c.rkb_timing_driver()
        self.lock = DeviceLock(lock_path(self.c.rkb_timing_bus().decode()))
        self.late = 0  # runs that hold some of the host's time

    def __enter__(self):
        self.lock.__enter__()
        return self

    def __exit__(self, *_):
        self.lock.__exit__()

    def check(self, status):
        if status:
            raise RuntimeError(f"the CUDA driver says {status}")

    def run(self, work, stream, flushes, refresh=None):
        """Milliseconds between the events; flushes keep the device busy until work has been enqueued.  Where the host was slower than
        that, its time is part of the run: another is taken behind twice as many flushes, and the last one is counted in late."""
        for _ in range(TRIES):
            if refresh:
                refresh()
            took, enqueued_ms = self.run_once(work, stream, flushes)
            if enqueued_ms <= flushes * FLUSH_MS:
                return took
            flushes = min(2 * flushes, MOST_FLUSHES)
        self.late += 1
        return took

    def run_once(self, work, stream, flushes):
        """Times one run: returns its time on the device, and the time from the first flush until the host had enqueued the run."""
        took = ctypes.c_float()
        self.check(self.c.rkb_timing_flush(stream, flushes))
        began = time.perf_counter()
        self.check(self.c.rkb_timing_start(stream))
        work()
        self.check(self.c.rkb_timing_stop(stream))
        enqueued = time.perf_counter() - began
        self.check(self.c.rkb_timing_elapsed(stream, ctypes.byref(took)))
        return took.value, enqueued * 1e3

    def anchors(self, stream):
        """The fixed copy and the fixed chain of additions that the worker times too, in microseconds, the copy in all of its places
        equally often."""
        found = {}
        with self:
            for which, name in enumerate(("copy_us", "chain_us")):
                times = [self.run(lambda: self.check(self.c.rkb_timing_anchor(stream, which, place)), stream, 1) for place in range(ANCHOR_ROUNDS)]
                found[name] = trimmed_mean(times) * 1e3
        return found

    def state(self):
        text = ctypes.create_string_buffer(1024)
        length = self.c.rkb_timing_state(text, ctypes.c_size_t(len(text)))
        return dict(line.split("=", 1) for line in text.raw[:length].decode().splitlines() if "=" in line)


def trimmed_mean(times):
    times = numpy.sort(times)
    drop = len(times) // 5
    return float(times[drop : len(times) - drop].mean())


def estimate(clusters, seed=1):
    """(value, low, high) in milliseconds; clusters: one list of samples for each fresh set of buffers."""
    draw = numpy.random.default_rng(seed)
    clusters = [numpy.asarray(cluster, dtype=float) for cluster in clusters]
    everything = numpy.concatenate(clusters)
    value, draws = trimmed_mean(everything), []
    for _ in range(DRAWS):
        chosen = [clusters[i] for i in draw.integers(0, len(clusters), len(clusters))]
        draws.append(trimmed_mean(numpy.concatenate([cluster[draw.integers(0, len(cluster), len(cluster))] for cluster in chosen])))
    draws.sort()
    low, high = draws[int(ALPHA / 2 * DRAWS)], draws[int((1 - ALPHA / 2) * (DRAWS - 1))]
    least = RESOLUTION_MS / len(everything) ** 0.5
    if high - low < least:
        low, high = min(low, value - least / 2), max(high, value + least / 2)
    return value, low, high


def host_time(work, synchronize, repeats=5):
    """Milliseconds to enqueue the work, and until it is done, on an idle device."""
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
    """How many flushes keep the device busy until the work has been enqueued."""
    return max(1, min(int(1.5 * enqueue_ms / FLUSH_MS) + 1, MOST_FLUSHES))


# Records ------------------------------------------------------------------------------------------------------------------

MOST_DRIFT = 0.01  # most difference of an anchor between parts that are taken together


def read_record(path, key):
    """Returns the file's record if it was made for the same key; otherwise an empty record."""
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            kept = json.load(file)
        if {k: kept.get(k) for k in key} == key and "parts" in kept:
            return kept
    return dict(key, parts=[], baselines={})


def write_record(path, record):
    with open(path + ".new", "w", encoding="utf-8") as file:
        json.dump(record, file, indent=1)
    os.replace(path + ".new", path)


def part_of_this_process(record):
    """The last part when this process made it, or a new one."""
    process = f"{os.getpid()}@{int(os.stat('/proc/self').st_ctime)}"
    if not record["parts"] or record["parts"][-1]["process"] != process:
        record["parts"].append({"process": process, "variants": {}})
    return record["parts"][-1]


def agree(part, other):
    return all(abs(part["anchors"][name] - value) <= MOST_DRIFT * value + RESOLUTION_MS * 1e3 / 2 for name, value in other["anchors"].items())


def chosen_by_timing(variant):
    """torch.compile times kernels to choose among them, more of them for max-autotune; eager chooses nothing."""
    return not variant.startswith("eager")


def under_one_condition(parts):
    """Returns the parts that were timed under the conditions of the newest part."""
    return [part for part in parts if "anchors" in part and agree(part, parts[-1])]


def result_of(parts, variant):
    """The estimate of a variant over the parts that have it; a failure where none has a time."""
    results = [part["variants"][variant] for part in parts if variant in part["variants"]]
    timed = [result for result in results if "samples_ms" in result]
    if not timed:
        return results[-1]
    value, low, high = estimate([cluster for result in timed for cluster in result["samples_ms"]])
    return {"us": value * 1e3, "low_us": low * 1e3, "high_us": high * 1e3, "processes": len(timed),
            "host_us": sorted(result["host_us"] for result in timed)[len(timed) // 2]}


def conclude(record):
    """Estimates over the parts that were timed under the conditions of the newest one; the others are kept and not counted.
    Parts may be of several tunings, each with its own choice of kernels ("tuning", absent for the newest): one that was surely faster
    counts instead."""
    newest = [part for part in record["parts"] if not part.get("tuning")]
    counted = under_one_condition(newest)
    record["discarded_parts"] = len(newest) - len(counted)
    record["baselines"] = {}
    for name in {name: None for part in counted for name in part["variants"]}:
        record["baselines"][name] = result_of(counted, name)
    for tuning in {part["tuning"]: None for part in record["parts"] if part.get("tuning")}:
        of_tuning = [part for part in record["parts"] if part.get("tuning") == tuning]
        for name in {name: None for part in of_tuning for name in part["variants"] if chosen_by_timing(name)}:
            parts = under_one_condition([part for part in of_tuning if name in part["variants"]])
            result, known = result_of(parts, name), record["baselines"].get(name, {})
            if result.get("high_us", float("inf")) < known.get("low_us", float("inf")):
                record["baselines"][name] = dict(result, tuning=tuning)
    times = {name: result["us"] for name, result in record["baselines"].items() if "us" in result}
    record["best"] = min(times, key=times.get) if times else None


KEY = ("task", "hash", "direction", "case", "torch", "driver", "device")


def merge(record, other, tuning):
    """Adds another record's parts as those of a tuning of that name, but for those that have a name already: tunings are not pooled.
    Only what was recorded under the same key."""
    if {key: record.get(key) for key in KEY} != {key: other.get(key) for key in KEY}:
        raise ValueError("the records are not of the same task, case, PyTorch, driver and device")
    record["parts"] = [dict(part, tuning=part.get("tuning") or tuning) for part in other["parts"]] + record["parts"]
    conclude(record)
