#!/usr/bin/env bash
# A page that quotes a file of the tree quotes it as it is: after a line  <!-- quote: PATH -->  comes a fenced block that
# must equal the file.  usage: quotes.sh SOURCE_DIRECTORY PAGE...
set -euo pipefail
cd "$1"
shift
checked=0
for page in "$@"; do
  while read -r path; do
    quoted=$(awk -v mark="<!-- quote: $path -->" '
      $0 == mark { found = 1; next }
      found && /^```/ { if (inside) exit; inside = 1; next }
      inside { print }' "$page")
    if [[ $quoted != "$(cat "$path")" ]]; then
      echo "$page quotes $path otherwise than it is:" >&2
      diff <(printf '%s\n' "$quoted") "$path" >&2 || true
      exit 1
    fi
    checked=$((checked + 1))
  done < <(sed -n 's/^<!-- quote: \(.*\) -->$/\1/p' "$page")
done
if [[ $checked -eq 0 ]]; then
  echo "nothing is quoted" >&2
  exit 1
fi
echo "$checked quoted files agree"
