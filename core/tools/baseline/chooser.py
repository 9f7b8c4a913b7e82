"""The process that chooses kernels for a process that measures.  When a process loads a choice that it made itself, it repeats coordinate
descent, because its compilers' results are still in its memory; a process that only loads does not (docs/timing.md, 'PyTorch').  It is
started when it is first needed and ends with the process that asks."""

import contextlib
import json
import subprocess


class Chooser:
    """command: baseline.py --serve --choose-only.  It answers as baseline.py's serve() does."""

    def __init__(self, command):
        self.command, self.process = command, None

    def ask(self, request):
        """Returns when the choices were made or have failed.  RuntimeError: the process could not try."""
        if not self.process:
            self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            self.hear()
        with contextlib.suppress(BrokenPipeError):  # it has ended, which is heard
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
        self.hear()

    def hear(self):
        line = self.process.stdout.readline()
        if not line:
            self.end()
            raise RuntimeError("the process that chooses has ended")
        answer = json.loads(line)
        if "error" in answer:
            raise RuntimeError(answer["error"])

    def end(self):
        if self.process:
            with contextlib.suppress(BrokenPipeError):
                self.process.stdin.close()
            self.process.stdout.close()
            self.process.wait()
            self.process = None
