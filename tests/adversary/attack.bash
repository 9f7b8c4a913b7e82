# What the attacks share: each sources this file with the source and the build folder.  It leaves $work, an empty folder that is removed at
# the end, the programs on PATH, and a cache of the attack's own.
set -euo pipefail
source_folder=$1 binary_folder=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
deadline=8s # of a question to a model
export PATH=$binary_folder/bin:$PATH XDG_CACHE_HOME=$work/cache
twin=$source_folder/tests/adversary/twins/rmsnorm.cu
cheat=$source_folder/tests/adversary/checking/always_zero/kernel.cu

fail() {
  printf '%s\n' "$*" >&2
  exit 1
}

# judge FILE...: one run with these kernels as seeds, in $work/run; what it says is in $work/said
judge() {
  local list
  list=$(printf ', %s' "$@")
  rkb-run "$source_folder/tests/adversary/pipeline.yaml" --quiet --task "$source_folder/tasks/llama_rmsnorm" --out "$work/run" \
    --set "propose.seed.with.files=[${list:2}]" >"$work/said" 2>&1 || [[ $? -le 2 ]] || fail "rkb-run ended with a signal: $(cat "$work/said")"
}

# refuses FILE WORDS: rkb check accepts FILE not, and says the words
refuses() {
  local status=0
  rkb check "$1" >"$work/said" 2>&1 || status=$?
  [[ $status == 1 || $status == 2 ]] || fail "rkb check ended with $status: $(head -c 2000 "$work/said")"
  grep -q -e "$2" "$work/said" || fail "rkb check says nothing of '$2': $(head -c 2000 "$work/said")"
}

# ask PROGRAM...: a run whose only kernel is what this program answers as a language model; in $work/asked, and $work/said
ask() {
  local words
  words=$(printf ', "%s"' "$@")
  cat >"$work/model.yaml" <<END
rkb: 1
name: model
seed: 1
task: $source_folder/tasks/llama_rmsnorm
direction: forward
target: h200
objective: {minimise: [model.predicted_us], over: bench, combine: geomean}
models: {writer: {provider: command, command: [${words:2}], env: [PATH], cost_per_call: 0}}
propose:
  - {use: rkb.translator.llm, id: translate, deadline: $deadline, with: {proposals: 1, models: [{model: writer}]}}
screen:
  - use: rkb.verifier.lint
  - use: rkb.verifier.machine
  - {use: rkb.verifier.llm, id: judge, needs: [machine], only: [unknown], deadline: 8s, with: {judge: memory, models: [{model: writer}]}}
  - use: rkb.profiler.model
END
  timeout 60 rkb-run "$work/model.yaml" --quiet --out "$work/asked" >"$work/said" 2>&1 || [[ $? -le 2 ]] || fail "rkb-run did not end well: $(cat "$work/said")"
}

# count_of FOLDER QUERY: a number from a run's archive
count_of() { python3 -c 'import sqlite3, sys; print(sqlite3.connect(f"file:{sys.argv[1]}/run.sqlite?mode=ro", uri=True).execute(sys.argv[2]).fetchone()[0])' "$1" "$2"; }

# none_accepted FOLDER
none_accepted() { [[ $(count_of "$1" "SELECT count(*) FROM candidate WHERE standing = 'accept'") == 0 ]] || fail "accepted: $(cat "$work/said")"; }

# through_worker WORDS PROGRAM...: an honest kernel goes to a worker that is none; nothing that it says is believed, and rkb says the words.  One that does not even greet is
# no device, and the run does not begin.
through_worker() {
  local status=0 words=$1
  shift
  export RKB_WORKER="$*"
  timeout 60 rkb-run "$source_folder/tests/gpu/device.yaml" --task "$source_folder/tasks/mnist_linear_relu" --direction forward --out "$work/run" \
    --set "propose.seed.with.files=[$source_folder/tests/adversary/twins/linear_relu.cu]" >"$work/said" 2>&1 || status=$?
  grep -q -e "$words" "$work/said" || fail "rkb says nothing of '$words': $(cat "$work/said")"
  if [[ ! -e $work/run/run.sqlite ]]; then return; fi
  [[ $status -le 1 ]] || fail "rkb-run ended with $status: $(cat "$work/said")"
  none_accepted "$work/run"
  [[ $(count_of "$work/run" "SELECT count(*) FROM measurement WHERE name = 'time.us'") == 0 ]] || fail "a time was believed: $(cat "$work/said")"
  [[ $(count_of "$work/run" "SELECT count(*) FROM verdict WHERE standing = 'unknown' AND reason LIKE 'tool.%'") -ge 1 ]] || fail "nothing is unknown: $(cat "$work/said")"
}
