#!/usr/bin/env bash
# --except leaves out what its file names and nothing else, --only leaves all else out; a name that no kernel has is an error, so that the lists
# cannot grow old.
# usage: except.sh SOURCE_DIRECTORY RKB_BENCH_VERIFY
set -euo pipefail
source=$1 verify=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/tasks"
ln -s "$source/tasks/mnist_cross_entropy" "$work/tasks/"
judge() { # option
  "$verify" --tasks "$work/tasks" --pipeline "$source/tests/faults/machine.yaml" --kernels "$1" "$work/except" --results "$work/results"
}

seeds=("$source"/tasks/mnist_cross_entropy/seeds/*/*.cu)
left=forward/$(basename "$(printf '%s\n' "$source"/tasks/mnist_cross_entropy/seeds/forward/*.cu | sed -n 1p)" .cu)
printf '# a comment\n\nmnist_cross_entropy/%s\n' "$left" >"$work/except"
judge --except >"$work/said" || { cat "$work/said"; exit 1; }
[[ $(wc -l <"$work/results") -eq $((${#seeds[@]} - 1)) ]] || { cat "$work/results"; exit 1; }
! grep -q "^mnist_cross_entropy/$left" "$work/results" || { echo "$left was judged"; exit 1; }

rm "$work/results"
printf '%s\n' "mnist_cross_entropy/$left" "mnist_cross_entropy/$left" >"$work/except"
judge --only >"$work/said" || { cat "$work/said"; exit 1; }
[[ $(cut -f 1 "$work/results") == "mnist_cross_entropy/$left" ]] || { cat "$work/results"; exit 1; }

for option in --except --only; do
  echo mnist_cross_entropy/forward/nobody >"$work/except"
  ! judge $option >"$work/said" 2>&1 && grep -q "there is no 'mnist_cross_entropy/forward/nobody'" "$work/said" || { cat "$work/said"; exit 1; }
done
