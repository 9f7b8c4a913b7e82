#!/usr/bin/env python3
"""Writes a table of the results of each PyTorch process, without samples, for a repository that does not keep the records.

    sittings.py FOLDER > sittings.tsv

FOLDER holds records as baseline.py writes them.  One line a process, case and variant: the trimmed mean of its samples, what the host
took, how many kernels it timed to choose among (choices_timed) and how many samples the host was too slow for (late)."""

import argparse
import glob
import json
import os
import sys

import timing_protocol as protocol

COLUMNS = ("task", "direction", "case", "tuning", "date", "process", "copy_us", "chain_us", "variant", "us", "samples",
           "host_us", "prepared_s", "choices_timed", "late", "error")


def spell(value):
    """Writes a field: nothing for an absent value, a number with five digits, a text without characters that end a field."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.5g}"
    return " ".join(str(value).split())


def line_of(record, part, variant, result):
    """The fields of one process, case and variant, in the order of COLUMNS."""
    samples = [sample for cluster in result.get("samples_ms", []) for sample in cluster]
    anchors = part.get("anchors", {})
    known = {"task": record["task"], "direction": record["direction"], "case": record["case"].rsplit("/", 1)[-1],
             "tuning": part.get("tuning"), "date": part.get("date"), "process": part["process"].split("@")[0],
             "copy_us": anchors.get("copy_us"), "chain_us": anchors.get("chain_us"), "variant": variant,
             "us": protocol.trimmed_mean(samples) * 1e3 if samples else None, "samples": len(samples) or None}
    return [spell(known.get(column, result.get(column))) for column in COLUMNS]


def lines_of(folder):
    """The table's lines, by file name, process and variant in the order of the records."""
    for path in sorted(glob.glob(os.path.join(folder, "*.json"))):
        with open(path, encoding="utf-8") as file:
            record = json.load(file)
        for part in record["parts"]:
            for variant, result in part["variants"].items():
                yield line_of(record, part, variant, result)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", help="holds *.json as baseline.py writes them")
    print("\t".join(COLUMNS))
    for line in lines_of(parser.parse_args().folder):
        print("\t".join(line))
    return 0


if __name__ == "__main__":
    sys.exit(main())
