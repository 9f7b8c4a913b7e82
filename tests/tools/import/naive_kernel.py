"""Writes the plainest kernel for a task's graph: one launch a node, one thread an output element, nothing fused or shared.

    naive_kernel.py TASK_DIRECTORY [--fault SEED]  > kernel.cu

It knows no schedules and shares no code with what proposes kernels: it exists to find out whether an imported task can be judged,
by a kernel that is right and by the same kernel with one fault.  --fault SEED breaks one node.
"""

import argparse
import collections
import os
import random
import re
import sys

import yaml

import naive_bodies

CTYPES = {"float32": "float", "float64": "double", "int64": "long long", "int32": "int", "uint8": "unsigned char"}
ALIASES = {"reshape", "view", "flatten", "squeeze", "unsqueeze", "contiguous", "detach"}
BLOCK = 128
MOST_JOINED = 8  # operands of one launch, with all their sizes
MOST_NAMED = 64  # sizes: what `let:` takes
MOST_PARTS = 24  # with one size each


class Unwritten(Exception):
    """The writer has no body for an operation."""


def parts_of(text):
    """An expression list in one string, split at commas outside parentheses."""
    found, depth, current = [], 0, ""
    for letter in str(text):
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            found.append(current.strip())
            current = ""
        else:
            current += letter
    return found + [current.strip()] if current.strip() else found


class Value:
    def __init__(self, name, dtype, shape):
        self.name = name  # of the buffer
        self.dtype = dtype
        self.shape = shape  # expression texts

    @property
    def ctype(self):
        if self.dtype not in CTYPES:
            raise Unwritten("values of type %s" % self.dtype)
        return CTYPES[self.dtype]


