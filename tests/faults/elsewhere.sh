#!/usr/bin/env bash
# rkb-bench-verify in a copy of a build folder elsewhere: it finds the plugins that were copied with it, those of --plugin-path and of
# RKB_PLUGIN_PATH.  Where it has none, it says where it looked, what was wrong there, and what to do.
# usage: elsewhere.sh SOURCE_DIRECTORY BINARY_DIRECTORY
set -euo pipefail
source=$1 binary=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset RKB_PLUGIN_PATH
fail() { echo "$1" >&2; cat "$work/said" >&2; exit 1; }
judge() { # PROGRAM ARGUMENT...: one fault
  rm -f "$work/results.tsv"
  "$1" --tasks "$source/tasks" --bases "$source/tests/faults/bases" --pipeline "$source/tests/faults/machine.yaml" --labels "$work/labels.tsv" \
    --results "$work/results.tsv" --jobs 1 "${@:2}" >"$work/said" 2>&1
}
awk -F'\t' 'index($1, "drop_barrier/softmax/forward/block_per_row/") == 1 && $3 == "fault" && !n++' "$source/tests/faults/labels.tsv" >"$work/labels.tsv"
[[ -s $work/labels.tsv ]] || { echo "labels.tsv has no such fault" >&2; exit 1; }

# A copy of what a build folder has for it.
mkdir -p "$work/copy/bin"
cp "$binary/bin/rkb-bench-verify" "$work/copy/bin/"
(cd "$binary" && find plugins libexec -type f \( -name '*.so' -o -perm -u+x \) -exec cp --parents {} "$work/copy/" \;)
judge "$work/copy/bin/rkb-bench-verify" || fail "a copied build does not judge"
grep -q '^all  *1  *1 ' "$work/said" || fail "the fault was not rejected"

# Plugins that others may write to are refused, and the message names one.
chmod o+w "$work/copy/plugins/translator/seed.so"
! judge "$work/copy/bin/rkb-bench-verify" || fail "a plugin that others can write to was loaded"
grep -qF "chmod go-w $work/copy/plugins/translator/seed.so" "$work/said" || fail "nothing is said of the plugin that was refused"
chmod o-w "$work/copy/plugins/translator/seed.so"

# Nothing beside it.
mv "$work/copy/plugins" "$work/plugins"
! judge "$work/copy/bin/rkb-bench-verify" || fail "it judged without plugins"
grep -q "^$work/copy/bin/rkb-bench-verify: .*no plugin was loaded: .* RKB_PLUGIN_PATH" "$work/said" || fail "it does not say where it looked for plugins"
mkdir "$work/copy/plugins"
! judge "$work/copy/bin/rkb-bench-verify" || fail "it judged without plugins"
grep -q "^$work/copy/plugins: .*no plugin was loaded: .* RKB_PLUGIN_PATH" "$work/said" || fail "it does not name the empty folder"
judge "$work/copy/bin/rkb-bench-verify" --plugin-path "$work/plugins" || fail "it does not look at --plugin-path"
RKB_PLUGIN_PATH=$work/plugins judge "$work/copy/bin/rkb-bench-verify" || fail "it does not look at RKB_PLUGIN_PATH"
