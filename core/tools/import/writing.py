"""The text of task.yaml and reference.graph.yaml."""


def scalar(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return repr(value)
    if value.isidentifier():
        return value
    return '"%s"' % value


def attribute_text(value):
    if isinstance(value, tuple):
        return '"%s"' % ", ".join(value)
    return scalar(value)


def graph_text(nodes, outputs):
    lines = ["rkb-graph: 1", "nodes:"]
    for number, node in enumerate(nodes):
        attributes = ", ".join("%s: %s" % (key, attribute_text(value)) for key, value in node["attr"].items())
        lines.append(
            "  - {id: n%d, op: %s, in: [%s]%s, out: [%s]}"
            % (number, node["op"], ", ".join(node["in"]), ", attr: {%s}" % attributes if attributes else "", ", ".join(
                "{name: %s, dtype: %s, shape: \"%s\"}" % (name, dtype, ", ".join(shape))
                for name, dtype, shape in [(node["out"], node["dtype"], node["shape"]), *node.get("more", ())]))
        )  # fmt: skip
    if outputs:
        lines.append("outputs: {%s}" % ", ".join("%s: %s" % pair for pair in outputs.items()))
    return "\n".join(lines) + "\n"


def case_text(name, assignment):
    return "    - {name: %s, dims: {%s}}" % (name, ", ".join("%s: %d" % pair for pair in assignment.items()))


def task_text(task):
    """task: a dict with name, summary, source, precision, directions, dims, require, tensors, wants_grad, check, bench."""
    lines = [
        "rkb-task: 1",
        "name: " + task["name"],
        'summary: "%s"' % task["summary"],
        'source: "%s"' % task["source"],
        "precision: " + task["precision"],
        "directions: [%s]" % ", ".join(task["directions"]),
    ]
    if task["dims"]:
        lines.append("dims:")
        for name, (low, high, multiple) in task["dims"].items():
            lines.append("  %s: {range: %d..%d%s}" % (name, low, high, ", multiple_of: %d" % multiple if multiple > 1 else ""))
    else:
        lines.append("dims: {}")
    if task["require"]:
        lines.append("require: [%s]" % ", ".join('"%s"' % condition for condition in task["require"]))
    lines.append("tensors:")
    for tensor in task["tensors"]:
        init = ", init: " + tensor["init"] if tensor["init"] else ""
        init += ", structure: " + tensor["structure"] if tensor.get("structure") else ""
        origin = "  # " + tensor["origin"] if tensor["origin"] != tensor["name"] else ""
        lines.append(
            "  %s: {role: %s, dtype: %s, shape: \"%s\"%s}%s"
            % (tensor["name"], tensor["role"], tensor["dtype"], ", ".join(tensor["shape"]), init, origin)
        )
    if task["wants_grad"]:
        lines.append("wants_grad: [%s]" % ", ".join(task["wants_grad"]))
    lines += ["cases:", "  check:"]
    lines += [case_text(name, assignment) for name, assignment in task["check"]]
    lines.append("  bench:")
    lines += [case_text(name, assignment) for name, assignment in task["bench"]]
    return "\n".join(lines) + "\n"
