#!/usr/bin/env bash
# Writes what the documentation takes from elsewhere: docs/options.md from the plugins' tables; in docs/*.md and README.md the
# text of files between '<!-- file: PATH -->' and '<!-- end -->', and the keys of pipeline files and of models, from the readers' own tables,
# between '<!-- keys: PART -->' and '<!-- end -->'.
# usage: refresh.sh SOURCE_DIRECTORY BINARY_DIRECTORY [--check]     --check changes nothing and fails when something is old
set -euo pipefail
source=$1 binary=$2 mode=${3:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
old=0

# replace FILE NEW: or, with --check, complain.
replace() {
  if cmp -s "$1" "$2"; then return; fi
  if [[ $mode == --check ]]; then
    echo "$1 is old: run 'ninja docs'" >&2
    diff "$1" "$2" | sed -n 1,20p >&2 || true
    old=1
  else
    cp "$2" "$1"
  fi
}

env -u RKB_PLUGIN_PATH "$binary/bin/rkb" help --reference >"$work/options.md"
replace "$source/docs/options.md" "$work/options.md"

for part in file entry model; do "$binary/bin/rkb" help --keys "$part" >"$work/keys-$part"; done

for page in "$source"/docs/*.md "$source/README.md"; do
  grep -q '^<!-- \(file\|keys\): ' "$page" || continue
  awk -v source="$source" -v work="$work" '
    /^<!-- end -->$/ { quoting = 0 }
    !quoting { print }
    /^<!-- (file|keys): / {
      is_file = $2 == "file:"
      path = is_file ? source "/" $3 : work "/keys-" $3
      print ""
      while ((got = (getline line < path)) > 0) print (is_file && line != "" ? "    " : "") line
      if (got < 0) { print "cannot read " path >"/dev/stderr"; exit 1 }
      close(path)
      print ""
      quoting = 1
    }' "$page" >"$work/page.md"
  replace "$page" "$work/page.md"
done
exit "$old"
