"""Two hosts that share no more than real ones: each with a network namespace, a mount namespace with its own /tmp, /run and home, a name and a sshd
of its own, behind a wire that is late, loses packets and is cut (wire.py); the clock of the second is 26 hours fast.
Runs a sweep over both by --on ssh:HOSTS, which needs the sweep's directory on both, and a run whose screening workers share nothing but the
installed files; compares each archive with that of an undisturbed local run.  It must be root.
usage: hosts_campaign.py SOURCE_DIRECTORY BINARY_DIRECTORY"""
import glob
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import executor_runs
from wire import Wire

# What a host does before it serves: everything it would share by chance is covered.
INSIDE = """mount --make-rprivate / && hostname "$1" && mkdir -p "$2/home" && mount -t tmpfs tmpfs /run && mkdir /run/sshd && mount --bind "$2/home" /root &&
mount -t tmpfs tmpfs /tmp && touch "/tmp/of-$1" && exec sleep infinity"""
DELAY, LOSS = 0.025, 0.01
# A clock that is wrong shows in the time of day alone.  libfaketime moves the clocks of processor time too, and then every limit is over at once.
CLOCK = """#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/time.h>
#include <time.h>
enum { FAST = 26 * 3600 };
int clock_gettime(clockid_t clock, struct timespec *now) {
   static int (*real)(clockid_t, struct timespec *);
   if (!real)
      real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
   int status = real(clock, now);
   if (status == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
      now->tv_sec += FAST;
   return status;
}
time_t time(time_t *out) {
   struct timespec now;
   clock_gettime(CLOCK_REALTIME, &now);
   if (out)
      *out = now.tv_sec;
   return now.tv_sec;
}
int gettimeofday(struct timeval *restrict out, void *restrict zone) {
   struct timespec now;
   (void)zone;
   clock_gettime(CLOCK_REALTIME, &now);
   *out = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
   return 0;
}
"""


def fast_clock(folder):
    library = os.path.join(folder, "fast_clock.so")
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-xc", "-", "-o", library], input=CLOCK, text=True, check=True)
    return library


class Host:
    def __init__(self, number, name, folder, fast):
        self.name, self.folder = name, os.path.join(folder, name)
        os.makedirs(self.folder)
        self.process = subprocess.Popen(["unshare", "--net", "--mount", "--uts", "sh", "-c", INSIDE, "sh", name, self.folder])
        executor_runs.Runs.wait_for(lambda: self.call("test", "-e", f"/tmp/of-{name}").returncode == 0)
        self.wire = Wire(number, self.process.pid, DELAY, LOSS)
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.path("host")], check=True)
        shutil.copy(os.path.join(folder, "user.pub"), self.path("authorized"))
        settings = [f"RKB_PLUGIN_PATH={os.environ['RKB_PLUGIN_PATH']}"] + ([f"LD_PRELOAD={fast}"] if fast else [])
        with open(self.path("sshd_config"), "w", encoding="utf-8") as file:
            file.write(f"Port 22\nHostKey {self.path('host')}\nPidFile none\nAuthorizedKeysFile {self.path('authorized')}\nStrictModes no\nUsePAM no\n"
                       f"PasswordAuthentication no\nMaxStartups 100\nPermitRootLogin prohibit-password\nSetEnv {' '.join(settings)}\n")
        self.server = subprocess.Popen([*self.enter(), shutil.which("sshd") or "/usr/sbin/sshd", "-D", "-e", "-f", self.path("sshd_config")],
                                       stderr=open(self.path("log"), "w"))

    def path(self, name):
        return os.path.join(self.folder, name)

    def enter(self):
        return ["nsenter", f"--target={self.process.pid}", "--net", "--mount", "--uts"]

    def call(self, *words):
        return subprocess.run([*self.enter(), *words], capture_output=True, text=True)

    def inside(self):
        """Processes of this host, by its network namespace."""
        own, found = os.readlink(f"/proc/{self.process.pid}/ns/net"), []
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                found += [int(name)] if os.readlink(f"/proc/{name}/ns/net") == own else []
            except OSError:
                pass  # it has ended
        return found

    def stop(self):
        for pid in self.inside():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        for one in (self.server, self.process):
            one.wait()
        self.wire.stop()


def write_ssh(folder, hosts):
    """A command `ssh` that goes first on the PATH and knows the hosts."""
    with open(os.path.join(folder, "ssh_config"), "w", encoding="utf-8") as file:
        for host in hosts:
            file.write(f"Host {host.name}\n  HostName {host.wire.address}\n")
        file.write(f"Host *\n  User root\n  IdentityFile {folder}/user\n  IdentitiesOnly yes\n  UserKnownHostsFile {folder}/known\n  StrictHostKeyChecking accept-new\n")
    os.mkdir(os.path.join(folder, "bin"))
    program = os.path.join(folder, "bin", "ssh")
    with open(program, "w", encoding="utf-8") as file:
        file.write(f"#!/bin/sh\nexec {shutil.which('ssh')} -F {folder}/ssh_config \"$@\"\n")
    os.chmod(program, 0o755)
    os.environ["PATH"] = os.path.dirname(program) + os.pathsep + os.environ["PATH"]


