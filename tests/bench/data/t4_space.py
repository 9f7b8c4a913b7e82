"""Writes a T4 file of a small made-up tune space (1,024 points, 36 of them failed), whose times have one optimum: t4_space.py FILE[.gz]"""
import gzip
import itertools
import json
import math
import sys

results = []
for threads, tile, vector, unroll in itertools.product((32, 64, 128, 256, 512, 1024, 48, 96), (1, 2, 4, 8, 16, 32, 64, 128), (1, 2, 4, 8), (1, 2, 4, 8)):
    failed = threads * tile > 32768 and vector > 1
    away = abs(math.log2(threads / 256)) + abs(math.log2(tile / 16)) + abs(math.log2(vector / 4)) + 0.25 * abs(math.log2(unroll / 2))
    results.append({"configuration": {"threads": threads, "tile": tile, "vector": vector, "unroll": unroll, "fast": vector > 2},
                    "invalidity": "runtime" if failed else "correct",
                    "measurements": [{"name": "compile", "value": 900}] + ([] if failed else [{"name": "time", "value": 1 + 0.4 * away + 0.1 * (threads % 64 != 0)}])})
text = json.dumps({"schema_version": "1.0.0", "results": results}).encode()
with open(sys.argv[1], "wb") as file:
    file.write(gzip.compress(text, mtime=0) if sys.argv[1].endswith(".gz") else text)
