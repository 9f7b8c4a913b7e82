"""The tables that kernel_table.py prints of its times."""

import math
import pathlib


def is_pytorch(label):
    return label.startswith(("eager", "compile", "max_autotune", "sdpa"))


def read_times(paths):
    """By task, direction and case: the times of the fullest sitting, of several files the last one's, and whether it is full."""
    cases = {}
    for path in paths:
        own = {}
        for line in pathlib.Path(path).read_text().splitlines():
            task, direction, case, sitting, label, us, error, _ = line.split("\t")
            own.setdefault((task, direction, case), {}).setdefault(sitting, {})[label] = (float(us), float(error))
        for case, sittings in own.items():
            if "full" in sittings or not cases.get(case, (None, False))[1]:
                cases[case] = (sittings.get("full") or sittings["early"], "full" in sittings)
    return sorted(cases.items())


def figures(paths):
    """One line a case, tab-separated."""
    variants = ["eager", "eager_graph", "compile", "compile_graph", "max_autotune", "max_autotune_graph"]
    print("\t".join(["task", "direction", "case", *variants, "others", "ours"]))
    for key, (times, _) in read_times(paths):
        others = [label for label in times if is_pytorch(label) and label not in variants]
        ours = [label for label in times if not is_pytorch(label)]
        print("\t".join([*key, *(f"{times[v][0]:.5g}" if v in times else "" for v in variants),
                         *(", ".join(f"{label} {times[label][0]:.5g}" for label in sorted(group, key=times.get)) for group in (others, ours))]))


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def show(paths):
    """The table."""
    print("| task | direction | case | ours us | which | difference | PyTorch us | which | PyTorch / ours | from the graph us |\n"
          "|---|---|---|--:|---|--:|--:|---|--:|--:|")
    ratios = []
    for (task, direction, case), (times, full) in read_times(paths):
        ours = min(((us, label, error) for label, (us, error) in times.items() if not is_pytorch(label)), default=None)
        theirs = min(((us, label) for label, (us, _) in times.items() if is_pytorch(label)), default=None)
        if not ours or not theirs:
            continue
        graph = f"{times['suited'][0]:.5g}" if "suited" in times else ""
        difference = "" if math.isnan(ours[2]) else f"{ours[2]:.0e}"
        ratios.append((task, full, theirs[0] / ours[0]))
        print(f"| {task} | {direction} | {case} | {ours[0]:.5g} | {ours[1]} | {difference} | {theirs[0]:.5g} | {theirs[1]}{'' if full else ' *'} | "
              f"{theirs[0] / ours[0]:.2f} | {graph} |")
    narrow = ("bf16_", "fp16_", "fp8_", "w4a16", "w8a8", "top_k", "sample_")
    for name, wanted in (("float32", False), ("narrow", True)):
        chosen = [ratio for task, full, ratio in ratios if full and task.startswith(narrow) == wanted]
        if chosen:
            print(f"\n{name}: geometric mean {geometric_mean(chosen):.3f} over {len(chosen)} cases, least {min(chosen):.2f}, below 0.85: "
                  f"{sum(ratio < 0.85 for ratio in chosen)}")
    print("\n*: eager code alone was timed, its graph included; such cases are in no mean.")
