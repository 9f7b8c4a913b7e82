"""The table of what kernelbench.py found, in Markdown: how many files of each level are imported and judged, how long that takes, and what is
left out and why.  A part of kernelbench.py (--table), and a program:

    kernelbench_table.py TSV... > table.md      one TSV for each PyTorch
"""

import sys


def rows_of(path):
    """(PyTorch's version, [row])."""
    with open(path) as file:
        lines = [line.rstrip("\n") for line in file]
    version = lines[0].replace("# PyTorch ", "") if lines and lines[0].startswith("# PyTorch") else "unknown"
    table = [line.split("\t") for line in lines if line and not line.startswith("#")]
    return version, [dict(zip(table[0], line)) for line in table[1:] if len(line) == len(table[0])]


def at(values, share):
    values = sorted(values)
    return "%.1f" % values[int(share * (len(values) - 1))] if values else ""


def seconds(rows, column):
    return [float(row[column]) for row in rows if row.get(column)]


def right(row):
    return row["naive"] == "accept"


def judged(row):
    return right(row) and row["fault"].startswith("reject")


def judged_by_another(row):
    return right(row) and row["fault"] == "accept" and row["remark"].startswith("fault 2: reject")


def inside(text):
    """Whether the share of what is allowed is a number up to 1; None where there is none."""
    try:
        return float(text) <= 1
    except ValueError:
        return None


def of_level(version, rows, level):
    own = [row for row in rows if row["level"] == level]
    imported = [row for row in own if row["imported"] == "yes"]
    held = [sum(inside(row[direction]) is True for row in imported) for direction in ("forward", "backward")]
    verdicts = [row for row in own if row["naive"]]
    times = seconds(own, "import_s")
    cells = [version, level, len(own), len(imported), held[0], held[1], sum(map(right, verdicts)), sum(map(judged, verdicts)),
             sum(map(judged_by_another, verdicts)),
             "%s, %s, %s" % (at(times, 0.5), at(times, 0.9), at(times, 1)),
             "%s, %s" % (at(seconds(verdicts, "naive_s"), 0.5), at(seconds(verdicts, "naive_s"), 0.9))]  # fmt: skip
    return "| %s |" % " | ".join(str(cell) for cell in cells)


def left_out(rows):
    """A line for each file that is not imported, not accepted, or whose fault is not rejected."""
    lines = []
    for row in sorted(rows, key=lambda row: (row["level"], int(row["file"].split("_")[0]))):
        if row["imported"] != "yes":
            why = "refused: %s" % row["remark"]
        elif row["naive"] and not judged(row):
            why = "the naive kernel: %s; with a fault: %s; %s" % (row["naive"], row["fault"], row["remark"])
        elif inside(row["forward"]) is False or inside(row["backward"]) is False:
            why = "against torch: forward %s, backward %s of what is allowed" % (row["forward"], row["backward"])
        else:
            continue
        lines.append("* %s, %s: %s" % (row["level"], row["file"][:-3], why[:200]))
    return lines


def table(paths):
    read = [rows_of(path) for path in paths]
    lines = ["| PyTorch | level | files | imported | forward held | backward held | naive accepted | of these, fault rejected | another fault where the first is accepted "
             "| import s (median, 90 %, most) | verdict s (median, 90 %) |", "|---|---|---|---|---|---|---|---|---|---|---|"]  # fmt: skip
    for version, rows in read:
        lines += [of_level(version, rows, level) for level in sorted({row["level"] for row in rows})]
    for version, rows in read:
        found = left_out(rows)
        lines += ["", "Left out with PyTorch %s:" % version, ""] + found if found else []
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.stdout.write(table(sys.argv[1:]))
