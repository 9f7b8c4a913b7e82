#!/usr/bin/env bash
# Where seccomp(2) is refused, as in some containers, the compiler reads no kernel.  rkb check and rkb-run say so and not that memory is short, leave the
# kernel unknown, and keep nothing in the cache; rkb doctor names the layer.  usage: without_seccomp.sh SOURCE BINARY_DIRECTORY WITHOUT_SECCOMP
set -euo pipefail
source=$1 binary=$2 without=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PATH=$binary/bin:$PATH XDG_CACHE_HOME=$work/cache
fail() { echo "$1"; cat "$work/said"; exit 1; }
kernel=$source/tests/cli/kernels/right.cu
for error in EPERM ENOSYS; do
   status=0
   "$without" $error rkb check "$kernel" --task "$source/tasks/softmax" --direction forward >"$work/said" 2>&1 || status=$?
   [ $status = 77 ] && exit 77
   [ $status != 0 ] || fail "$error: rkb check ends well"
   grep -q "cannot enter its allowlist of system calls" "$work/said" || fail "$error: rkb check does not say what is refused"
   grep -q "memory short" "$work/said" && fail "$error: rkb check speaks of memory"
   grep -q "right.cu: unknown, tool.unavailable" "$work/said" || fail "$error: the kernel is not unknown"
   "$without" $error rkb doctor >"$work/said" 2>&1 || true
   grep -q "^missing *compiler's sandbox .*it goes without .*seccomp" "$work/said" || fail "$error: rkb doctor does not name the layer"
   grep -q "reads no kernel while seccomp(2) is refused" "$work/said" || fail "$error: rkb doctor does not say what is disabled"
done
# The same kernel compiles where nothing refuses: no failure was kept.
rkb check "$kernel" --task "$source/tasks/softmax" --direction forward >"$work/said" 2>&1 || fail "it does not compile afterwards"
echo "where seccomp(2) is refused, the compiler reads no kernel and says why"
