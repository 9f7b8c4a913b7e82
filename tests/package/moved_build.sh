#!/usr/bin/env bash
# A build folder that was copied to another place: its programs find the plugins that were copied with them, and bootstrap.sh
# configures it again, once.
# usage: moved_build.sh SOURCE_DIRECTORY BINARY_DIRECTORY
set -euo pipefail
source_directory=$1 binary_directory=$2
work=$(mktemp -d)
trap 'cd /; rm -rf "$work"' EXIT
fail() { echo "$*" >&2; exit 1; }

# The programs.
mkdir -p "$work/moved/bin"
cp "$binary_directory/bin/rkb" "$work/moved/bin/"
(cd "$binary_directory" && find plugins libexec -type f \( -name '*.so' -o -perm -u+x \) -exec cp --parents {} "$work/moved/" \;)
env -u RKB_PLUGIN_PATH "$work/moved/bin/rkb" plugins --paths >"$work/plugins.txt"
grep -qF "$work/moved/plugins/" "$work/plugins.txt" || fail "a copied build does not find its plugins: $(cat "$work/plugins.txt")"
if grep -qvF "$work/moved/plugins/" < <(grep -F .so "$work/plugins.txt"); then fail "a copied build loads plugins of another"; fi
"$work/moved/bin/rkb" validate stock --task softmax >/dev/null || fail "a copied build does not find the tasks"

# bootstrap.sh's way to configure, on a project that only writes down where it lies.
mkdir "$work/first"
cp "$source_directory/CMakePresets.json" "$work/first/"
cat >"$work/first/CMakeLists.txt" <<'TEXT'
cmake_minimum_required(VERSION 3.25)
project(moved LANGUAGES NONE)
file(WRITE "${CMAKE_BINARY_DIR}/where" "${CMAKE_SOURCE_DIR}")
TEXT
# shellcheck source=/dev/null
source <(sed '/^# --- main/,$d' "$source_directory/bootstrap.sh")
cd "$work/first"
configure build release >/dev/null 2>&1
[[ $(cat build/where) -ef $work/first ]] || fail "a new build folder was not configured"
cp -r "$work/first" "$work/second"
cd "$work/second"
configure build release >"$work/said" 2>&1 || fail "a copied build folder could not be configured: $(cat "$work/said")"
[[ $(cat build/where) -ef $work/second ]] || fail "a copied build folder still belongs to the first"
grep -q 'configured in another place' "$work/said" || fail "nothing is said of it"
configure build release >"$work/said" 2>&1
[[ ! -s $work/said ]] || fail "it is configured at every call: $(cat "$work/said")"
