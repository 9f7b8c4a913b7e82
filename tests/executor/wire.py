"""A wire between this machine and a network namespace: two tunnel devices, and a process that carries packets between them late, loses some, or is cut.
Stands in for a network between hosts, and for tc-netem, which not every kernel has."""
import fcntl
import heapq
import os
import random
import select
import struct
import subprocess
import threading
import time

TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 0x0001, 0x1000


def tunnel(name):
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
    fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH", name.encode(), IFF_TUN | IFF_NO_PI))
    return device


def ip(*words, inside=None):
    subprocess.run([*(["nsenter", f"--net=/proc/{inside}/ns/net"] if inside else []), "ip", *words], check=True)


class Wire(threading.Thread):
    """10.213.N.1 here, 10.213.N.2 in the network namespace of the process inside."""

    def __init__(self, number, inside, delay, loss):
        super().__init__(daemon=True)
        self.delay, self.loss, self.up, self.ended, self.random = delay, loss, True, False, random.Random(number)
        self.carried = self.lost = 0
        here, there = f"rkbhere{number}", f"rkbthere{number}"
        self.ends = tunnel(here), tunnel(there)
        self.address = f"10.213.{number}.2"
        ip("link", "set", there, "netns", str(inside))
        for name, last, namespace in ((here, 1, None), (there, 2, inside)):
            ip("address", "add", f"10.213.{number}.{last}/30", "dev", name, inside=namespace)
            ip("link", "set", name, "up", inside=namespace)
        ip("link", "set", "lo", "up", inside=inside)
        self.start()

    def take(self, end, waiting):
        try:
            packet = os.read(self.ends[end], 65536)
        except OSError:  # nothing is there, or the namespace is gone and its device with it
            return
        if self.up and self.random.random() >= self.loss:
            heapq.heappush(waiting, (time.monotonic() + self.delay, self.carried, 1 - end, packet))
            self.carried += 1
        else:
            self.lost += 1

    def run(self):
        waiting = []
        while not self.ended:
            pause = max(0.0, waiting[0][0] - time.monotonic()) if waiting else 0.2
            ready, _, _ = select.select(self.ends, [], [], min(pause, 0.2))
            for end in (0, 1):
                if self.ends[end] in ready:
                    self.take(end, waiting)
            while waiting and waiting[0][0] <= time.monotonic():
                _, _, end, packet = heapq.heappop(waiting)
                try:
                    os.write(self.ends[end], packet)
                except OSError:
                    self.lost += 1

    def stop(self):
        self.ended = True
        self.join()
        for end in self.ends:
            os.close(end)
