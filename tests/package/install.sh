#!/usr/bin/env bash
# Installs to a temporary prefix, moves it, and builds plugins outside the tree against it: with CMake and with one line
# of cc, in C and in C++.  usage: install.sh SOURCE_DIRECTORY BINARY_DIRECTORY
set -euo pipefail
source_directory=$1
binary_directory=$2
here=$source_directory/tests/package
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake --install "$binary_directory" --prefix "$work/first" >/dev/null
mv "$work/first" "$work/prefix" # an installation can be moved
# Programs for people alone: what measures and labels is another component.
programs=$(cd "$work/prefix/bin" && echo *)
if [[ $programs != 'rkb rkb-plugin-test rkb-run' ]]; then
  echo "installed programs: $programs" >&2
  exit 1
fi
# Every command has its manual page, but where the sanitizers leave them out, and bash completes both programs.
if ! grep -q 'fsanitize=' "$binary_directory/CMakeCache.txt"; then
  for page in rkb rkb-run $("$work/prefix/bin/rkb" --help | sed -n 's/^  \([a-z]*\) .*/rkb-\1/p'); do
    [[ -s $work/prefix/share/man/man1/$page.1 ]] || { echo "no manual page $page.1 is installed" >&2; exit 1; }
  done
fi
[[ -f $work/prefix/share/bash-completion/completions/rkb-run ]] || { echo "no completion is installed" >&2; exit 1; }
libraries=$(dirname "$(find "$work/prefix" -name pkgconfig -type d)")
# The build tree's folder of plugins is another; what is checked is what a user runs.
if ! grep -q '^CMAKE_BUILD_TYPE:STRING=Debug$' "$binary_directory/CMakeCache.txt"; then
  "$here/hardening.sh" "$work/prefix" bin libexec "${libraries#"$work/prefix/"}/rkb"
fi
export PKG_CONFIG_PATH=$libraries/pkgconfig
unset RKB_PLUGIN_PATH

# must_export PLUGIN: the entry and nothing else
must_export() {
  local exported
  exported=$(nm -D --defined-only "$1" | awk '{print $3}')
  if [[ $exported != rkb_plugin_entry ]]; then
    echo "$1 exports: $exported" >&2
    exit 1
  fi
}

# must_work PLUGIN STAGE: passes the contract's test, and rkb lists and explains it
must_work() {
  must_export "$1"
  "$work/prefix/bin/rkb-plugin-test" "$1"
  grep -q "^$2 " < <("$work/prefix/bin/rkb" plugins --plugin-path "$1")
  grep -q 'scale: number, 0 to 100, default 1' < <("$work/prefix/bin/rkb" help --plugin-path "$1" "$2")
}

cmake -S "$here/outside" -B "$work/cmake" -G Ninja -DCMAKE_PREFIX_PATH="$work/prefix" \
  -DCMAKE_C_FLAGS='-Wall -Wextra -Werror' -DCMAKE_CXX_FLAGS='-Wall -Wextra -Werror -std=c++11' >/dev/null
cmake --build "$work/cmake" -- --quiet
must_work "$work/cmake/plugins/profiler/counted.so" outside.profiler.counted
must_work "$work/cmake/plugins/profiler/counted_cxx.so" outside.profiler.counted_cxx

cd "$work"
cc -o counted.so "$here/outside/counted.c" $(pkg-config --cflags --libs rkb-plugin)
c++ -std=c++11 -o counted_cxx.so "$here/outside/counted_cxx.cc" $(pkg-config --cflags --libs rkb-plugin)
must_work "$work/counted.so" outside.profiler.counted
must_work "$work/counted_cxx.so" outside.profiler.counted_cxx

# A mutator and a verifier, each tried by the contract's test and in a search that extends a shipped pipeline.
for plugin in mutator/fast_call verifier/spills; do
  must_export "$work/cmake/plugins/$plugin.so"
  "$work/prefix/bin/rkb-plugin-test" "$work/cmake/plugins/$plugin.so"
done
cat >mine.yaml <<'END'
rkb: 1
extends: quick
name: mine
task: softmax
plugins: [cmake/plugins/mutator/fast_call.so, cmake/plugins/verifier/spills.so]
insert:
  - {after: lint, stage: {use: outside.verifier.spills, with: {most: 0}}}
  - {after: crossover, stage: {use: outside.mutator.fast_call, weight: 8}}
set: {search.window: 4, screen.machine.with.families: 1, screen.machine.with.shapes: 0, limits.candidates: 6}
END
export XDG_CACHE_HOME=$work/cache
for run in first second; do "$work/prefix/bin/rkb-run" mine.yaml --secret "$(printf %064d 7)" --out $run --quiet >/dev/null; done
"$work/prefix/bin/rkb" diff first second
"$work/prefix/bin/rkb" report first >report
grep -E '^ +[0-9]+ +.*fast_call: __(expf|logf) in line [0-9]+$' report >/dev/null || { cat report; echo "no kernel came from the mutator" >&2; exit 1; }
grep -E '^  spills +[1-9]' report >/dev/null || { cat report; echo "the verifier judged nothing" >&2; exit 1; }

# What plugins of different kinds share is installed: a plugin outside the tree links it.
cmake -S "$here/with_shared" -B shared/build -G Ninja -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_C_FLAGS='-Wall -Wextra -Werror' >/dev/null
cmake --build shared/build -- --quiet
must_export shared/build/plugins/profiler/kernels.so
cat >counts.yaml <<'END'
rkb: 1
extends: quick
name: counts
task: softmax
plugins: [shared/build/plugins/profiler/kernels.so]
insert: [{after: lint, stage: {use: outside.profiler.kernels}}]
set: {limits.candidates: 1, screen.machine.with.families: 1, screen.machine.with.shapes: 0}
END
"$work/prefix/bin/rkb-run" counts.yaml --out counts --quiet >/dev/null
counted=$(sqlite3 counts/run.sqlite "SELECT min(value) FROM measurement WHERE name LIKE 'kernels.%'")
[[ ${counted%.*} -ge 1 ]] || { echo "the profiler counted '$counted' kernels" >&2; exit 1; }

# The installation finds its own plugins, and each of them keeps the contract.
grep -q '^rkb.profiler.size ' < <("$work/prefix/bin/rkb" plugins)
find "$libraries/rkb/plugins" -name '*.so' | sort | while read -r plugin; do
  must_export "$plugin"
  "$work/prefix/bin/rkb-plugin-test" "$plugin" >/dev/null || { echo "$plugin breaks the contract" >&2; exit 1; }
done
