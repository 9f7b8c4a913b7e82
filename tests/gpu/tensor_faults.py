#!/usr/bin/env python3
"""Labels faults of asynchronous copies and matrix products: what a device does with each.

usage: tensor_faults.py TEXTS OUT [--jobs N] [--patience SECONDS]

TEXTS is what `test_machine_asynchrony_faults write TEXTS` wrote: KERNEL.cu, and KERNEL.OPERATOR.SITE.cu broken in one place.  Each is
compiled and run REPEATS times from the same inputs, in a process that runs nothing else meanwhile and is killed when it does not end.
OUT/labels.tsv gets a line for each: kernel, operator, site, label.  A fault's label is

    differs      in some run the outputs were not those of the kernel as it is
    error N      the driver reported an error (716: misaligned, 700: illegal address, 719: launch failure, which a trap is)
    hangs        it did not end
    same         nothing was seen, which says nothing: a race need not show
    no build     NVRTC refuses it, or crashes

and a kernel's own "right", or what is wrong with it: "unsteady", or "not the machine's" if TEXTS/KERNEL.outputs, which the checking machine
wrote, holds other bytes than the device left in the kernel's outputs.  Needs the driver and NVRTC; no PyTorch."""
import array
import ctypes
import functools
import glob
import os
import pathlib
import queue
import re
import select
import struct
import subprocess
import sys
import threading
import time

REPEATS = 20
TYPES = {"f32": (4, "f"), "f64": (8, "d"), "i32": (4, "i"), "i64": (8, "q"), "u8": (1, "B"), "f16": (2, "e"), "bf16": (2, "")}
MAP_TYPES = ["u8", "u16", "u32", "i32", "u64", "i64", "f16", "f32", "f64", "bf16"]
MAP_BYTES = 128
CLUSTER_DIMENSION = 4
MOST_SHARED = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES


class LaunchAttribute(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int), ("pad", ctypes.c_int), ("value", ctypes.c_uint32 * 16)]


class LaunchConfig(ctypes.Structure):
    _fields_ = [("grid", ctypes.c_uint32 * 3), ("block", ctypes.c_uint32 * 3), ("shared", ctypes.c_uint32), ("stream", ctypes.c_void_p),
                ("attributes", ctypes.POINTER(LaunchAttribute)), ("count", ctypes.c_uint32)]


class DriverError(Exception):
    pass


def find_nvrtc():
    for pattern in ("/usr/local/cuda*/lib64/libnvrtc.so*", "/usr/local/cuda*/targets/*/lib/libnvrtc.so*"):
        for path in sorted(glob.glob(pattern), reverse=True):
            if "builtins" not in path and "alt" not in path and "static" not in path:
                return ctypes.CDLL(path)
    return ctypes.CDLL("libnvrtc.so")


def compile_text(nvrtc, text):
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    options = [b"--gpu-architecture=sm_90a", b"--std=c++17", b"-I/usr/local/cuda/include", b"-I/usr/local/cuda/include/cccl"]
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), text.encode(), b"kernel.cu", 0, None, None)
    failed = nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
    cubin = None
    if not failed and not nvrtc.nvrtcGetCUBINSize(program, ctypes.byref(size)) and size.value:
        cubin = ctypes.create_string_buffer(size.value)
        nvrtc.nvrtcGetCUBIN(program, cubin)
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return cubin


def initial(kind, at):
    """As initial_value of tests/machine/machine_harness.c for its first run."""
    if kind == "ramp":
        return at % 97
    if kind == "index":
        return at
    if kind == "one":
        return 1
    if kind == "noise":
        mixed = (at + 1) * 0x9E3779B97F4A7C15 & 0xFFFFFFFFFFFFFFFF
        mixed ^= mixed >> 29
        return mixed % 20011 / 10005.5 - 1
    return 0


@functools.lru_cache(None)
def image(kind, elements, init):
    if not init:
        return b"\xa5" * (elements * TYPES[kind][0])
    values = [initial(init, at) for at in range(elements)]
    if kind == "bf16":
        floats = array.array("I", struct.pack(f"<{elements}f", *values))
        return array.array("H", [bits >> 16 for bits in floats]).tobytes()
    form = TYPES[kind][1]
    return struct.pack(f"<{elements}{form}", *[value if form in "efd" else int(value) for value in values])


