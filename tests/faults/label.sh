#!/bin/sh
# Labels the fault corpus on a machine with a GPU: label.sh PREFIX [OUT] [OPTION]...  PREFIX: a build folder, or an installation with
# the component measuring (cmake --install build --prefix PREFIX --component measuring; for a machine without the libraries, into an
# unpacked bundle, from a build with the bundle's settings in bootstrap.sh and -DBUILD_TESTING=ON).  OPTION: see rkb-label-faults.
# compute-sanitizer is looked for on the PATH; without it the rest is labelled.  Goes on where an earlier call stopped.  On an H200 with 16 cores, one worker process each: 160 s for 3,800
# faults, and 10 s for each that compute-sanitizer has to look at.
set -eu
prefix=$1
here=$(cd "$(dirname "$0")" && pwd)
out=${2:-$here/labels.tsv}
shift; [ $# -gt 0 ] && shift
jobs=$(nproc)
device=$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null | sed 1q) # one line a GPU, all alike
[ -n "$device" ] || device='no GPU'
# One thread an evaluation: the program runs one a core itself.
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
[ -d "$prefix/lib" ] && export LD_LIBRARY_PATH="$prefix/lib:$prefix/lib/beside:${LD_LIBRARY_PATH:-}"
exec "$prefix/bin/rkb-label-faults" --tasks "$here/../../tasks" --bases "$here/bases" --arguments "$here/arguments.tsv" --out "$out" \
  --remark "Device's part: $device, $(date -u +%F)." --sanitize --jobs "$jobs" "$@"
