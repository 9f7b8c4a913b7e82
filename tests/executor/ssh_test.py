"""rkb-run --on ssh:HOSTS, with a real sshd on loopback and a key made for the test: a sweep over two hosts gives what it gives here; hosts that
cannot be used are named and left out; a connection that is lost, and a process that is killed, lose nothing.
usage: ssh_test.py SOURCE_DIRECTORY BINARY_DIRECTORY [TEST]..."""
import getpass
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

import executor_runs as runs

SSHD = shutil.which("sshd") or "/usr/sbin/sshd"


class Server:
    """sshd, and a command `ssh` that goes first on the PATH and gives the real one this server's settings."""

    def __init__(self, folder):
        self.folder = folder
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            port = one.getsockname()[1]
        for key in ("host", "user"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.path(key)], check=True)
        shutil.copy(self.path("user.pub"), self.path("authorized"))
        self.write("sshd_config", f"Port {port}\nListenAddress 127.0.0.1\nHostKey {self.path('host')}\nPidFile {self.path('pid')}\n"
                   f"AuthorizedKeysFile {self.path('authorized')}\nStrictModes no\nPasswordAuthentication no\nUsePAM no\n"
                   f"MaxStartups 100\nPermitRootLogin prohibit-password\nSetEnv RKB_PLUGIN_PATH={os.environ['RKB_PLUGIN_PATH']}\n")
        self.write("ssh_config", f"Host one two\n  HostName 127.0.0.1\n  Port {port}\nHost nobody\n  HostName 127.0.0.1\n  Port 1\n"
                   f"Host *\n  User {getpass.getuser()}\n  IdentityFile {self.path('user')}\n  IdentitiesOnly yes\n"
                   f"  UserKnownHostsFile {self.path('known')}\n  StrictHostKeyChecking accept-new\n")
        os.mkdir(self.path("bin"))
        self.write("bin/ssh", f"#!/bin/sh\nexec {shutil.which('ssh')} -F {self.path('ssh_config')} \"$@\"\n")
        os.chmod(self.path("bin/ssh"), 0o755)
        os.makedirs("/run/sshd", exist_ok=True)
        self.process = subprocess.Popen([SSHD, "-D", "-e", "-f", self.path("sshd_config")], stderr=open(self.path("log"), "w"))
        os.environ["PATH"] = self.path("bin") + os.pathsep + os.environ["PATH"]

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def wait(self):
        runs.Runs.wait_for(lambda: subprocess.run(["ssh", "-oBatchMode=yes", "one", "true"], capture_output=True).returncode == 0)

    def connections(self):
        """Processes of sshd that serve a connection."""
        done = subprocess.run(["pgrep", "-P", str(self.process.pid)], capture_output=True, text=True)
        return [int(pid) for pid in done.stdout.split()]

    def stop(self):
        for pid in self.connections() + [self.process.pid]:
            os.kill(pid, signal.SIGKILL)
        self.process.wait()


def test_two_hosts(runs, server, folder):
    there = os.path.join(folder, "it's there")  # a quote and a blank reach the other side as they are
    done = runs.call("--sweep", runs.slow, "--out", there, "--secret", runs.secret, "--on", "ssh:one,nobody,two", "--cells", "2", "--jobs", "1")
    assert "on one" in done.stderr and "on two" in done.stderr, done.stderr
    assert "nobody is left out" in done.stderr and "refused" in done.stderr, done.stderr
    runs.equal(runs.local_slow, there)


def test_connection_lost(runs, server, folder):
    there = os.path.join(folder, "there")
    process = runs.start("--sweep", runs.slow, "--out", there, "--secret", runs.secret, "--on", "ssh:one,two", "--cells", "2", "--jobs", "1")
    runs.wait_for(lambda: sum(runs.stored(there, cell) for cell in runs.cells(there)) > 10 if os.path.isdir(there) else 0)
    os.kill(server.connections()[0], signal.SIGKILL)
    code, out, said = runs.end(process)
    assert code == 0 and "lost, and started again" in said and "is left out for 30 s" in said, (code, out, said)
    runs.equal(runs.local_slow, there)


def test_killed(runs, server, folder):
    """The far side notices that nobody listens, ends as by ^C, and the next process waits for that."""
    there = os.path.join(folder, "there")
    arguments = ["--on", "ssh:one,two", "--jobs", "1"]
    process = runs.start("--sweep", runs.slow, "--out", there, "--secret", runs.secret, *arguments)
    runs.wait_for(lambda: sum(runs.stored(there, cell) for cell in runs.cells(there)) > 10 if os.path.isdir(there) else 0)
    process.kill()
    runs.end(process)
    process = runs.start("--resume", there, *arguments)
    runs.wait_for(lambda: runs.running_on(process))
    process.send_signal(signal.SIGINT)
    code, out, said = runs.end(process)
    assert code == 130 and f"--resume {there} --on ssh:one,two" in said, (code, out, said)
    done = runs.call("--resume", there, *arguments)
    assert "6 of 6 cells ended" in done.stdout, done.stdout
    runs.equal(runs.local_slow, there)


def test_refused(runs, server, folder):
    out = os.path.join(folder, "refused")
    done = runs.call("--sweep", runs.quick, "--out", out, "--on", "ssh:nobody", code=3)
    assert "no host can be used" in done.stderr and "--resume" in done.stderr, done.stderr
    for hosts in ("ssh:", "ssh:-oProxyCommand=x", "ssh:a b", "ssh:a,,b"):
        done = runs.call("--sweep", runs.quick, "--out", out + "2", "--on", hosts, code=2)
        assert "wants the names of" in done.stderr, done.stderr


def main():
    if not (os.path.exists(SSHD) and shutil.which("ssh-keygen")):
        assert not os.environ.get("CI"), "sshd is not installed (openssh-server)"
        print("skipped: sshd is not installed (openssh-server)")
        return 77
    with tempfile.TemporaryDirectory() as work:
        local = runs.Runs(*sys.argv[1:3], work)
        server = Server(work)
        try:
            server.wait()
            for name, test in sorted(globals().items()):
                if name.startswith("test_") and name in (sys.argv[3:] or [name]):
                    folder = os.path.join(work, name)
                    os.mkdir(folder)
                    test(local, server, folder)
                    print(name, "passed", flush=True)
        finally:
            server.stop()
    return 0


sys.exit(main())
