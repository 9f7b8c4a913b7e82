"""The kernels that torch.compile chose for a case, and the evidence that it chose them alone.

Compiling wants all of a host's cores, choosing wants the host and the device to itself: on a busy one max-autotune has been seen to
choose up to five times worse.  So what is compiled and what is chosen lie apart.  Machine code is Triton's cache, which any number of
processes fill side by side.  Choices are Inductor's cache and a mark for each, which one process at a time writes while it holds the
device.  A process that measures loads what has a mark and compiles nothing else; processes that only compile choose too, roughly, so
that they come past the code that is asked for later, but in a folder of their own that is thrown away."""

import contextlib
import hashlib
import json
import os
import shutil
import tempfile
import time

CHOICES = "TORCHINDUCTOR_CACHE_DIR"


def root():
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(home, "rkb", "baselines")


def use(environment):
    """Names the folders in an environment, unless its user has, and leaves out the launcher that chooses again; before PyTorch is
    loaded, which reads them then."""
    environment.setdefault("TRITON_CACHE_DIR", os.path.join(root(), "code"))
    environment.setdefault("TORCHINDUCTOR_CACHE_DIR", os.path.join(root(), "choices"))
    # Loading checks the tuning cache once more with it, and may forget that coordinate descent is done.  Without it, and with what
    # baseline.py does when it prepares, what was loaded stayed as it was chosen.
    environment.setdefault("TORCHINDUCTOR_USE_STATIC_CUDA_LAUNCHER", "0")


@contextlib.contextmanager
def thrown_away(environment):
    """An environment for processes that only compile: they share the machine code and have a folder for choices of their own."""
    folder = tempfile.mkdtemp(prefix="rkb-compiled-")
    try:
        yield dict(environment, **{CHOICES: folder})
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class Choices:
    """The marks of one PyTorch, driver and device."""

    def __init__(self, folder, conditions):
        self.folder, self.conditions = os.path.join(folder, "marks"), conditions

    def path(self, listing, case, mode):
        key = dict(self.conditions, task=listing["task"], hash=listing["hash"], direction=listing["direction"], case=case["name"], mode=mode)
        text = json.dumps(key, sort_keys=True)
        return os.path.join(self.folder, hashlib.sha256(text.encode()).hexdigest()[:32] + ".json"), key

    def read(self, listing, case, mode):
        """The mark of a choice; None: nothing was chosen.  {"error": ...}: choosing was tried and failed."""
        try:
            with open(self.path(listing, case, mode)[0], encoding="utf-8") as file:
                return json.load(file)
        except FileNotFoundError:
            return None

    def write(self, listing, case, mode, found):
        path, key = self.path(listing, case, mode)
        os.makedirs(self.folder, exist_ok=True)
        mark = dict(key, date=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), load=os.getloadavg()[0], **found)
        with open(path + ".new", "w", encoding="utf-8") as file:
            json.dump(mark, file, indent=1)
        os.replace(path + ".new", path)

    def wanted(self, listing, modes):
        """[(case, mode)] without a choice.  Those that failed are tried again."""
        marks = [(case, mode, self.read(listing, case, mode)) for case in listing["cases"] for mode in modes]
        return [(case, mode) for case, mode, mark in marks if mark is None or "error" in mark]
