#!/usr/bin/env bash
# rkb-plugin-test --task: stages that need kernels are tried with real ones, and what only real kernels show is found.
# usage: plugin_test.sh SOURCE_DIRECTORY BINARY_DIRECTORY TEST_PLUGINS
set -euo pipefail
export PATH=$2/bin:$PATH
unset RKB_PLUGIN_PATH
said=$(mktemp)
trap 'rm -f "$said"' EXIT

# ends CODE WORDS PLUGIN [OPTION]...
ends() {
  local code=$1 words=$2 got=0
  shift 2
  rkb-plugin-test "$@" >"$said" 2>&1 || got=$?
  if ((got != code)) || ! grep -qF -- "$words" "$said"; then
    echo "rkb-plugin-test $* ended with $got, not $code, or does not say '$words':"
    cat "$said"
    exit 1
  fi
}

task=(--task "$1/tasks/softmax")
ends 0 'it needs the extension rkb.kernel/1' "$2/plugins/verifier/lint.so"
ends 0 'of 2 real candidates it accepted 2, suspected 0, rejected 0' "$2/plugins/verifier/lint.so" "${task[@]}"
ends 0 'it profiled 2 real candidates' "$2/plugins/profiler/size.so" "${task[@]}"
ends 0 'candidates, all as rkb/items.h wants them' "$2/plugins/mutator/tune.so" "${task[@]}"
ends 0 'untried' "$2/plugins/profiler/size.so" --task nowhere
ends 0 'keeps the contract' "$3/kernels_only.so"
ends 1 'it broke the contract on candidate 1' "$3/kernels_only.so" "${task[@]}"
