#!/usr/bin/env python3
"""A model server whose worth is declared: which share of its replies is right, wrong, a repetition or no kernel, how large its kernels are,
and what a feature of the prompt changes.  Experiments run against it, so that one knows beforehand what they must find.  It says nothing
about any model.  Speaks OpenAI's chat protocol.  Standard library alone.

usage: declared_model.py DECLARATION.json KERNEL.cu
  Prints its port and serves until its standard input ends.

The declaration (numbers; all but "seed" may be left out):

  seed      two servers with different seeds answer differently
  wrong     share of replies whose manifest is broken, which lint finds
  repeated  share of replies that repeat the kernel in the prompt, where there is one
  prose     share of replies without a kernel
  bytes     {median, spread}: a right reply is KERNEL, padded with declarations to median x exp(spread x normal) bytes
  inherits  0 to 1: how far the size of a kernel that is shown carries over; 0: not at all
  gains     [{when, gain}]: divides the size where `when` holds of the prompt:
              "own profile"    it shows a measurement lines.value, and the first kernel in it has so many lines
              "other profile"  it shows one, and that kernel has another number of lines
              "two kernels"    it shows two kernels
              a text           it contains the text

A reply depends on the prompt and the seed alone, not on what came before: so a run is the same on any number of cores.
"""
import hashlib
import json
import math
import random
import re
import sys

import kernel_author

# "[data-5f3a begins: candidate 12, tune {}]", the text, "[data-5f3a ends]".
SHOWN = re.compile(r"^\[(data-\w+) begins: candidate \d+, tune [^\n]*\]\n(.*?)\n\[\1 ends\]", re.MULTILINE | re.DOTALL)
PROFILE = re.compile(r"lines\.value = (\d+)")
# Between these words of the shipped prompts stand the kernels that a reply is to change.
CHANGED = ("This kernel is right, and is to become faster:", "This kernel was rejected:", "These kernels are different answers", "This is how it is done so far:")
END = ("How fast it is", "What was found", "How fast each is", "What other changes")
LEAST_WIDTH, WIDTH = 20, 80  # bytes of a line of padding
DECLARATIONS = ("struct ", "union ", "class ", "typedef int ", "extern int ", "extern float ")


class DeclaredModel:
    def __init__(self, declaration, kernel):
        self.declared, self.kernel = declaration, kernel.rstrip("\n") + "\n"

    def kernels_in(self, prompt):
        """The kernels that a reply is to change, without those that are shown as examples."""
        start = min((at for at in (prompt.find(text) for text in CHANGED) if at >= 0), default=-1)
        if start < 0:
            return []
        end = min((at for at in (prompt.find(text, start) for text in END) if at >= 0), default=len(prompt))
        return [match.group(2) for match in SHOWN.finditer(prompt[start:end])]

    def holds(self, when, prompt, kernels):
        if when == "two kernels":
            return len(kernels) == 2
        if when in ("own profile", "other profile"):
            said = PROFILE.search(prompt)  # the first kernel's comes first
            own = bool(said and kernels) and len(kernels[0].splitlines()) == int(said.group(1))
            return bool(said) and own == (when == "own profile")
        return when in prompt

    def padded(self, size, draw):
        """The kernel with declarations that nothing uses, up to so many bytes, in a drawn number of lines.  Comments would not do: kernels
        that differ in comments alone are duplicates."""
        left = int(size) - len(self.kernel)
        width = left / max(draw.randint(left // WIDTH, left // LEAST_WIDTH), 1)
        ends = [round(width * line) for line in range(1, int(left / width) + 1)]
        lines = (self.declaration(end - start - 1, draw) for start, end in zip([0, *ends], ends))
        return self.kernel + "".join(line + "\n" for line in lines)

    @staticmethod
    def declaration(length, draw):
        begin = draw.choice(DECLARATIONS)  # of several kinds: kernels that differ in names alone count as repetitions
        return begin + "".join(draw.choices("abcdefghijklmnopqrstuvwxyz", k=length - len(begin) - 1)) + ";"

    def size(self, prompt, kernels, draw):
        about = self.declared["bytes"]
        size = about["median"] * math.exp(about["spread"] * draw.gauss(0, 1))
        if kernels:
            size *= (len(kernels[0]) / about["median"]) ** self.declared.get("inherits", 0)
        for effect in self.declared.get("gains", []):
            if self.holds(effect["when"], prompt, kernels):
                size /= effect["gain"]
        return max(size, len(self.kernel) + 8)

    def answer(self, prompt):
        key = hashlib.sha256(f"{self.declared['seed']}\n{prompt}".encode()).digest()
        draw, kernels = random.Random(key), self.kernels_in(prompt)
        if "You examine CUDA kernels" in prompt:
            return 'Nothing speaks against it.\n\n{"verdict": "right", "confidence": 0.8, "line": "", "why": "no fault found"}'
        kind = draw.random()
        for name in ("prose", "repeated", "wrong"):
            kind -= self.declared.get(name, 0)
            if kind < 0:
                break
        else:
            name = "right"
        if name == "prose":
            return "I would make the loads wider, but give no kernel."
        text = kernels[0] + "\n" if name == "repeated" and kernels else self.padded(self.size(prompt, kernels, draw), draw)
        if name == "wrong":
            text = re.sub(r"^launches:", "launchez:", text, flags=re.MULTILINE)
        return f"A kernel.\n\n```cuda\n{text}```\n"


def main():
    with open(sys.argv[1], encoding="utf-8") as declaration, open(sys.argv[2], encoding="utf-8") as kernel:
        author = DeclaredModel(json.load(declaration), kernel.read())
    kernel_author.serve(author)


if __name__ == "__main__":
    main()
