"""A Slurm of four nodes on this machine, for tests: slurmctld and one slurmd a node, Debian's, on loopback and ports of its own, without
munge (auth/none), as the user who calls.  Everything lies in one scratch folder, and the daemons end with the test.  A node ends as a machine does that loses power: its
slurmd, its steps and their programs are killed at once."""
import getpass
import os
import shutil
import signal
import socket
import subprocess
import time

NODES = 4
START = 120  # seconds; ends a hang and nothing else


def present():
    return all(shutil.which(program) for program in ("slurmctld", "slurmd", "sbatch", "srun", "squeue", "scancel"))


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def environment_of(pid):
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return file.read().split(b"\0")
    except OSError:
        return []


def parent_of(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return int(file.read().rsplit(")", 1)[1].split()[1])
    except (OSError, ValueError):
        return 0


class Cluster:
    def __init__(self, folder):
        self.folder = folder
        self.controller = None
        self.daemons = {}
        host, user = socket.gethostname(), getpass.getuser()
        ports = free_ports(NODES + 1)
        for name in ("state", "log"):
            os.mkdir(os.path.join(folder, name))
        lines = ["ClusterName=rkbtest", f"SlurmctldHost={host}(127.0.0.1)", f"SlurmctldPort={ports[0]}",
                 f"SlurmUser={user}", f"SlurmdUser={user}", "AuthType=auth/none", "AuthInfo=cred_expire=5", "CredType=cred/none",
                 f"StateSaveLocation={folder}/state", f"SlurmctldLogFile={folder}/log/slurmctld", f"SlurmdLogFile={folder}/log/%n",
                 f"SlurmctldPidFile={folder}/slurmctld.pid", f"SlurmdPidFile={folder}/%n.pid", f"SlurmdSpoolDir={folder}/spool.%n",
                 "ProctrackType=proctrack/linuxproc", "TaskPlugin=task/none", "JobAcctGatherType=jobacct_gather/none",
                 "SchedulerType=sched/builtin", "SelectType=select/cons_tres", "SelectTypeParameters=CR_CPU",
                 "MpiDefault=none", "ReturnToService=2", "SlurmdTimeout=10", "SlurmctldTimeout=10", "InactiveLimit=0", "KillWait=5",
                 "MinJobAge=60", "Waittime=0", "TreeWidth=1000", "UnkillableStepTimeout=20",
                 "SchedulerParameters=batch_sched_delay=0,sched_interval=2,sched_min_interval=0", "JobRequeue=1", "MaxArraySize=100001",
                 "MaxJobCount=100000", "PreemptType=preempt/partition_prio", "PreemptMode=REQUEUE"]
        # Not the machine's real cores: what the test needs is four nodes that each take a few jobs.
        lines.append("SlurmdParameters=config_overrides")
        for i in range(NODES):
            lines.append(f"NodeName=n{i} NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1 + i]} CPUs=2 RealMemory=1000 State=UNKNOWN")
        nodes = ",".join(f"n{i}" for i in range(NODES))
        lines.append(f"PartitionName=work Nodes={nodes} Default=YES MaxTime=INFINITE State=UP PriorityTier=1")
        lines.append(f"PartitionName=urgent Nodes={nodes} MaxTime=INFINITE State=UP PriorityTier=10 PreemptMode=OFF")
        self.configuration = os.path.join(folder, "slurm.conf")
        with open(self.configuration, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
        self.environment = dict(os.environ, SLURM_CONF=self.configuration)

    def call(self, *words, check=True):
        return subprocess.run(words, env=self.environment, capture_output=True, text=True, check=check, timeout=START).stdout

    def start_controller(self):
        self.controller = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", "slurmctld", "-D"], env=self.environment, stdout=subprocess.DEVNULL,
                                           stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)

    def start_node(self, name, rebooted=False):
        """rebooted: slurmd says so (-b), as it does on a machine of its own whose boot time is new."""
        os.makedirs(os.path.join(self.folder, f"spool.{name}"), exist_ok=True)
        self.daemons[name] = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", "slurmd", "-D", "-N", name, *(["-b"] if rebooted else [])], env=self.environment, stdout=subprocess.DEVNULL,
                                              stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)

    def start(self):
        self.start_controller()
        for i in range(NODES):
            self.start_node(f"n{i}")
        self.wait_for_nodes(NODES)

    def wait_for_nodes(self, count):
        limit = time.monotonic() + START
        while time.monotonic() < limit:
            states = self.call("sinfo", "-h", "-N", "-p", "work", "-o", "%N %t", check=False).split("\n")
            if sum(line.endswith((" idle", " mix", " alloc")) for line in states) >= count:
                return
            time.sleep(0.2)
        raise AssertionError(f"the nodes do not start: {states}; {self.folder}/log")

    def kill_controller(self):
        self.controller.kill()
        self.controller.wait()

    def resume_nodes(self):
        """A controller that was killed may find a job launched twice, and drains the node: an administrator takes that back."""
        self.call("scontrol", "update", f"NodeName=n[0-{NODES - 1}]", "State=RESUME", check=False)

    def mark_down(self, name):
        self.call("scontrol", "update", f"NodeName={name}", "State=DOWN", "Reason=test")

    def kill_daemon(self, name):
        """slurmd alone: its steps and their programs run on, as they do when a node loses its network."""
        self.daemons[name].kill()
        self.daemons[name].wait()

    def kill_node(self, name):
        """slurmd, the steps and their programs."""
        self.kill_daemon(name)
        for pid in self.processes_of(name):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def processes_of(self, name):
        """Processes of jobs on a node, each with the slurmstepd above it."""
        mark, configuration = f"SLURMD_NODENAME={name}".encode(), f"SLURM_CONF={self.configuration}".encode()
        found = set()
        for entry in os.listdir("/proc"):
            if not entry.isdigit():
                continue
            environment = environment_of(entry)
            if mark in environment and configuration in environment:
                found.add(int(entry))
                parent = parent_of(int(entry))
                try:
                    with open(f"/proc/{parent}/comm", encoding="utf-8") as file:
                        if file.read().startswith("slurmstepd"):
                            found.add(parent)
                except OSError:
                    pass
        return found

    def stop(self):
        subprocess.run(["scancel", "--user", getpass.getuser(), "--signal=KILL"], env=self.environment, capture_output=True, timeout=START)
        for name in self.daemons:
            self.kill_node(name)
        self.kill_controller()
