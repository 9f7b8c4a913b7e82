#!/usr/bin/env bash
# Everything that needs a GPU, in one call that ends by itself and can be repeated until it says "all parts are done".
#
#   tests/gpu/all.sh PREFIX OUT [PART]...
#
# PREFIX  an installation of rkb: a folder, or the archive that `./bootstrap.sh bundle` makes
# OUT     where results go: runs, tables, baselines, and done/ with a mark for each finished part; keep it for the next call
# PART    seeds gate cheats hostile faults export search agreement baselines autotune bench (default: all, in this order)
#
# Environment: SECONDS_MOST (540) until nothing new is begun; RUN_SECONDS (200) for one run; SEARCH_SECONDS (20) for one
# search; GPU_PYTHON (python3), one with PyTorch for CUDA; FAULTS, what `rkb-make-faults --out` made, for the part of that name.
# shellcheck disable=SC2317 # the parts are called by name
set -uo pipefail
[[ $# -ge 2 ]] || { sed -n '2,14s/^# \{0,1\}//p' "$0" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
prefix=$1
mkdir -p "$2/done" "$2/runs" "$2/logs" "$2/best" "$2/bench/baselines"
out=$(cd "$2" && pwd)
shift 2
most=${SECONDS_MOST:-540}
python=${GPU_PYTHON:-python3}
export XDG_CACHE_HOME=${XDG_CACHE_HOME:-/tmp/rkb-gpu-cache}
export PYTHONDONTWRITEBYTECODE=1
mkdir -p "$XDG_CACHE_HOME"

if [[ -f $prefix ]]; then
  unpacked=$XDG_CACHE_HOME/bundle
  rm -rf "$unpacked"
  mkdir -p "$unpacked"
  tar -C "$unpacked" -xf "$prefix" || exit 2
  prefix=$(find "$unpacked" -mindepth 1 -maxdepth 1 -type d -print -quit)
fi
prefix=$(cd "$prefix" && pwd)
rkb=$prefix/bin/rkb run=$prefix/bin/rkb-run tasks=$prefix/share/rkb/tasks
failures=0
RUN_SECONDS=${RUN_SECONDS:-200}

say() { printf '[%3d s] %s\n' "$SECONDS" "$*"; }
left() { local rest=$((most - SECONDS)); printf '%d' "$((rest > 0 ? rest : 0))"; }
finished() { [[ -e $out/done/$1 ]]; }
finish() { date -u +%FT%TZ >"$out/done/$1"; }

# run_pipeline NAME PIPELINE TASK DIRECTION [OPTION]...   A run of its own folder, done once.
run_pipeline() {
  local name=$1 pipeline=$2 task=$3 direction=$4 code=0
  shift 4
  if finished "run.$name"; then return 0; fi
  if [[ $(left) -lt 15 ]]; then return 3; fi
  rm -rf "$out/runs/$name"
  timeout "$(($(left) < RUN_SECONDS ? $(left) : RUN_SECONDS))" "$run" "$pipeline" --task "$tasks/$task" --direction "$direction" --out "$out/runs/$name" --quiet "$@" \
    >"$out/logs/$name" 2>&1 || code=$?
  say "$name: exit $code, $(tail -n 1 "$out/logs/$name" | cut -c1-150)"
  # 1 is a run without an accepted candidate: a result.  124 and 130 are no results.
  if [[ $code -le 1 ]]; then finish "run.$name"; fi
  return "$code"
}

# Light ones first.
ordered=(mnist_cross_entropy mnist_linear mnist_linear_relu mnist_pool mnist_conv_relu_pool softmax unet_linear unet_conv2d
         rotary_embedding gelu_mlp groupnorm llama_rmsnorm layernorm adamw_step attention llama_ffw resnet_block_downsample resnet_block)
directions_of() { if [[ $1 == adamw_step ]]; then printf 'forward\n'; else printf 'forward\nbackward\n'; fi; }

part_seeds() {
  local task direction complete=yes
  for task in "${ordered[@]}"; do
    for direction in $(directions_of "$task"); do
      run_pipeline "seeds.$task.$direction" "$here/seeds.yaml" "$task" "$direction" --jobs 4
      finished "run.seeds.$task.$direction" || complete=no
    done
  done
  [[ $complete == yes ]]
}

# How long a candidate of a fast kernel holds the device.
part_gate() {
  local task direction
  for task in mnist_cross_entropy mnist_linear mnist_linear_relu mnist_pool mnist_conv_relu_pool softmax unet_linear rotary_embedding; do
    for direction in forward backward; do run_pipeline "gate.$task.$direction" "$here/gate.yaml" "$task" "$direction" --jobs "$(nproc)"; done
  done
  "$python" "$here/gate.py" "$out"/runs/gate.* | tee "$out/gate.md"
}

# What the machine rejects, shown to the device.
part_faults() {
  local folder name complete=yes
  [[ -n ${FAULTS:-} ]] || { say "FAULTS names no folder: left out"; return 0; }
  "$python" "$here/sample_faults.py" "$FAULTS" "$out/faults" 22 softmax:forward softmax:backward mnist_linear:forward mnist_linear:backward \
    mnist_linear_relu:forward mnist_pool:forward mnist_pool:backward mnist_cross_entropy:forward mnist_cross_entropy:backward \
    unet_linear:forward unet_conv2d:forward mnist_conv_relu_pool:forward
  for folder in "$out"/faults/*; do
    name=$(basename "$folder")
    run_pipeline "faults.$name" "$here/seeds.yaml" "${name%.*}" "${name#*.}" --set "propose.seed.with.directory=$folder"
    finished "run.faults.$name" || complete=no
  done
  [[ $complete == yes ]]
}

part_cheats() {
  run_pipeline cheats "$here/device.yaml" softmax forward --set "propose.seed.with.directory=$here/cheats" || true
  finished run.cheats || return 1
  "$python" "$here/expectations.py" "$out/runs/cheats" "$here/cheats" | tee "$out/cheats.txt"
  [[ ${PIPESTATUS[0]} -eq 0 ]] || failures=$((failures + 1))
}

part_hostile() {
  "$python" "$here/hostile.py" "$out/hostile" 200
  run_pipeline hostile "$here/hostile.yaml" softmax forward --set "propose.first.with.directory=$out/hostile/0" --set "propose.second.with.directory=$out/hostile/1" \
    --set "propose.third.with.directory=$out/hostile/2" --set "propose.fourth.with.directory=$out/hostile/3" || true
  finished run.hostile || return 1
  "$python" "$here/expectations.py" "$out/runs/hostile" "$out/hostile" >"$out/hostile.txt" || failures=$((failures + 1))
  grep OTHERWISE "$out/hostile.txt" | sed -n 1,20p
  tail -n 1 "$out/hostile.txt"
  nvidia-smi --query-gpu=name,temperature.gpu,clocks.sm,memory.used --format=csv,noheader
}

# A kernel as a PyTorch extension, built and called once.
part_export() {
  "$rkb" export "$tasks/softmax/seeds/forward/block_per_row.cu" --torch --task "$tasks/softmax" --out "$out/softmax_extension.cu" || return 1
  timeout "$(left)" "$python" "$here/extension.py" "$out/softmax_extension.cu" | tee "$out/export.txt"
  [[ ${PIPESTATUS[0]} -eq 0 ]] || failures=$((failures + 1))
}

# The main job with a GPU, briefly, on every task: what it finds goes to best/TASK/DIRECTION.cu.
part_search() {
  local task direction name complete=yes
  for task in "${ordered[@]}"; do
    for direction in $(directions_of "$task"); do
      name=search.$task.$direction
      run_pipeline "$name" "$prefix/share/rkb/pipelines/stock-gpu.yaml" "$task" "$direction" \
        --set "limits.wall=${SEARCH_SECONDS:-20}s" || [[ $? -ne 3 ]] || complete=no
      finished "run.$name" || continue
      mkdir -p "$out/best/$task"
      "$rkb" best "$out/runs/$name" --out "$out/best/$task/$direction.cu" 2>>"$out/logs/$name" || true
    done
  done
  [[ $complete == yes ]]
}

part_agreement() {
  "$python" "$here/agreement.py" "$out"/runs/seeds.* "$out"/runs/search.* "$out"/runs/faults.* >"$out/agreement.md"
  tail -n 12 "$out/agreement.md"
}

time_baselines() {
  local work=() task direction
  for task in "${ordered[@]}"; do
    for direction in $(directions_of "$task"); do work+=("$tasks/$task:$direction"); done
  done
  [[ $(left) -ge 20 ]] || return 1
  timeout $(($(left) + 30)) "$python" "$prefix/libexec/rkb/baseline/baseline.py" --rkb "$rkb" --library "$prefix/libexec/rkb/librkb-timing.so" \
    --out "$out/bench/baselines" --until "$(left)" --variants "$1" "${@:2}" "${work[@]}"
}
part_baselines() { time_baselines eager,eager_graph,compile,compile_graph --compilers "$(nproc)" --compile-seconds 200; }
part_autotune() { time_baselines max_autotune,max_autotune_graph --compilers "$(nproc)" --compile-seconds 200; }

part_bench() {
  RKB_PYTHON=$python "$rkb" bench --out "$out/bench" --seconds "$(left)" >/dev/null 2>"$out/logs/bench"
  local code=$?
  tail -n 3 "$out/logs/bench"
  sed -n '/^| task/,/^$/p' "$out/bench/table.md"
  return $code
}

"$rkb" doctor 2>&1 | tail -n 20
parts=("$@")
[[ ${#parts[@]} -gt 0 ]] || parts=(seeds gate cheats hostile faults export search agreement baselines autotune bench)
open=0
for part in "${parts[@]}"; do
  # Reports are made from what there is, each time.
  case $part in agreement) ;; *) if finished "part.$part"; then say "$part: done before"; continue; fi ;; esac
  say "$part"
  if "part_$part"; then finish "part.$part"; else open=$((open + 1)); say "$part: not finished"; fi
done
if [[ $open -gt 0 ]]; then say "$open parts are not finished: the same command goes on"; exit 3; fi
say "all parts are done, $failures with something other than expected"
exit $((failures > 0))
