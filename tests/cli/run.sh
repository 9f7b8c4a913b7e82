#!/usr/bin/env bash
# One command line and what it should do, told by a case file of lines
#   run: COMMAND LINE     in a fresh directory, several in order; $SOURCE is the source tree, $FEW makes checks cheap,
#                         $SECRET makes runs and checks repeatable; $FEW has it too
#   exit: CODE            of the run line before it (default 0)
#   out: TEXT             standard output of that run contains TEXT
#   err: TEXT             standard error of that run contains TEXT
#   silent: out|err       that stream of that run is empty
#   builds: yours         before the first run line: builds are kept where yours are, as by most tests, so that what another test compiled
#                         is not compiled again; all else that a cache has is this case's own
# usage: run.sh SOURCE_DIRECTORY BINARY_DIRECTORY CASE
set -euo pipefail
export SOURCE=$1
export RKB_PLUGIN_PATH=$2/tests/stage/plugins
export PATH=$2/bin:$PATH
case_file=$(realpath "$3")
# Few inputs and no drawn shapes: enough to see what the commands say.  A busy machine under the sanitizers may take long to compile.
export SECRET="--secret $(printf '%064d' 7)"
export FEW="--set screen.machine.with.families=1 --set screen.machine.with.shapes=0 --set limits.compile=60s $SECRET"
work=$(mktemp -d)
your_cache=${XDG_CACHE_HOME:-$HOME/.cache}
export XDG_CACHE_HOME=$work/cache
trap 'rm -rf "$work"' EXIT
cd "$work"
checks=0

complain() {
  echo "$case_file: $*" >&2
  echo "--- standard output" >&2; cat out >&2
  echo "--- standard error" >&2; cat err >&2
  exit 1
}

code=0
expected=0
while IFS= read -r line || [[ -n $line ]]; do
  value=${line#*: }
  case $line in
    run:*)
      [[ $code -eq $expected ]] || complain "exit code $code, not $expected"
      code=0
      expected=0
      timeout 1200 bash -c "$value" >out 2>err </dev/null || code=$?
      ;;
    exit:*) expected=$value; [[ $code -eq $expected ]] || complain "exit code $code, not $expected" ;;
    out:*) grep -qF -- "$value" out || complain "standard output lacks: $value" ;;
    err:*) grep -qF -- "$value" err || complain "standard error lacks: $value" ;;
    builds:*) mkdir -p "$your_cache/rkb/build" cache/rkb && ln -s "$your_cache/rkb/build" cache/rkb/build ;;
    silent:*) [[ ! -s $value ]] || complain "$value is not empty" ;;
    '' | '#'*) continue ;;
    *) echo "$case_file: what is '$line'?" >&2; exit 1 ;;
  esac
  if [[ $line != builds:* ]]; then checks=$((checks + 1)); fi
done <"$case_file"
[[ $code -eq $expected ]] || complain "exit code $code, not $expected"
[[ $checks -gt 1 ]] || { echo "$case_file checks nothing" >&2; exit 1; }
