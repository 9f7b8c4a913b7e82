#!/bin/sh
# Labels the fault corpus on a machine with a GPU: label.sh PREFIX [OUT] [--dry-run].  PREFIX: an installation (cmake --install
# build --prefix PREFIX) or a build folder.  Goes on where an earlier call stopped.  A second of CPU a fault, spread over
# all cores.
set -eu
prefix=$1
here=$(cd "$(dirname "$0")" && pwd)
out=${2:-$here/labels.tsv}
shift; [ $# -gt 0 ] && shift
# One thread an evaluation: the program runs one a core itself.
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
[ -d "$prefix/lib" ] && export LD_LIBRARY_PATH="$prefix/lib:${LD_LIBRARY_PATH:-}"
exec "$prefix/bin/rkb-label-faults" --tasks "$here/../../tasks" --bases "$here/bases" --out "$out" --jobs "$(nproc)" "$@"
