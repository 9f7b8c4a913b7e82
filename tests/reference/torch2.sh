#!/usr/bin/env bash
# Holds the evaluator against PyTorch 2.x: Debian 13's python3-torch in a chroot.  The dumps are written here, where the
# program was built, and read there.
# usage: torch2.sh SOURCE_DIRECTORY DUMP_PROGRAM CHROOT     as root, with debootstrap; CHROOT is made when it is not there
set -euo pipefail
source=$1 dump=$2 root=$3
if [[ ! -x $root/usr/bin/python3 ]]; then
  debootstrap --variant=minbase trixie "$root" http://deb.debian.org/debian
  chroot "$root" apt-get update
  DEBIAN_FRONTEND=noninteractive chroot "$root" apt-get install -y --no-install-recommends python3-torch python3-numpy
fi
work=$root/held
rm -rf "$work"
mkdir -p "$work/dumps"
trap 'rm -rf "$work"' EXIT
cp -r "$source/tasks" "$work/tasks"
cp "$source"/tests/reference/*.py "$work/"
for task in "$source"/tasks/*/; do
  name=$(basename "$task")
  for direction in $(sed -n 's/^directions: *\[\(.*\)\].*/\1/p' "$task/task.yaml" | tr ',' ' '); do
    mkdir "$work/dumps/$name-$direction"
    "$dump" "$task" "$direction" "$work/dumps/$name-$direction" 3 check normal
  done
done
chroot "$root" python3 -c 'import torch; print("torch", torch.__version__)'
chroot "$root" python3 -B /held/compare.py --dump /held/dumps --tasks /held/tasks
