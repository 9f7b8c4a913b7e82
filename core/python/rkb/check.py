"""Checks a kernel with the program rkb, and gives its verdict as an object."""
import json
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass, field


class RkbError(RuntimeError):
    """The check could not be made; nothing is known about the kernel."""


@dataclass
class Checked:
    """standing: accept, suspect, reject or unknown.  verdicts and measurements are dictionaries, as `rkb check --json` writes them."""
    standing: str
    reason: str
    message: str
    verdicts: list = field(default_factory=list)
    measurements: list = field(default_factory=list)
    verified_by_execution: bool = False
    replay: str = None

    @property
    def accepted(self):
        return self.standing == "accept"

    def measured(self, name):
        """The value of a measurement over all cases ("model.predicted_us"), or None."""
        for one in self.measurements:
            if one["name"] == name and not one.get("case"):
                return one["value"]
        return None


def _program(given):
    found = given or os.environ.get("RKB") or shutil.which("rkb")
    if not found:
        raise RkbError("there is no program rkb on PATH; name it with program= or the variable RKB")
    return found


def _read(answer):
    standing, reason = answer["standing"], answer["reason"] or ""
    decisive = [one for one in answer["verdicts"] if one["reason"] == reason and reason]
    return Checked(standing, reason, decisive[-1]["message"] if decisive else "", answer["verdicts"], answer["measurements"],
                   answer["verified_by_execution"], answer["replay"])


def check(text, task, *, pipeline=None, target=None, tune=None, secret=None, program=None, timeout=600):
    """Screens a kernel's text for a task (a directory or a shipped task's name).  Raises RkbError when no check could be made."""
    with tempfile.TemporaryDirectory(prefix="rkb-check-") as folder:
        path = os.path.join(folder, "candidate.cu")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        words = [_program(program), "check", path, "--json", "--task", os.fspath(task)]
        for option, value in (("--pipeline", pipeline), ("--target", target), ("--secret", secret)):
            words += [option, os.fspath(value)] if value is not None else []
        for name, value in (tune or {}).items():
            words += ["--tune", f"{name}={value}"]
        try:
            done = subprocess.run(words, capture_output=True, text=True, timeout=timeout, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise RkbError(str(error)) from error
    if done.stdout.lstrip().startswith("{"):
        return _read(json.loads(done.stdout))
    if done.returncode == 1:  # the manifest says nothing sensible: that is the kernel's fault
        return Checked("reject", "plan.manifest", done.stderr.strip().replace(path, "candidate.cu"))
    raise RkbError(done.stderr.strip() or f"rkb check ended with {done.returncode}")
