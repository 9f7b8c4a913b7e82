#!/usr/bin/env bash
# The profilers end to end, by `rkb check`, over workers whose driver, CUPTI, NVML and tools are stand-ins: the numbers are made up, the way
# that they take to the measurements is not.
# usage: run.sh SOURCE_DIRECTORY BINARY_DIRECTORY PRELOADED WORKER
set -euo pipefail
source=$1 binary=$2 preloaded=$3 worker=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME=$work/cache PATH=$binary/bin:$PATH
kernel=$source/tasks/mnist_linear_relu/seeds/forward/block_per_outputs.cu
tools="--set screen.ncu.with.program=$source/tests/plugins/profiler/tools/ncu --set screen.sanitizer.with.program=$source/tests/plugins/profiler/tools/compute-sanitizer"

# check NAME CUPTI ENERGY STANDIN: leaves $work/NAME (JSON) and $work/NAME.err
check() {
  RKB_WORKER="/usr/bin/env LD_PRELOAD=$preloaded ASAN_OPTIONS=detect_leaks=0 RKB_DOUBLE_CUPTI=$2 RKB_DOUBLE_LAUNCHES=1 RKB_DOUBLE_ENERGY=$3 STANDIN=$4 $worker" \
    rkb check "$kernel" --pipeline "$source/tests/plugins/profiler/profilers.yaml" $tools --json --secret "$(printf '%064d' 7)" \
    >"$work/$1" 2>"$work/$1.err" || true
}

check counted counters steps counts
check refused forbidden none forbidden
python3 - "$work" <<'PYTHON'
import json, sys

def load(name):
    with open(f"{sys.argv[1]}/{name}.err") as said, open(f"{sys.argv[1]}/{name}") as text:
        said, text = said.read(), text.read()
    try:
        found = json.loads(text)
    except ValueError:
        sys.exit(f"{name}: no JSON: {text}\n{said}")
    return {(m["name"], m.get("case")): m for m in found["measurements"]}, said

def expect(condition, what, said):
    if not condition:
        sys.exit(f"{what}\n{said}")

counted, said = load("counted")
cupti, ncu = counted["cupti.kernel_us", "bench/published"], counted["ncu.kernel_us", "bench/published"]
expect(cupti["value"] == 1.0 and ncu["value"] == 2.5, "times of the counters", counted)
for one, way in ((cupti, "CUPTI"), (ncu, "Nsight Compute")):
    expect(way in one["method"] and one["detail"]["source"] == "hardware counters", "the way is named", one)
    launch, = one["detail"]["launches"]
    expect(launch["sentence"] and launch["advice"]["bottleneck"] and len(launch["advice"]["moves"]) == 2, "one sentence and two moves", launch)
    expect(one["name"].split(".")[0] + ".limiter" in {name for name, case in counted}, "a number for mutators", counted)
expect("sm__inst_executed_pipe_fp16.avg.pct_of_peak_sustained_active" not in cupti["detail"]["launches"][0]["counters"], "a metric that the chip has not", cupti)
joules = counted["energy.joules", None]
expect(joules["value"] > 0 and joules["spread"] >= 0 and joules["better"] == "lower" and joules["unit"] == "J", "energy with an interval", joules)
expect(counted["sanitizer.memcheck", None]["value"] == 2 and counted["sanitizer.racecheck", None]["value"] == 1
       and counted["sanitizer.synccheck", None]["value"] == 0, "what the tools found", counted)
expect(counted["sanitizer.memcheck", None]["detail"]["reports"] == [
    "Invalid __global__ write of size 4 bytes; at scale+0x80; by thread (0,0,0) in block (3,0,0); Access to 0x7fb2ac000000 is out of bounds"],
    "the tool's first report", counted)
expect("Race reported between Write" in counted["sanitizer.racecheck", None]["detail"]["reports"][0], "a report that begins with Error", counted)
# A tool that cannot work found nothing, and that is not the same as finding nothing wrong.
expect(("sanitizer.initcheck", None) not in counted and ("sanitizer.findings", None) not in counted and "Device not supported" in said,
       "a tool without a device", said)

refused, said = load("refused")
cupti = refused["cupti.kernel_us", "bench/published"]
expect(cupti["value"] == 0.5 and "activity" in cupti["method"] and "INSUFFICIENT_PRIVILEGES" in cupti["detail"]["why"], "activity, and why", cupti)
expect("registers" in cupti["detail"]["launches"][0] and ("cupti.limiter", None) not in refused, "the compiler's figures in place of counters", refused)
expect(not any(name.startswith(("ncu.", "energy.")) for name, case in refused), "no number that was not obtained", refused)
expect("ERR_NVGPUCTRPERM" in said and "no energy" in said, "each says why", said)
PYTHON
# The text for people has the sentence, the bottleneck and what treats it.
RKB_WORKER="/usr/bin/env LD_PRELOAD=$preloaded ASAN_OPTIONS=detect_leaks=0 RKB_DOUBLE_CUPTI=counters RKB_DOUBLE_LAUNCHES=1 RKB_DOUBLE_ENERGY=none $worker" \
  rkb check "$kernel" --pipeline "$source/tests/plugins/profiler/profilers.yaml" $tools >"$work/text" 2>"$work/text.err" || true
grep -q '^  bottleneck: .* as counted, in ' "$work/text" && grep -q '^    try ' "$work/text" || { cat "$work/text" "$work/text.err"; exit 1; }

# Models read what was counted: a run against a server that answers with the task's seeds, right and wrong ones.
mkdir "$work/server"
coproc AUTHOR { exec python3 "$source/tests/llm/server/kernel_author.py" "$work/server" right,wrong,right "$source"/tasks/mnist_linear_relu/seeds/forward/*.cu; }
read -r port <&"${AUTHOR[0]}"
model="{provider: openai, model: declared, check: false, base_url: \"http://127.0.0.1:$port/v1\", key: {env: NO_KEY}, max_output_tokens: 16000, price: {input: 1, output: 1}}"
NO_KEY=sk-no-key RKB_WORKER="/usr/bin/env LD_PRELOAD=$preloaded ASAN_OPTIONS=detect_leaks=0 RKB_DOUBLE_CUPTI=counters RKB_DOUBLE_LAUNCHES=1 RKB_DOUBLE_ENERGY=none $worker" \
  rkb-run "$source/tests/plugins/profiler/models.yaml" --set "models.writer=$model" --set "models.quick=$model" --out "$work/run" --quiet \
  --secret "$(printf '%064d' 7)" >"$work/run.out" 2>&1 || { cat "$work/run.out"; exit 1; }
python3 - "$work/run/run.sqlite" <<'PYTHON'
import sqlite3, sys

archive = sqlite3.connect(sys.argv[1])
prompts = [text for text, in archive.execute(
    "SELECT d.text FROM call c JOIN document d ON d.hash = c.prompt_hash WHERE c.stage = 'improve' AND c.child < 64")]
if not prompts:
    sys.exit("no model was asked to improve a kernel")
for text in prompts:
    line = next((line for line in text.splitlines() if line.startswith("counters.kernel_us, case ")), "")
    for part in ("; limited by ", "; bottleneck: ", "% of the launch's time", "; what treats it: "):
        if part not in line:
            sys.exit(f"'{part}' is not in the prompt's line '{line}'")
PYTHON
