"""The sources below core/ and plugins/, and what each includes: C by its #include lines, Python by its imports of modules of core/.
imports.py checks them."""
import ast
import os
import re

INCLUDE = re.compile(r'^[ \t]*#[ \t]*(?:include|include_next|import)\b[ \t]*(?:(["<])([^">\n]+)[">]|(.*))', re.MULTILINE)
SOURCES = (".c", ".h", ".cc", ".cpp", ".hpp", ".inc", ".def", ".cu", ".cuh", ".py")
LEFT_OUT = ("node_modules", "__pycache__", "build")


def folders_in(path):
    """Its folders, without those that a build makes."""
    names = sorted(os.listdir(path)) if os.path.isdir(path) else []
    return [name for name in names if os.path.isdir(os.path.join(path, name)) and name not in LEFT_OUT and not name.endswith(".egg-info")]


class Tree:
    """The sources below core/ and plugins/, named from the tree's root.  whole: the tree has all headers that its files include."""

    def __init__(self, root, whole):
        self.root, self.whole = root, whole
        self.files, self.folders, self.modules = [], [], {}
        for top in ("core", "plugins"):
            self.walk(top)
        self.known = set(self.files)

    def walk(self, folder):
        path = os.path.join(self.root, folder)
        if not os.path.isdir(path):
            return
        self.folders.append(folder)
        for name in sorted(os.listdir(path)):
            if name.endswith(SOURCES) and os.path.isfile(os.path.join(path, name)):
                self.files.append(f"{folder}/{name}")
                if name.endswith(".py"):
                    self.modules.setdefault(name[:-3], f"{folder}/{name}")
        for name in folders_in(path):
            self.walk(f"{folder}/{name}")

    def includes(self, file):
        """(line, mark, name) of each include: the mark is the quote or bracket before the name, or None where a macro stands for both."""
        with open(os.path.join(self.root, file), encoding="utf-8", errors="replace") as opened:
            text = opened.read()
        if file.endswith(".py"):
            yield from self.imports(file, text)
            return
        for match in INCLUDE.finditer(text):
            yield text.count("\n", 0, match.start()) + 1, match.group(1), match.group(2) or match.group(3).strip()

    def imports(self, file, text):
        """The same of a Python file's imports of modules of core/: the name is that of the module's file."""
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ImportFrom):
                names = [node.module] if node.level == 0 else []
            else:
                names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            for name in (name.split(".")[0] for name in names):
                module = "core/python/rkb/__init__.py" if name == "rkb" else self.modules.get(name, "")
                if module.startswith("core/") and f"{os.path.dirname(file)}/{name}.py" not in self.known:
                    yield node.lineno, '"', module[len("core/"):]
