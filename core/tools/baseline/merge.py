#!/usr/bin/env python3
"""Adds what was timed before to baselines: what torch.compile chose then may be faster than what it chose now, and the best counts.

    merge.py --tuning NAME --from FOLDER --into FOLDER

Both hold records as baseline.py writes them.  Those of the same case, PyTorch, driver and device are merged; the others are named."""

import argparse
import glob
import json
import os
import sys

import timing_protocol as protocol


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tuning", required=True)
    parser.add_argument("--from", dest="source", required=True)
    parser.add_argument("--into", required=True)
    arguments = parser.parse_args()
    for path in sorted(glob.glob(os.path.join(arguments.into, "*.json"))):
        name = os.path.basename(path)
        other_path = os.path.join(arguments.source, name)
        if not os.path.exists(other_path):
            print(f"{name}: nothing from before")
            continue
        with open(path, encoding="utf-8") as file, open(other_path, encoding="utf-8") as other_file:
            record, other = json.load(file), json.load(other_file)
        try:
            protocol.merge(record, other, arguments.tuning)
        except ValueError as problem:
            print(f"{name}: {problem}")
            continue
        protocol.write_record(path, record)
        faster = [variant for variant, result in record["baselines"].items() if result.get("tuning") == arguments.tuning]
        print(f"{name}: faster then: {', '.join(faster) or 'nothing'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
