#!/usr/bin/env python3
"""Which C sources of two commits differ in more than comments, includes, layout and names: what remains to be read of a change that moves and renames
files.  Builds and runs nothing; compare_checkouts.py compares what the programs say.

    compare_tokens.py BEFORE AFTER [FOLDER...]      (commits; core and plugins when no folder is named)

A file is compared with the one that git finds it came from.  An identifier may have another name when it has the same other name at all its places of
the files that changed, and no other identifier gets that name.  Texts in quotes, numbers and everything else must be the same.  Include guards may
differ.

Exit: 0 nothing remains, 1 something does: it is listed.
"""

import re
import subprocess
import sys

SOURCES = (".c", ".h", ".def", ".cpp")
TOKEN = re.compile(r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[A-Za-z_]\w*|\d[\w.]*|\S""", re.S)
IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
NEITHER = re.compile(r"(?m)^#include.*$|^#(?:ifndef|define) \w+_H$")
SHOWN = 100


def git(*words):
    return subprocess.run(("git",) + words, capture_output=True, check=True).stdout.decode(errors="backslashreplace")


def changed_files(before, after, folders):
    """(path before or None, path after or None) of each source that changed, moved, came or went."""
    for line in git("diff", "-M40%", "--name-status", before, after, "--", *folders).splitlines():
        state, *paths = line.split("\t")
        if paths[-1].endswith(SOURCES):
            yield None if state == "A" else paths[0], None if state == "D" else paths[-1]


def tokens(text):
    return [match[0] for match in TOKEN.finditer(NEITHER.sub("", text)) if not match[0].startswith(("//", "/*"))]


class Names:
    """What identifiers of before are called after, and the reverse."""

    def __init__(self):
        self.after = {}
        self.before = {}

    def pair(self, old, new):
        self.after.setdefault(old, set()).add(new)
        self.before.setdefault(new, set()).add(old)

    def renamed(self):
        return sorted(old for old, new in self.after.items() if new != {old})

    def unclear(self):
        """Sentences about names that went two ways."""
        for old, new in sorted(self.after.items()):
            if len(new) > 1:
                yield "%s is called %s" % (old, " and ".join(sorted(new)))
        for new, old in sorted(self.before.items()):
            if len(old) > 1:
                yield "%s was called %s" % (new, " and ".join(sorted(old)))


def compare(before, after, names):
    """Sentences about tokens that differ beyond names."""
    if len(before) != len(after):
        return ["%d tokens before, %d after" % (len(before), len(after))]
    different = []
    for old, new in zip(before, after):
        if IDENTIFIER.fullmatch(old) and IDENTIFIER.fullmatch(new):
            names.pair(old, new)
        elif old != new:
            different.append("%s -> %s" % (old[:SHOWN], new[:SHOWN]))
    return different


def main(arguments):
    if len(arguments) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    before, after, *folders = arguments
    names, files, remaining = Names(), 0, []
    for old, new in changed_files(before, after, folders or ["core", "plugins"]):
        files += 1
        if old and new:
            sentences = compare(tokens(git("show", "%s:%s" % (before, old))), tokens(git("show", "%s:%s" % (after, new))), names)
        else:
            sentences = ["came" if new else "went"]
        remaining += ["%s: %s" % (new or old, sentence) for sentence in sentences]
    remaining += names.unclear()
    for sentence in remaining:
        print(sentence)
    print("%d sources changed or moved, %d identifiers renamed, %d differences remain" % (files, len(names.renamed()), len(remaining)))
    return 1 if remaining else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
