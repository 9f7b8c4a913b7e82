#!/usr/bin/env python3
"""Whether the share that an accept names holds: kernels of which just as many blocks are wrong, by many secrets.

usage: claims.py SOURCE_DIRECTORY PREFIX [--secrets N] [--only WORD]

An accept says 'P % of the blocks could be wrong and be missed with 5 %'.  Each kernel below is first checked as it is, which gives P.  Then P % of its blocks, chosen by a hash of their index that
no sample follows, compute something wrong at the bench shape, and the kernel is checked with N other secrets.  At most 5 % of the checks should accept it.  Prints a line for each kernel, with
the 95 % interval of the accepted share (Wilson's); ends with 1 if the whole interval lies above 5 %.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

# Task, kernel, blocks of the grid from which on a launch is the bench shape's, and what is replaced by what: {wrong} is true in the wrong blocks.
KERNELS = (
    ("llama_rmsnorm", "tests/adversary/twins/rmsnorm.cu", 16384, "rsqrtf(squares / D + eps)", "rsqrtf(({wrong} ? 2.0f : 1.0f) * squares / D + eps)"),
    ("softmax", "tests/adversary/twins/softmax.cu", 4096, "expf(row[i] - largest) / sum", "expf(row[i] - largest) / ({wrong} ? 2.0f * sum : sum)"),
    ("bf16_depthwise_conv", "tasks/bf16_depthwise_conv/seeds/forward/thread_per_channel.cu", 50000, "__float2bfloat16(sum +", "__float2bfloat16(({wrong} ? 2.0f : 1.0f) * sum +"),
    ("unet_linear", "tasks/unet_linear/seeds/forward/tiled.cu", 512, "sum[i][j] + bias[column]", "({wrong} ? 2.0f : 1.0f) * sum[i][j] + bias[column]"),
)


def wilson(hits, tries, z=1.96):
    share, scale = hits / tries, 1 + z * z / tries
    middle, half = (share + z * z / 2 / tries) / scale, z / scale * (share * (1 - share) / tries + z * z / 4 / tries / tries) ** 0.5
    return max(0.0, middle - half), min(1.0, middle + half)


def check(options, path, task, secret):
    done = subprocess.run([str(options.prefix / "bin" / "rkb"), "check", str(path), "--task", str(options.source / "tasks" / task), "--secret", str(secret).zfill(64)],
                          capture_output=True, text=True, check=False)
    machine = re.search(r"^  machine +(\w+) .*$", done.stdout, re.M)
    if not machine:
        sys.exit(f"{path}: no verdict\n{done.stdout}{done.stderr}")
    share = re.search(r"([\d.e-]+) % of the blocks could be wrong", machine[0])
    return machine[1], float(share[1]) / 100 if share else None


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("source", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("prefix", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--secrets", type=int, default=60)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    broken = False
    for task, name, blocks, old, new in KERNELS:
        if options.only not in task:
            continue
        text = (options.source / name).read_text()
        standing, share = check(options, options.source / name, task, 1000)
        if standing != "accept" or share is None or old not in text:
            sys.exit(f"{name}: {standing}, {share}")
        wrong = f"(gridDim.x * gridDim.y >= {blocks} && __umulhi((blockIdx.y * gridDim.x + blockIdx.x) * 2654435769u, 1000000u) < {round(share * 1e6)}u)"
        accepted = 0
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "wrong.cu"
            path.write_text(text.replace(old, new.replace("{wrong}", wrong)))
            for secret in range(2000, 2000 + options.secrets):
                accepted += check(options, path, task, secret)[0] == "accept"
        low, high = wilson(accepted, options.secrets)
        broken |= low > 0.05
        print(f"{task}: {100 * share:.2g} % of the blocks wrong, accepted by {accepted} of {options.secrets} secrets ({100 * low:.1f} to {100 * high:.1f} %)", flush=True)
    return broken


if __name__ == "__main__":
    sys.exit(main())
