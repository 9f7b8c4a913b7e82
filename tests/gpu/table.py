#!/usr/bin/env python3
"""The fastest checked kernel of each task, direction and case against every PyTorch baseline.  usage: table.py OUT
OUT is all.sh's folder.  Markdown; raw numbers go to OUT/table.json."""

import glob
import json
import os
import sys

import archive

NAMES = ["eager", "eager_graph", "compile", "compile_graph", "max_autotune", "max_autotune_graph"]


def fastest(out):
    best = {}
    for run in glob.glob(os.path.join(out, "runs", "*")):
        if not os.path.exists(os.path.join(run, "run.sqlite")) or "cheat" in run or "hostile" in run:
            continue
        for candidate in archive.candidates(run):
            if candidate.standing != "accept":
                continue
            for (name, case), value in candidate.measurements.items():
                key = (candidate.task, candidate.direction, case)
                if name == "time.us" and case and (key not in best or value < best[key]["us"]):
                    best[key] = {"us": value, "warm_us": candidate.measurements.get(("time.warm_us", case)), "kernel": candidate.name,
                                 "tune": candidate.tune, "predicted_us": candidate.measurements.get(("model.predicted_us", case))}
    return best


def main():
    out = sys.argv[1]
    best, rows = fastest(out), []
    baselines = {}
    for path in glob.glob(os.path.join(out, "baselines", "*.json")):
        with open(path, encoding="utf-8") as file:
            record = json.load(file)
        baselines[record["task"], record["direction"], record["case"]] = record
    print("Microseconds, cold cache, GPU time. Speed-up is against the best baseline.\n")
    print("| task | direction | case | kernel | ours | " + " | ".join(NAMES) + " | copy | speed-up | share of copy |\n" + "|---" * (len(NAMES) + 8) + "|")
    for key in sorted(set(best) | set(baselines)):
        ours, record = best.get(key), baselines.get(key, {"baselines": {}})
        times = {name: record["baselines"].get(name, {}).get("us") for name in NAMES}
        known = [value for value in times.values() if value]
        copy = record.get("copy", {}).get("us")
        shown = [f"{times[name]:.1f}" + ("?" if name in record.get("absurd", []) else "") if times[name] else "" for name in NAMES]
        speedup = f"{min(known) / ours['us']:.2f}" if known and ours else ""
        share = f"{copy / ours['us']:.0%}" if copy and copy > 20 and ours else ""
        rows.append({"task": key[0], "direction": key[1], "case": key[2], "ours": ours, "baselines": record["baselines"], "copy": record.get("copy")})
        print("| " + " | ".join([*key, ours["kernel"] if ours else "none accepted", f"{ours['us']:.1f}" if ours else "", *shown,
                                 f"{copy:.1f}" if copy else "", speedup, share]) + " |")
    with open(os.path.join(out, "table.json"), "w", encoding="utf-8") as file:
        json.dump(rows, file, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
