#!/usr/bin/env bash
# docs/verdicts.md lists every reason that the program's own text gives, and none that it does not; docs/environment.md every variable that
# it reads.
# usage: reasons.sh SOURCE_DIRECTORY
set -euo pipefail
cd "$1"
given=$(mktemp) listed=$(mktemp)
trap 'rm -f "$given" "$listed"' EXIT
kinds='coverage|environment|lint|plan|memory|race|sync|state|numeric|output|input|judge|limit|unsupported|tool|cheat|search'
# String literals alone: names of files ("memory.h") and of measurements are none; what ends in %s is a family of reasons.
grep -rhoE "\"(($kinds)\.[a-z_]+|build\.error|nondeterministic|($kinds)\.%[.0-9]*s)\"" core plugins --include='*.c' --include='*.h' |
  tr -d '"' | grep -vE '\.(h|c|def)$|^search\.operators$' | sed -E 's/\.%.*/.*/; s/^unsupported\..*/unsupported.*/' | sort -u >"$given"
sed -n '/^## Reasons/,$p' docs/verdicts.md | grep -E '^\| `' | cut -d'|' -f2 | grep -oE '`[^`]+`' | tr -d '`' |
  sed -E 's/\.<.*>/.*/' | grep -vx reason | sort -u >"$listed"
[[ $(wc -l <"$given") -gt 30 ]] || { echo "found only $(wc -l <"$given") reasons in the program's text" >&2; exit 1; }
if ! diff "$given" "$listed" >&2; then
  echo "docs/verdicts.md (>) and what the program's text gives (<) differ" >&2
  exit 1
fi
echo "$(wc -l <"$given") reasons are documented"
grep -rhoE '(getenv\("[A-Z_]+"\)|os\.environ\.get\("[A-Z_]+"\)|environment\.setdefault\("[A-Z_]+",)' core plugins --include='*.c' --include='*.py' | grep -oE '[A-Z_]{2,}' | sort -u >"$given"
sed -n '/^## Environment/,/^## Files/p' docs/environment.md | grep -E '^\| `' | cut -d'|' -f2 | grep -oE '[A-Z_]{2,}' | sort -u >"$listed"
if ! diff "$given" "$listed" >&2; then
  echo "docs/environment.md (>) and the variables that the program reads (<) differ" >&2
  exit 1
fi
echo "$(wc -l <"$given") variables are documented"