class Node:
    """One node, with what its body needs: coordinates, elements of operands, loops."""

    def __init__(self, number, entry, operands, outputs):
        self.name = "node%s" % number
        self.op = entry["op"]
        self.attributes = entry.get("attr") or {}
        self.operands = operands
        self.outputs = outputs
        self.lines = []
        self.threads = None  # how many, where it is not one an output element
        self.read = set()  # parameters for sizes that the text reads
        self.wanted = []  # attributes that became parameters: (name, is real, expression)

    def rank(self, which):
        return len(self.operands[which].shape)

    @property
    def out_rank(self):
        return len(self.outputs[0].shape)

    def size(self, which, dim):
        return "d%d_%d" % (which, dim % self.rank(which))

    def out_size(self, dim):
        return "e%d" % (dim % self.out_rank)

    def at(self, which, coordinates):
        """Element of operand `which` at coordinates, one text a dim."""
        index = "0"
        for dim, coordinate in enumerate(coordinates):
            index = "(%s * d%d_%d + (%s))" % (index, which, dim, coordinate) if dim else "(%s)" % coordinate
        return "p%d[%s]" % (which, index)

    def spread(self, which, coordinates=None):
        """Element of operand `which` that broadcasting puts at the output's coordinates."""
        whole, shape = self.outputs[0].shape, self.operands[which].shape
        if not coordinates and shape == whole and not self.threads:
            return "p%d[i]" % which
        rank = self.rank(which)
        made = whole[len(whole) - rank :] if not coordinates and rank else [None] * rank
        coordinates = coordinates or self.coordinates()
        own = coordinates[len(coordinates) - rank :] if rank else []
        return self.at(which, ["0" if size == "1" else c if size == wanted else "d%d_%d == 1 ? 0 : %s" % (which, d, c)
                               for d, (c, size, wanted) in enumerate(zip(own, shape, made))])  # fmt: skip

    def coordinates(self):
        return ["c%d" % d for d in range(self.out_rank)]

    def integer(self, name, default=None, part=None):
        """An integer attribute as a parameter of the kernel."""
        given = self.attributes.get(name, default)
        texts = parts_of(given)
        text = texts[part if len(texts) > 1 and part is not None else 0]
        label = "a_%s%s" % (name, "" if part is None else part)
        if name != "start" and re.fullmatch(r"-?\d+", text):  # where a part starts differs from node to node
            return "(%sll)" % text
        if not any(label == known for known, _, _ in self.wanted):
            self.wanted.append((label, False, text))
        return label

    def literal(self, name, default=None):
        """An integer attribute that the text itself depends on, such as a dim."""
        return int(str(self.attributes.get(name, default)))

    def literals(self, name):
        value = self.attributes.get(name)
        return None if value is None else [int(text) for text in parts_of(value)]

    def real(self, name, default=None):
        text = str(self.attributes.get(name, default))
        label = "r_%s" % name
        if text.lstrip("-.") == "inf":
            return "(-CUDART_INF_F)" if text.startswith("-") else "CUDART_INF_F"
        if not any(label == known for known, _, _ in self.wanted):
            self.wanted.append((label, True, text))
        return label

    def has(self, name):
        return name in self.attributes

    def true(self, name, default=False):
        return str(self.attributes.get(name, default)).lower() == "true"

    def add(self, line):
        self.lines.append(line)

    # --- the text of the kernel

    def text(self, fault):
        """The kernel, with NAME for its name."""
        naive_bodies.write(self)
        lines = list(self.lines)
        if fault:
            lines = break_body(self, lines, fault)
        total = "e0" if self.threads else " * ".join("e%d" % d for d in range(self.out_rank)) or "1"
        body = ["   const long long total = %s;" % total,
                "   const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;", "   if (i >= total)", "      return;"]  # fmt: skip
        if self.out_rank and not self.threads:
            body.append("   long long rest = i;")
        for d in reversed(range(self.out_rank if not self.threads else 0)):
            body.append("   const long long c%d = rest %% e%d; rest /= e%d;" % (d, d, d))
        body += ["   " + line for line in lines]
        self.read = set(re.findall(r"\b[de]\d+(?:_\d+)?\b", "\n".join(body)))
        parameters = []
        for k, operand in enumerate(self.operands):
            parameters.append("const %s *p%d" % (operand.ctype, k))
            parameters += ["long long %s" % label for label, _ in self.sizes(operand.shape, "d%d_%%d" % k)]
        parameters += ["%s *q%d" % (output.ctype, k) for k, output in enumerate(self.outputs)]
        parameters += ["long long %s" % label for label, _ in self.sizes(self.outputs[0].shape, "e%d")]
        parameters += ["%s %s" % ("float" if real else "long long", label) for label, real, _ in self.wanted]
        return "extern \"C\" __global__ void NAME(%s) { // %s\n%s\n}\n" % (", ".join(parameters), self.op, "\n".join(body))

    def sizes(self, shape, label):
        """[(parameter, expression)] of the sizes that the text reads, for a source may have only so many bytes."""
        return [(label % d, size) for d, size in enumerate(shape) if label % d in self.read]

    def launch(self):
        arguments = []
        for k, operand in enumerate(self.operands):
            arguments.append(operand.name)
            arguments += [size for _, size in self.sizes(operand.shape, "d%d_%%d" % k)]
        arguments += [output.name for output in self.outputs]
        arguments += [size for _, size in self.sizes(self.outputs[0].shape, "e%d")]
        arguments += [text for _, _, text in self.wanted]
        sizes = [size if re.fullmatch(r"\w+", size) else "(%s)" % size for size in self.outputs[0].shape]
        count = self.threads or " * ".join(sizes) or "1"
        return '  - {kernel: %s, grid: "ceildiv(%s, %d)", block: %d, args: "%s"}' % (
            self.name, count, BLOCK, BLOCK, ", ".join(arguments))


def break_body(node, lines, kind):
    """One fault of the kinds that people make."""
    if kind == "shorter_sum":
        changed = [re.sub(r"(for \(long long (\w+) = 0; \w+ < )([^;]+);", r"\1\3 - (\3 > 1);", line, count=1) for line in lines]
        if changed != lines:
            return changed
    if kind == "neighbour":
        return [line.replace("q0[i] = ", "q0[i ^ (total > 1 && (i | 1) < total)] = ") for line in lines]
    if kind == "last_missing":
        return ["if (i == total - 1 && total > 1) return;"] + lines
    return [re.sub(r"q0\[i\] = (.*);$", r"q0[i] = (\1) + (%s)(1 + i %% 3);" % node.outputs[0].ctype, line) for line in lines]


