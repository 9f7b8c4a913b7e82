"""rkb from Python: open(run) reads a run, check(text, task) checks a kernel, and rkb.stage makes stages of functions (docs/python.md)."""
from .check import Checked, RkbError, check
from .run import Run, open_run

open = open_run  # pylint: disable=redefined-builtin
__all__ = ["Checked", "RkbError", "Run", "check", "open"]
