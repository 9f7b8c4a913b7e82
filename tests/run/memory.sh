#!/usr/bin/env bash
# A run under ever higher limits on its memory (RLIMIT_DATA), until one is enough.  Under each it ends with exit code 3 and says why;
# by the one message of base/memory.h where that is what asked (base_memory holds the message itself).  Resumed without a limit, each
# equals a run that was never disturbed.  The limits begin where the dynamic loader has enough: below, the program does not start.
# usage: memory.sh SOURCE_DIRECTORY BINARY_DIRECTORY
set -euo pipefail
source=$1
export PATH=$2/bin:$PATH RKB_PLUGIN_PATH=$2/tests/stage/plugins
# OpenBLAS's own threads ask for memory before the program begins, and wait for ever when there is none.
export OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
message='rkb-run: out of memory: the system refused [0-9]* bytes; every finished result of a run is stored: continue it with rkb-run --resume DIR'

failures=0
complain() { echo "$*" >&2; sed 's/^/  err: /' err >&2; failures=$((failures + 1)); }
run() { rkb-run "$source/tests/run/climb.yaml" --set limits.candidates=400 --secret "$(printf '%064d' 7)" --jobs 2 --quiet "$@"; }

run --out whole >/dev/null
enough=0 tried=0 plain=0 resumed=0
for kib in 6500 8000 10000 12000 14000 16000 $(seq 16250 250 40000) 60000 100000 200000; do
  code=0
  rm -rf cut
  (ulimit -d "$kib"; run --out cut) >out 2>err || code=$?
  [[ $code -ne 0 ]] || { enough=$kib; break; }
  tried=$((tried + 1))
  [[ $code -eq 3 ]] || complain "$kib KiB: exit code $code, not 3"
  grep -qiE 'memory|temporarily unavailable' err || complain "$kib KiB: does not say that memory was out"
  if grep -qx "$message" err; then plain=$((plain + 1)); fi
  [[ -s cut/run.sqlite ]] || continue
  rkb-run --resume cut --secret "$(printf %064d 7)" --quiet >out 2>err || complain "$kib KiB: cannot be resumed"
  rkb diff whole cut >out 2>err || complain "$kib KiB: $(tail -n 1 out)"
  resumed=$((resumed + 1))
done
echo "$tried limits were too low, $plain ended with the one message, $resumed runs were resumed; $enough KiB were enough"
[[ $failures -eq 0 && $enough -gt 0 && $tried -gt 0 && $resumed -gt 0 ]]