class Graph:
    def __init__(self, directory):
        with open(os.path.join(directory, "task.yaml")) as file:
            self.task = yaml.load(file, yaml.BaseLoader)
        with open(os.path.join(directory, "reference.graph.yaml")) as file:
            self.graph = yaml.load(file, yaml.BaseLoader)
        self.outputs = {}  # graph value -> task output
        self.sizes = self.named_sizes()
        named = {task: value for task, value in (self.graph.get("outputs") or {}).items()}
        self.values = {}
        for name, tensor in self.task["tensors"].items():
            shape = self.shape_of(tensor)
            if tensor["role"] == "out":
                self.outputs[named.get(name, name)] = name
            else:
                self.values[name] = Value(name, tensor["dtype"], shape)
        self.scratch = []
        self.nodes = [node for entry in self.graph["nodes"] for node in self.read(entry)]
        self.share_scratch()

    def named_sizes(self):
        """Expression -> the manifest's name for it, of those that save most: a source may have only so many bytes."""
        described = [made for entry in self.graph["nodes"] for made in entry["out"]] + list(self.task["tensors"].values())
        counts = collections.Counter(text for one in described for text in parts_of(one.get("shape", "")) if not text.isidentifier() and not text.isdigit())
        chosen = sorted(counts, key=lambda text: -counts[text] * len(text))[:MOST_NAMED]
        return {text: "n_%d" % i for i, text in enumerate(chosen)}

    def shape_of(self, described):
        return [self.sizes.get(text, text) for text in parts_of(described.get("shape", ""))]

    def read(self, entry):
        operands = [self.values[name] for name in entry.get("in") or []]
        outputs = []
        for made in entry["out"]:
            name = made["name"]
            value = Value(self.outputs.get(name, "v_" + name), made["dtype"], self.shape_of(made))
            aliased = entry["op"] in ALIASES and name not in self.outputs
            if aliased:
                value.name = operands[0].name
            elif name not in self.outputs:
                self.scratch.append(value)
            self.values[name] = value
            outputs.append(value)
        if entry["op"] in ALIASES and entry["out"][0]["name"] not in self.outputs:
            return []
        if entry["op"] in naive_bodies.RECURRENT:
            return self.recurrent(entry, operands, outputs)
        if self.sums_all(entry, operands):
            return self.in_rows(entry, operands, outputs)
        if entry["op"] in ("sum", "mean", "norm") and self.reduces_all(entry, operands):
            return self.in_sums(entry, operands, outputs)
        if entry["op"] in naive_bodies.NORMS and len(operands[0].shape) > 2 and not self.given_statistics(entry, operands):
            return self.in_statistics(entry, operands, outputs)
        if entry["op"] in ("softmax", "log_softmax", "layer_norm") and self.by_rows(entry, operands):
            return self.in_row_statistics(entry, operands, outputs)
        if entry["op"] == "cat" and len(operands) > MOST_JOINED:
            return self.joined(entry, operands, outputs)
        return [Node(len(self.values), entry, operands, outputs)]

    def sums_all(self, entry, operands):
        """Whether the node adds up a whole tensor, which one thread would not do in a lifetime at published sizes."""
        reduced = (entry.get("attr") or {}).get("reduction", "mean") != "none"
        rank = len(operands[0].shape) if operands else 0
        return reduced and (entry["op"] in naive_bodies.LOSSES and rank > 1 or entry["op"] in ("cross_entropy", "nll_loss", "triplet_margin_loss") and rank == 2)

    def in_rows(self, entry, operands, outputs):
        """The sum of each row by a thread of its own, then the sum of the rows."""
        attributes = dict(entry.get("attr") or {})
        kind, first = attributes.get("reduction", "mean"), operands[0].shape[0]
        rows = Value("l_" + entry["out"][0]["name"], "float32", [first])
        self.scratch.append(rows)
        apart = entry["op"] in naive_bodies.LOSSES
        count = " * ".join("(%s)" % size for size in (operands[0].shape if apart and kind == "mean" else [first]))
        attributes["reduction"] = "rows" if apart else "none"
        total = {"op": "rows_total", "attr": {"divisor": "1" if kind == "sum" else count}}
        return [Node("%d_rows" % len(self.values), dict(entry, attr=attributes), operands, [rows]),
                Node(len(self.values), total, [rows], outputs)]  # fmt: skip

    def reduces_all(self, entry, operands):
        dims, rank = parts_of((entry.get("attr") or {}).get("dim", "")), len(operands[0].shape)
        return rank > 1 and len({int(dim) % rank for dim in dims} or range(rank)) == rank and operands[0].dtype == "float32"

    def in_sums(self, entry, operands, outputs):
        """The sums of rows along the last dim, then the sum of those."""
        shape, out = operands[0].shape, entry["out"][0]["name"]
        rows = Value("t_" + out, "float32", shape[:-1])
        self.scratch.append(rows)
        count = " * ".join("(%s)" % size for size in shape) if entry["op"] == "mean" else "1"
        squares = entry["op"] == "norm"
        return [Node("%d_rows" % len(self.values), {"op": "row_sums", "attr": {"squares": squares}}, operands, [rows]),
                Node(len(self.values), {"op": "rows_total", "attr": {"divisor": count, "root": squares}}, [rows], outputs)]  # fmt: skip

    def given_statistics(self, entry, operands):
        return entry["op"] == "batch_norm" and len(operands) >= 3 and str((entry.get("attr") or {}).get("training", "")).lower() != "true"

    def in_statistics(self, entry, operands, outputs):
        """Mean and variance of rows along the last dim, then of what a norm takes together, then the norm."""
        x, out, attributes = operands[0], entry["out"][0]["name"], entry.get("attr") or {}
        kept = {"batch_norm": [x.shape[1]], "instance_norm": x.shape[:2]}.get(entry["op"]) or [x.shape[0], str(attributes["num_groups"])]
        values = [Value(letter + out, "float32", shape) for letter, shape in (("a_", x.shape[:-1]), ("b_", x.shape[:-1]), ("m_", kept), ("w_", kept))]
        self.scratch += values
        joined = {"op": "joined_statistics", "attr": {"length": x.shape[-1], "norm": entry["op"]}}
        return [Node("%d_rows" % len(self.values), {"op": "row_statistics"}, [x], values[:2]),
                Node("%d_joined" % len(self.values), joined, values[:2], values[2:]),
                Node(len(self.values), {"op": "normalised", "attr": dict(attributes, norm=entry["op"])}, [x] + values[2:] + operands[1:], outputs)]  # fmt: skip

    def by_rows(self, entry, operands):
        shape = operands[0].shape
        return len(shape) > 1 and operands[0].dtype == "float32" and (
            len(parts_of(entry["attr"]["normalized_shape"])) == 1 if entry["op"] == "layer_norm" else int(str(entry["attr"]["dim"])) in (-1, len(shape) - 1))

    def in_row_statistics(self, entry, operands, outputs):
        """Two numbers of each row by a thread of its own, then the elements: every element for itself would go through its row again."""
        x, out, op = operands[0], entry["out"][0]["name"], entry["op"]
        values = [Value(letter + out, "float32", x.shape[:-1]) for letter in ("m_", "w_")]
        self.scratch += values
        rows = {"op": "row_statistics" if op == "layer_norm" else "row_exponentials"}
        return [Node("%d_rows" % len(self.values), rows, [x], values),
                Node(len(self.values), {"op": "by_rows", "attr": dict(entry.get("attr") or {}, of=op)}, [x] + values + operands[1:], outputs)]  # fmt: skip

    def joined(self, entry, operands, outputs):
        """A launch for some operands, for one takes only so many arguments."""
        dim = int(str((entry.get("attr") or {}).get("dim", 0))) % len(outputs[0].shape)
        nodes = []
        for first in range(0, len(operands), MOST_PARTS):
            start = " + ".join("(%s)" % before.shape[dim] for before in operands[:first]) or "0"
            part = {"op": "cat_part", "attr": {"dim": dim, "start": start}}
            nodes.append(Node("%d_%d" % (len(self.values), first), part, operands[first : first + MOST_PARTS], outputs))
        return nodes

    def share_scratch(self):
        """Gives values that are not needed at one time, and are alike, one buffer."""
        own = {value.name: value for value in self.scratch}
        last = {value.name: i for i, node in enumerate(self.nodes) for value in node.operands + node.outputs}
        free, shared, kept = {}, {}, []
        for i, node in enumerate(self.nodes):
            names = [value.name for value in node.operands + node.outputs if value.name in own]
            for name in names:
                value = own[name]
                kind = (value.dtype, tuple(value.shape))
                if name not in shared:
                    shared[name] = free[kind].pop() if free.get(kind) else name
                    if shared[name] == name:
                        kept.append(value)
            for name in dict.fromkeys(names):
                if last[name] == i:
                    free.setdefault((own[name].dtype, tuple(own[name].shape)), []).append(shared[name])
        for value in {id(value): value for node in self.nodes for value in node.operands + node.outputs}.values():
            value.name = shared.get(value.name, value.name)
        self.scratch = kept
        short = {value.name: "z%d" % i for i, value in enumerate(kept)}
        for value in {id(value): value for node in self.nodes for value in node.operands + node.outputs}.values():
            value.name = short.get(value.name, value.name)

    def recurrent(self, entry, operands, outputs):
        """One thread a sequence computes all states, which the gates read back; the last states are copied from what it wrote."""
        gates, hidden = naive_bodies.RECURRENT[entry["op"]], outputs[0].shape[2]
        room = Value("g_" + entry["out"][0]["name"], "float32", [outputs[0].shape[1], "%d * (%s)" % (gates + 1, hidden)])
        self.scratch.append(room)
        while len(outputs) < (3 if entry["op"] == "lstm" else 2):
            spare = Value("s%d_%s" % (len(outputs), entry["out"][0]["name"]), "float32", outputs[0].shape[1:])
            self.scratch.append(spare)
            outputs.append(spare)
        states = 2 if entry["op"] == "lstm" else 1
        node = Node(len(self.values), entry, operands, [outputs[1]] + [outputs[0]] + outputs[2:] + [room])
        node.threads = outputs[0].shape[1]
        node.states = states
        return [node]

    def kernel(self, seed=None):
        broken = kind = None
        if seed is not None:
            chance = random.Random(seed)
            broken = chance.choice([node for node in self.nodes if node.op not in ("full", "arange")] or self.nodes)
            kind = chance.choice(("shorter_sum", "neighbour", "last_missing", "added"))
        texts = {}  # of a kernel -> its name: equal nodes share one
        for node in self.nodes:
            node.name = texts.setdefault(node.text(kind if node is broken else None), node.name)
        lines = ["/* rkb-kernel: 1", "task: " + self.task["name"], "direction: forward"]
        if self.sizes:
            lines.append("let:")
            lines += ['  %s: "%s"' % (name, text) for text, name in self.sizes.items()]
        if self.scratch:
            lines.append("scratch:")
            for value in self.scratch:
                lines.append('  %s: {dtype: %s, shape: "%s"}' % (value.name, value.dtype, ", ".join(value.shape) or "1"))
        lines.append("launches:")
        lines += [node.launch() for node in self.nodes] + ["*/"]
        return "\n".join(lines) + "\n" + naive_bodies.PRELUDE + "\n".join(text.replace("NAME", name, 1) for text, name in texts.items())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("directory")
    parser.add_argument("--fault", type=int)
    options = parser.parse_args()
    try:
        sys.stdout.write(Graph(options.directory).kernel(options.fault))
    except Unwritten as problem:
        print("no naive kernel: %s" % problem, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
