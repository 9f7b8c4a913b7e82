"""Reads from /proc what a run does (cores.py).  It reads while the run goes on, because these figures are gone at its end."""
import os
import threading
import time

TICKS = os.sysconf("SC_CLK_TCK")
FUTEX = "202"  # the system call of a thread that waits for work, or for a lock (x86-64)


def processor_seconds(path):
    with open(path, encoding="utf-8") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def processors():
    """For each processor: the seconds that it was busy, idle, or taken by the host for others.  Also the number of processes that can run now."""
    times, running = {}, 0
    with open("/proc/stat", encoding="utf-8") as file:
        for line in file:
            words = line.split()
            if words[0].startswith("cpu") and words[0] != "cpu":
                user, nice, system, idle, waits, interrupt, soft, stolen = (int(word) / TICKS for word in words[1:9])
                times[int(words[0][3:])] = (user + nice + system + interrupt + soft, idle + waits, stolen)
            elif words[0] == "procs_running":
                running = int(words[1])
    return times, running


class Watch(threading.Thread):
    """Samples a process and the processors it may use.  With a report, writes a line a second."""

    def __init__(self, process, cores, report=None):
        super().__init__(daemon=True)
        self.pid, self.cores, self.report, self.ended = process.pid, cores, report, threading.Event()
        self.whole = self.loop = self.busy = self.idle = self.stolen = 0.0
        self.start()

    def workers(self):
        """Counts the threads that take jobs: how many compute, how many wait for a process that works for them, and how many have no job."""
        computing = waiting = without = 0
        for thread in os.listdir(f"/proc/{self.pid}/task"):
            try:
                with open(f"/proc/{self.pid}/task/{thread}/comm", encoding="utf-8") as file:
                    if file.read().strip() != "rkb-worker":
                        continue
                with open(f"/proc/{self.pid}/task/{thread}/syscall", encoding="utf-8") as file:
                    call = file.read().split()[0]
            except (OSError, IndexError):
                continue
            computing += call == "running"
            without += call == FUTEX
            waiting += call not in ("running", FUTEX)
        return computing, waiting, without

    def run(self):
        first, _ = processors()
        began = second = time.monotonic()
        times, samples, whole, loop = first, [], 0.0, 0.0
        while not self.ended.wait(0.05):
            try:
                self.whole, self.loop = processor_seconds(f"/proc/{self.pid}/stat"), processor_seconds(f"/proc/{self.pid}/task/{self.pid}/stat")
                now, running = processors()
                samples.append((*self.workers(), running))
            except (OSError, IndexError):
                return
            self.busy, self.idle, self.stolen = (sum(now[core][part] - first[core][part] for core in self.cores) for part in range(3))
            if self.report and time.monotonic() - second >= 1:
                took, second = time.monotonic() - second, time.monotonic()
                mean = [sum(column) / len(samples) for column in zip(*samples)]
                share = [sum(now[core][part] - times[core][part] for core in self.cores) / took / len(self.cores) for part in range(3)]
                each = " ".join(f"{(now[core][0] - times[core][0]) / took:.2f}" for core in self.cores)
                self.report.write(f"{second - began:5.0f} s: cores busy {share[0]:.2f}, idle {share[1]:.2f}, stolen {share[2]:.2f}; workers {mean[0]:.1f} compute, "
                                  f"{mean[1]:.1f} wait for a process, {mean[2]:.1f} idle; rkb-run {(self.whole - whole) / took:.2f} of a core, its loop "
                                  f"{(self.loop - loop) / took:.2f}; {mean[3]:.0f} processes can run; each core {each}\n")
                self.report.flush()
                times, samples, whole, loop = now, [], self.whole, self.loop