class Device:
    def __init__(self):
        self.driver = ctypes.CDLL("libcuda.so.1")
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self.call("cuInit", 0)
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxSetCurrent", context)

    def call(self, name, *arguments):
        status = getattr(self.driver, name)(*arguments)
        if status:
            raise DriverError(status)

    def allocate(self, size):
        address = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(size))
        return address


class Kernel:
    """A text's buffers, maps and launches on the device."""

    def __init__(self, device, text, cubin):
        self.device, self.buffers, self.maps, self.launches = device, {}, {}, []
        self.module = ctypes.c_void_p()
        device.call("cuModuleLoadData", ctypes.byref(self.module), cubin)
        for line in text.splitlines():
            words = line.split()
            if line.startswith("// buffer: "):
                name, role, kind, elements = words[2:6]
                data = image(kind, int(elements), words[6] if len(words) > 6 else "")
                self.buffers[name] = (role, device.allocate(len(data)), data)
            elif line.startswith("// map: "):
                self.maps[words[2]] = self.encode(words)
            elif line.startswith("// launch: "):
                self.launches.append((words[2], dict(word.split("=", 1) for word in words[3:] if "=" in word)))

    def encode(self, words):
        values = {key: [int(n) for n in value.split(",")] for key, value in (w.split("=") for w in words[5:] if w[-1].isdigit())}
        if "pixels" in values:
            raise NotImplementedError("im2col")
        rank = len(values["dims"])
        room = ctypes.create_string_buffer(MAP_BYTES + 64)
        at = (ctypes.addressof(room) + 63) & ~63
        swizzle = {0: 0, 32: 1, 64: 2, 128: 3}[values.get("swizzle", [0])[0]]
        self.device.call("cuTensorMapEncodeTiled", ctypes.c_void_p(at), MAP_TYPES.index(words[4]), rank, self.buffers[words[3]][1],
                         (ctypes.c_uint64 * rank)(*values["dims"]), (ctypes.c_uint64 * max(1, rank - 1))(*values.get("strides", [])),
                         (ctypes.c_uint32 * rank)(*values["box"]), (ctypes.c_uint32 * rank)(*values.get("steps", [1] * rank)),
                         values.get("interleave", [0])[0] // 16, swizzle, 0, int("fill=nan" in words))
        return room, at

    def start(self, entry, given):
        function = ctypes.c_void_p()
        self.device.call("cuModuleGetFunction", ctypes.byref(function), self.module, entry.encode())
        sizes = {key: ([int(n) for n in given.get(key, "1").split(",")] + [1, 1])[:3] for key in ("grid", "block", "cluster")}
        config = LaunchConfig(tuple(sizes["grid"]), tuple(sizes["block"]), int(given.get("shared", 0)))
        if config.shared:
            self.device.call("cuFuncSetAttribute", function, MOST_SHARED, config.shared)
        attribute = LaunchAttribute(CLUSTER_DIMENSION, 0, tuple(sizes["cluster"]))
        if "cluster" in given:
            config.attributes, config.count = ctypes.pointer(attribute), 1
        places = []
        for name in filter(None, given.get("args", "").split(",")):
            if name in self.maps:
                places.append(self.maps[name][1])
            elif name in self.buffers:
                places.append(ctypes.addressof(self.buffers[name][1]))
            else:
                raise NotImplementedError(f"argument {name}")
        self.device.call("cuLaunchKernelEx", ctypes.byref(config), function, (ctypes.c_void_p * max(1, len(places)))(*places), None)

    def run(self):
        """What the outputs hold afterwards."""
        for _, address, data in self.buffers.values():
            self.device.call("cuMemcpyHtoD_v2", address, data, ctypes.c_size_t(len(data)))
        for entry, given in self.launches:
            self.start(entry, given)
        self.device.call("cuCtxSynchronize")
        return self.left(("out", "inout", "scratch"))

    def left(self, roles):
        """What the buffers of these roles hold."""
        result = b""
        for role, address, data in self.buffers.values():
            if role in roles:
                room = ctypes.create_string_buffer(len(data))
                self.device.call("cuMemcpyDtoH_v2", room, address, ctypes.c_size_t(len(data)))
                result += room.raw
        return result

    def close(self):
        for _, address, _ in self.buffers.values():
            self.device.call("cuMemFree_v2", address)
        self.device.call("cuModuleUnload", self.module)


def say(text):
    print(text, flush=True)


def outputs_of(device, nvrtc, path):
    """([what each run left], what the outputs alone hold in the end, None) or ([], b"", a label)."""
    text = pathlib.Path(path).read_text()
    cubin = compile_text(nvrtc, text)
    if cubin is None:
        return [], b"", "no build"
    say("runs")
    try:
        kernel = Kernel(device, text, cubin)
        results = [kernel.run() for _ in range(REPEATS)]
        outputs = kernel.left(("out", "inout"))
        kernel.close()
        return results, outputs, None
    except NotImplementedError as error:
        return [], b"", f"not run: {error}"
    except DriverError as error:
        return [], b"", f"error {error.args[0]}"


def state_of(path, results, outputs):
    """Of a kernel as it is."""
    machine = pathlib.Path(path).with_suffix(".outputs")
    if len(set(results)) != 1:
        return "unsteady"
    return "not the machine's" if machine.exists() and machine.read_bytes() != outputs else "right"


def child(origin, paths):
    nvrtc, device = find_nvrtc(), Device()
    say("ready")
    expected, outputs, label = outputs_of(device, nvrtc, origin)
    say(f"origin {label or state_of(origin, expected, outputs)}")
    for path in paths:
        results, _, label = outputs_of(device, nvrtc, path)
        say(f"label {label or ('same' if set(results) == set(expected) else 'differs')}")
        if label and label.startswith("error"):
            return  # the context is lost


class Lines:
    """What a process writes, a line at a time, each within some seconds."""

    def __init__(self, process):
        self.end, self.held = process.stdout.fileno(), b""

    def next(self, seconds):
        """None: nothing came in time; "": the process ended."""
        while b"\n" not in self.held:
            if not select.select([self.end], [], [], seconds)[0]:
                return None
            more = os.read(self.end, 65536)
            if not more:
                return ""
            self.held += more
        line, self.held = self.held.split(b"\n", 1)
        return line.decode().strip()


def label_kernel(origin, paths, patience, labels):
    """Starts a child again where the last one was lost."""
    left, tries = list(paths), 5  # a process that begins while a killed one's kernel still ends may get no context
    while True:
        process = subprocess.Popen([sys.executable, __file__, "--child", str(origin), *map(str, left)], stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL)
        state, said, last, lines = "starting", "", "", Lines(process)
        while True:
            line = lines.next(patience if state == "running" else 120)
            if not line:
                break
            state = "running" if line == "runs" else "building"
            if line.startswith("origin "):
                said = line[7:]
                labels[origin.stem] = said
            elif line.startswith("label "):
                last = labels[left.pop(0).stem] = line[6:]
        process.kill()
        process.stdout.close()
        if not said and tries:
            tries -= 1
            time.sleep(2)
            continue
        if said not in ("right", "not the machine's"):
            labels.setdefault(origin.stem, "did not run")
            return
        if left and line is None:
            labels[left.pop(0).stem] = "hangs" if state == "running" else "no build"
        elif left and state == "building" and not last.startswith("error"):
            labels[left.pop(0).stem] = "no build"  # the compiler ended the process
        if not left:
            return


def main():
    arguments = [a for a in sys.argv[1:] if not a.startswith("--")]
    option = lambda name, default: float(sys.argv[sys.argv.index(name) + 1]) if name in sys.argv else default
    folder, out = pathlib.Path(arguments[0]), pathlib.Path(arguments[1])
    out.mkdir(parents=True, exist_ok=True)
    groups, labels = {}, {}
    for path in sorted(folder.glob("*.cu")):
        groups.setdefault(path.name.split(".")[0], []).append(path)
    work = queue.Queue()
    for paths in groups.values():
        origin = next(path for path in paths if path.name.count(".") == 1)
        work.put((origin, [path for path in paths if path != origin]))

    def take():
        while True:
            try:
                origin, paths = work.get_nowait()
            except queue.Empty:
                return
            label_kernel(origin, paths, option("--patience", 4), labels)

    threads = [threading.Thread(target=take) for _ in range(int(option("--jobs", os.cpu_count())))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    counts = {}
    with (out / "labels.tsv").open("w") as table:
        for paths in groups.values():
            for path in paths:
                name, _, rest = path.stem.partition(".")
                operator, _, site = rest.partition(".")
                label = labels.get(path.stem, "did not run")
                print(name, operator, site, label, sep="\t", file=table)
                kind = ("fault: " if operator else "kernel: ") + label
                counts[kind] = counts.get(kind, 0) + 1
    for kind, count in sorted(counts.items()):
        print(f"{count:5} {kind}")


if len(sys.argv) > 2 and sys.argv[1] == "--child":
    child(sys.argv[2], sys.argv[3:])
else:
    main()