def look_at_hosts(hosts):
    """What makes them hosts: nothing of one is seen by the other."""
    said = [subprocess.run(["ssh", "-oBatchMode=yes", host.name, "hostname; ls /tmp; ls ~; date +%s"], capture_output=True, text=True) for host in hosts]
    for host, one in zip(hosts, said):
        lines = one.stdout.split()
        assert lines[:2] == [host.name, f"of-{host.name}"], (one.stdout, one.stderr)
        print(f"{host.name}: own /tmp, own home; its clock is {(int(lines[-1]) - time.time()) / 3600:+.1f} h off", flush=True)


def sweep_over_both(runs, hosts, folder):
    there = os.path.join(folder, "sweep")
    process = runs.start("--sweep", runs.slow, "--out", there, "--secret", runs.secret, "--on", f"ssh:{hosts[0].name},{hosts[1].name}", "--cells", "2", "--jobs", "1")
    runs.wait_for(lambda: sum(runs.stored(there, cell) for cell in runs.cells(there)) > 20 if os.path.isdir(there) else 0)
    hosts[0].wire.up = False
    began = time.monotonic()
    runs.wait_for(lambda: "is left out for 30 s" in runs.said(process) or process.poll() is not None)
    noticed = time.monotonic() - began
    hosts[0].wire.up = True
    code, out, said = runs.end(process)
    assert code == 0, (code, out, said)
    runs.equal(runs.local_slow, there)
    print(f"sweep: {len(runs.cells(there))} cells equal; {hosts[0].name} vanished, was noticed after {noticed:.0f} s, and came back: " +
          "; ".join(line for line in said.splitlines() if line.startswith(("goes on", hosts[0].name)) or "lost" in line), flush=True)


def of_workers(run):
    """What the run's log says of workers, without times."""
    with open(os.path.join(run, "log.jsonl"), encoding="utf-8") as file:
        return [record["text"] for record in map(json.loads, file) if record.get("who") == "workers"]


def run_with_workers(runs, hosts, binary, source, folder):
    """Builds and checks on both hosts: these have the installed files, and no directory of the run."""
    worker = os.path.join(binary, "bin", "rkb-screen-worker")
    if not os.path.exists(worker):
        worker = glob.glob(os.path.join(binary, "**", "rkb-screen-worker"), recursive=True)[0]
    arguments = ["stock", "--task", os.path.join(source, "tasks/softmax"), "--secret", runs.secret, "--set", "limits.candidates=30", "--set", "limits.within=0", "--jobs", "1"]
    os.environ["XDG_CACHE_HOME"] = os.path.join(folder, "cache-alone")
    runs.call(*arguments, "--out", os.path.join(folder, "alone"))
    os.environ["XDG_CACHE_HOME"] = os.path.join(folder, "cache-hosts")
    workers = "[" + ", ".join(f"{{command: [ssh, -oServerAliveInterval=2, -oServerAliveCountMax=3, {host.name}, {worker}], count: 2, device: none}}" for host in hosts) + "]"
    there = os.path.join(folder, "with-hosts")
    process = runs.start(*arguments, "--out", there, "--workers", workers)
    runs.wait_for(lambda: runs.stored(folder, "with-hosts") >= 4 or process.poll() is not None)
    for host in hosts:  # one after the other vanishes and comes back
        host.wire.up = False
        time.sleep(10)
        host.wire.up = True
    code, out, said = runs.end(process)
    assert code == 0, (code, out, said)
    runs.equal_runs(os.path.join(folder, "alone"), there)
    print("run with screening workers: equal; " + "; ".join(of_workers(there)), flush=True)


def main():
    source, binary = (os.path.abspath(word) for word in sys.argv[1:3])
    if os.geteuid() != 0:
        sys.exit("it must be root: it makes network and mount namespaces")
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        runs = executor_runs.Runs(source, binary, folder)
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", os.path.join(folder, "user")], check=True)
        hosts = []
        try:
            hosts.append(Host(1, "first", folder, None))
            hosts.append(Host(2, "second", folder, fast_clock(folder)))
            write_ssh(folder, hosts)
            runs.wait_for(lambda: all(subprocess.run(["ssh", "-oBatchMode=yes", host.name, "true"], capture_output=True).returncode == 0 for host in hosts))
            look_at_hosts(hosts)
            sweep_over_both(runs, hosts, folder)
            run_with_workers(runs, hosts, binary, source, folder)
            print("; ".join(f"{host.name}: {host.wire.carried} packets carried, {host.wire.lost} lost" for host in hosts))
        finally:
            for host in hosts:
                host.stop()


main()
