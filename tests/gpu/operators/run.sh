#!/usr/bin/env bash
# Exports three packages with `rkb export --wheel`, builds their wheels with the PyTorch and nvcc of this machine, and tries them on its GPU.  About 90 s
# on 16 cores.  usage: run.sh RKB SOURCE_DIRECTORY
set -uo pipefail
rkb=$(realpath "$1") tasks=$(realpath "$2")/tasks here=$(cd "$(dirname "$0")" && pwd) work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export MAX_JOBS=5
"$rkb" export "$tasks"/softmax/seeds/forward/{warp_online,block_per_row}.cu "$tasks/softmax/best/backward/best.cu" --when 'block_per_row=D > 8192' --wheel "$work/softmax" &&
"$rkb" export "$tasks/layernorm/seeds/forward/split_rows.cu" "$tasks/layernorm/best/backward/best.cu" --wheel "$work/layernorm" &&
"$rkb" export "$tasks/bf16_linear/seeds/forward/wmma_tiles.cu" "$tasks/bf16_linear/seeds/backward/two_products.cu" --wheel "$work/bf16_linear" || exit 1
build() {
   (cd "$work/$1" && timeout 300 python3 -m pip wheel . --no-build-isolation --no-index -w "$work/wheels") >"$work/$1.log" 2>&1 || { tail -c 3000 "$work/$1.log"; return 1; }
}
failed=0
for name in softmax layernorm bf16_linear; do build $name & done
wait
python3 -m pip install --quiet --no-index --no-deps --target "$work/site" "$work"/wheels/*.whl || exit 1
for name in softmax layernorm bf16_linear; do
   (cd "$work" && PYTHONPATH=$work/site:$here timeout 300 python3 "$here/check_$name.py") || failed=1
done
exit $failed
