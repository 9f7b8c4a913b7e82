#!/usr/bin/env bash
# Every command against what a user or a machine can get wrong, told by trouble.tsv: a line of four columns
#   kind      arguments, task, manifest, read-only, full
#   exit      the exit code
#   words     what standard error says; one sentence has to say it, unless the words begin with "... ": then one among others;
#             -: nothing in particular
#   command   in a directory with: run, a finished run of a real task; climb, a larger one of test stages; right.cu, broken.cu and homeless.cu;
#             broken-task and broken.yaml.  $SOURCE is the source tree, $FEW makes checks cheap and repeatable, $READONLY is a read-only directory,
#             $FULL one without space
# Afterwards every run holds what it held.  Every command that `rkb --help` lists, and rkb-run, has lines.
# With STEP, and without RKB_LONG in the environment, of each kind the first line and every STEP-th after it is tried (../thin.sh).
# usage: trouble.sh SOURCE_DIRECTORY BINARY_DIRECTORY [STEP]
set -euo pipefail
# File systems of our own need a name space of our own; where there is none, the lines with $FULL are left out.
if [[ -z ${RKB_TROUBLE_MOUNTS:-} ]]; then
  export RKB_TROUBLE_MOUNTS=no
  if unshare -rm mount -t tmpfs -o size=64k none /mnt 2>/dev/null; then RKB_TROUBLE_MOUNTS=yes exec unshare -rm bash "$0" "$@"; fi
fi
export SOURCE=$1
table=$SOURCE/tests/cli/trouble.tsv
export PATH=$2/bin:$PATH
export SECRET="--secret $(printf '%064d' 7)"
export FEW="--set screen.machine.with.families=1 --set screen.machine.with.shapes=0 $SECRET"
work=$(mktemp -d)
export XDG_CACHE_HOME=$work/cache READONLY=/proc FULL=
trap 'cd /; umount "$work/readonly" "$work/full" 2>/dev/null || true; rm -rf "$work"' EXIT
cd "$work"
if [[ $RKB_TROUBLE_MOUNTS == yes ]]; then
  mkdir readonly full
  mount -t tmpfs -o size=64k none readonly && mount -o remount,ro none readonly
  mount -t tmpfs -o size=64k none full
  cat /dev/zero >full/everything 2>/dev/null || true
  READONLY=$work/readonly FULL=$work/full
fi

cp "$SOURCE/tests/cli/kernels/right.cu" right.cu
sed 's/^launches:/lounges:/' right.cu >broken.cu
sed 's/^task: softmax/task: unknown/' right.cu >homeless.cu
cp -r "$SOURCE/tasks/softmax" broken-task && rm -r broken-task/seeds && echo '"' >>broken-task/task.yaml
printf 'rkb: 1\nname: [x\n' >broken.yaml
rkb-run "$SOURCE/pipelines/verify-only.yaml" --task "$SOURCE/tasks/softmax" --set "propose.seed.with.files=[$work/right.cu]" $FEW --out run --quiet >/dev/null
export RKB_PLUGIN_PATH=$2/tests/stage/plugins
rkb-run "$SOURCE/tests/run/climb.yaml" --out climb $SECRET --quiet >/dev/null
contents() { for run in run climb; do sqlite3 "$run/run.sqlite" .dump; cat "$run/pipeline.yaml"; done; }
contents >before

checks=0 failures=0 left_out=0
complain() {
  echo "$command: $*" >&2
  head -n 3 out | sed 's/^/  out: /' >&2; head -n 8 err | sed 's/^/  err: /' >&2
  failures=$((failures + 1))
}
while IFS=$'\t' read -r kind exit words command; do
  [[ -n $kind && $kind != '#'* ]] || continue
  if [[ $command == *'$FULL'* && -z $FULL ]]; then left_out=$((left_out + 1)); continue; fi
  code=0
  timeout 600 bash -c "$command" >out 2>err </dev/null || code=$?
  [[ $code -eq $exit ]] || complain "exit code $code, not $exit"
  [[ $words == - || $words == '... '* || $(wc -l <err) -eq 1 ]] || complain "more or less than one sentence"
  [[ $words == - ]] || grep -qF -- "${words#... }" err || complain "does not say: ${words#... }"
  [[ $exit -lt 2 || ! -s out ]] || complain "printed a result all the same"
  checks=$((checks + 1))
done < <(awk '/^[^#]/ { print $1 "\t" $0 }' "$table" | "$SOURCE/tests/thin.sh" "${3:-1}")
contents >after
cmp before after || { echo "a run changed" >&2; failures=$((failures + 1)); }
for name in $(rkb --help | sed -n 's/^  \([a-z]*\)  .*/\1/p'); do
  grep -qE "^arguments	.*	.*\brkb $name\b" "$table" || { echo "trouble.tsv tries no wrong arguments of rkb $name" >&2; failures=$((failures + 1)); }
done
echo "$checks commands in trouble, $failures did not say so; $left_out left out for want of a name space"
[[ $failures -eq 0 && $checks -gt 0 ]]
