#!/usr/bin/env bash
# Runs what docs/quickstart.md tells a reader to run and writes its real output into that page and into README.md, between
# '<!-- output: NAME -->' and '<!-- end -->'.  About a minute on two idle cores; times in the pages are this machine's.
# usage: quickstart.sh SOURCE_DIRECTORY BINARY_DIRECTORY
set -euo pipefail
source=$(realpath "$1") binary=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PATH=$binary/bin:$PATH XDG_CACHE_HOME=$work/cache
unset RKB_PLUGIN_PATH
mkdir "$work/here" "$work/shown"
ln -s "$source/tasks" "$source/pipelines" "$work/here/"
cp "$source/tests/cli/kernels/out_of_bounds.cu" "$work/here/mine.cu"
cd "$work/here"

# show NAME EXPECTED_CODE COMMAND...: its output, both streams as a terminal has them
show() {
  local name=$1 expected=$2 code=0
  shift 2
  "$@" >"$work/shown/$name" 2>&1 </dev/null || code=$?
  if [[ $code -ne $expected ]]; then
    echo "$*: exit code $code" >&2
    cat "$work/shown/$name" >&2
    exit 1
  fi
}

secret=$(printf "%064d" 7) # so that the pages stay as they are
show run 0 rkb-run pipelines/stock.yaml --task tasks/softmax --out runs/first --secret "$secret"
show report 0 rkb report runs/first
show best 0 rkb best runs/first --out best.cu
show check 0 rkb check best.cu --secret "$secret"
show mine 1 rkb check mine.cu --secret "$secret"

# Of the progress the first two lines and the last, and of the result the four lines that README.md shows too.
awk '/ s left; / { line[++count] = $0; next } { rest = rest $0 "\n" }
  END { for (i = 1; i <= count && i <= 2; i++) print line[i]
        if (count > 3) print "..."
        if (count > 2) print line[count]
        printf "%s", rest }' "$work/shown/run" >"$work/shown/first"
grep -E '^(best|[0-9]+ candidates|ended|run): ?|^[0-9]+ candidates in' "$work/shown/first" >"$work/shown/result"

for page in "$source/docs/quickstart.md" "$source/README.md"; do
  awk -v shown="$work/shown" '
    /^<!-- end -->$/ { quoting = 0 }
    !quoting { print }
    /^<!-- output: / {
      path = shown "/" $3
      print ""
      while ((got = (getline line < path)) > 0) print (line != "" ? "    " : "") line
      if (got < 0) { print "there is no output " $3 >"/dev/stderr"; exit 1 }
      close(path)
      print ""
      quoting = 1
    }' "$page" >"$work/page"
  cp "$work/page" "$page"
done
