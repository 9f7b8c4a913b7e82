#!/usr/bin/env bash
# From a fresh Debian 12 or Ubuntu 24.04 machine to a run or a test report, in one command.  See usage below.
# Later calls find the packages and the build in place and take seconds.
set -euo pipefail
cd "$(dirname "$0")"

usage() {
  cat <<'TEXT'
usage: ./bootstrap.sh demo | test | bundle [--yes]

  demo     install what is missing, build, and run the main job: pipelines/stock.yaml on tasks/softmax
  test     install what is missing (PyTorch for the CPU too), build with warnings as errors, run part of the tests under
           the address and undefined-behaviour sanitizers, fuzz the readers of YAML, expressions, manifests, plans,
           pipelines, tasks, prompts, kernels, PTX, event streams, queues, and replies of models and of programs (5,000 inputs each), and run every test
  bundle   build without HTTP and pack it with the libraries it needs into rkb-bundle.tar.xz, which runs from any folder of a
           machine with glibc 2.36 or newer: what a GPU machine without a network is given

  --yes    agree to installing NVIDIA's runtime compiler from NVIDIA's package repository where there is none

Packages come from apt, with sudo when not root.  Where this may not install, it prints the commands and stops.
TEXT
}

say() { printf 'bootstrap: %s\n' "$*" >&2; }
fail() { say "$*"; exit 1; }

# --- what is needed -----------------------------------------------------------------------------------------------

build_packages=(gcc g++ cmake ninja-build pkg-config libuv1-dev libyaml-dev libsqlite3-dev libjansson-dev libxxhash-dev libmicrohttpd-dev libssl-dev
                libcurl4-openssl-dev libopenblas-dev)
test_packages=(libcmocka-dev zlib1g-dev clang lld libclang-dev libclang-rt-dev openssl python3 python3-dev python3-numpy python3-torch libtorch-dev pybind11-dev sqlite3 chromium
               slurmctld slurmd slurm-client openssh-client python3-pip python3-setuptools python3-wheel python3-pandas)
# Installing it starts a server, which a person may not want; without it the test over ssh is skipped.
if [[ -n ${CI:-} ]]; then test_packages+=(openssh-server); fi
# For the vendors' own clients of language models, and the charts of reports; left alone where a Node with npm is there already, of any origin.
node_packages=(nodejs npm)
# NVRTC, nvJitLink, and the headers that kernels include (cuda_fp16.h and friends, cooperative_groups.h).
cuda_release=12-9
cuda_packages=("cuda-nvrtc-$cuda_release" "libnvjitlink-$cuda_release" "cuda-cudart-dev-$cuda_release"
               "cuda-cccl-$cuda_release" "cuda-crt-$cuda_release")
# Areas of tests/ that run again under the sanitizers.
sanitized_areas='base;lift;executor;statistics;system;archive;pipeline;stage;run;kernel;reference;task;cli;machine;faults;llm;plugin;plugins;prompt;conformance;gpu'
# Tests of what strangers send, which the sanitizers see better, run there alone: the optimiser does not matter to what they hold.
sanitized_alone='^(lift_(parser|rewrites)|llm_protocols|kernel_hostile|cli_damaged_archives|executor_ssh)$'
# What is left out of them: tests of many whole runs, and commands, whose code other tests execute under the sanitizers; and tests of Python or of
# other projects' programs, which no sanitizer sees.  What the fuzz targets read in fuzz_* they have read before they fuzz.
sanitized_without='^(machine_(budgets|certificates)|executor_slurm|cli_(report_page|report_serve|rows-unfilled|best|check|debug|doctor|expected|judge|judge-tune|manual-pages|names|pipelines|precision.*|secret|task-import-refused|tensor-instructions|tune)|llm_(pipeline|sdk|spending|splits)|reference_(bounds_functions|bounds_ones|functions_made)|faults_unbuilt|conformance_tiles|gpu_harness|kernel_export_package|library|plugins_(process_stages|profilers)|sweep|sweep_(comparisons|experiments)|fuzz_.*)$'
# What the undefined-behaviour sanitizer finds ends the program with a trap, without a message.  The tables behind its messages are a third of the
# work of compiling, and every start of a program relocates them.  Nor are there tables of lines: a report names functions.  A build with the preset as
# it is says where the trap was, and in which line.  A short fuzzing from kept inputs learns nothing from compared values, and needs no addresses of what
# it reached: a program of this build relocated 115,000 of them at each start, of 183,000 places in all.
# Without the optimiser all but what core/CMakeLists.txt calls busy is compiled in half the time.  The targets that fuzz are of the same build: most
# of what they link, the tests need too.
sanitizer_flags='-g0 -O0 -fsanitize-undefined-trap-on-error -fno-sanitize-coverage=trace-cmp,pc-table'
# For the builds that only tests and fuzz targets run: it links in a quarter of the time.
linker=(-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=lld -DCMAKE_MODULE_LINKER_FLAGS=-fuse-ld=lld -DCMAKE_SHARED_LINKER_FLAGS=-fuse-ld=lld)
# Areas with fuzz targets, and how many inputs each target reads, kept ones among them.  Without the optimiser they run three quarters as fast.  Who
# fuzzes for hours builds with the preset as it is.
fuzzed_areas='base;library;lift;prompt;executor;sweep;kernel;system;stage;pipeline;llm;task;machine;plugins;cli'
fuzz_runs=5000

# --- packages -----------------------------------------------------------------------------------------------------

# Whether packages can be installed: as root, or through sudo without or with a terminal to ask for the password.
find_installer() {
  installer=()
  if ! command -v apt-get >/dev/null; then return 1; fi
  if [[ $(id -u) -eq 0 ]]; then installer=(env DEBIAN_FRONTEND=noninteractive); return 0; fi
  if ! command -v sudo >/dev/null; then return 1; fi
  if sudo -n true 2>/dev/null || { [[ -t 0 && -t 2 ]] && sudo -v; }; then
    installer=(sudo env DEBIAN_FRONTEND=noninteractive)
    return 0
  fi
  return 1
}

print_commands_and_stop() {
  local prefix=''
  [[ $(id -u) -eq 0 ]] || prefix='sudo '
  say "these are missing: $*"
  say "this may not install them here; run"
  printf '\n  %sapt-get update\n  %sapt-get install --no-install-recommends %s\n\n' "$prefix" "$prefix" "$*" >&2
  fail "and then this command again"
}

# Prints the names among the arguments that are not installed.  A machine without dpkg lacks all of them.
missing_packages() {
  local package
  for package in "$@"; do
    if ! grep -q '^install ok installed$' < <(dpkg-query -W -f '${Status}\n' "$package" 2>/dev/null); then
      printf '%s\n' "$package"
    fi
  done
}

install_packages() {
  local began=$SECONDS downloaded
  find_installer || print_commands_and_stop "$@"
  say "installing $*"
  "${installer[@]}" apt-get -qq update
  "${installer[@]}" apt-get -qq install --yes --no-install-recommends --download-only "$@" >/dev/null
  downloaded=$SECONDS
  "${installer[@]}" apt-get -qq install --yes --no-install-recommends "$@" >/dev/null
  say "packages: $((downloaded - began)) s downloading, $((SECONDS - downloaded)) s installing"
}

ensure_packages() {
  local missing
  mapfile -t missing < <(missing_packages "$@")
  if [[ ${#missing[@]} -gt 0 ]]; then install_packages "${missing[@]}"; fi
}

# --- the CUDA toolkit ---------------------------------------------------------------------------------------------

# Prints "VERSION DIRECTORY" for each NVRTC found: CUDA_HOME first, then /usr/local/cuda*, then the loader's path.
# The builtins library carries the toolkit's version in its name.
list_toolkits() {
  local directory file
  for directory in "${CUDA_HOME:-}" /usr/local/cuda /usr/local/cuda-*; do
    [[ -n $directory ]] || continue
    for file in "$directory"/{lib64,lib,targets/*/lib}/libnvrtc-builtins.so.[0-9]*; do
      if [[ -e $file ]]; then printf '%s %s\n' "${file##*.so.}" "$directory"; fi
    done
  done
  { ldconfig -p 2>/dev/null || /sbin/ldconfig -p 2>/dev/null || true; } |
    sed -n 's|.*libnvrtc-builtins\.so\.\([0-9.]*\) .*=> \(.*\)/[^/]*$|\1 \2|p'
}

# 12.4 to 13.x; a version may carry a build number ("12.4.127").
supported_toolkit() {
  local major=${1%%.*} rest=${1#*.}
  local minor=${rest%%.*}
  [[ $major == 13 || ( $major == 12 && $minor -ge 4 ) ]]
}

# Where CUDA_HOME is set the program looks nowhere else, so that a wrong one is noticed: here it is said, and set aside.
set_aside_cuda_home() {
  if [[ -z ${CUDA_HOME:-} || $1 == "$CUDA_HOME" ]]; then return 0; fi
  say "CUDA_HOME is $CUDA_HOME, which holds no CUDA 12.4 to 13.x: unset it for the commands to come"
  unset CUDA_HOME
}

find_toolkit() {
  local version directory
  while read -r version directory; do
    if supported_toolkit "$version"; then
      say "CUDA $version in $directory"
      set_aside_cuda_home "$directory"
      return 0
    fi
    say "CUDA $version in $directory is not used: 12.4 to 13.x is wanted"
  done < <(list_toolkits)
  return 1
}

# NVIDIA's repository for this system, as its installation guide for Linux names them.
nvidia_repository() {
  local id='' version='' architecture
  if [[ -r /etc/os-release ]]; then
    id=$(. /etc/os-release && printf '%s' "${ID:-}")
    version=$(. /etc/os-release && printf '%s' "${VERSION_ID:-}")
  fi
  case $(uname -m) in
    x86_64) architecture=x86_64 ;;
    aarch64) architecture=sbsa ;;
    *) return 1 ;;
  esac
  case $id in
    debian | ubuntu) ;;
    *) return 1 ;;
  esac
  printf 'https://developer.download.nvidia.com/compute/cuda/repos/%s%s/%s' "$id" "${version//./}" "$architecture"
}

offer_toolkit() {
  local repository keyring=cuda-keyring_1.1-1_all.deb
  say "no CUDA toolkit from 12.4 on was found (looked at CUDA_HOME, /usr/local/cuda*, the loader's path)"
  repository=$(nvidia_repository) || fail "install NVRTC and nvJitLink 12.4 or newer and set CUDA_HOME"
  if [[ $agreed != yes ]] || ! find_installer; then
    say "only the runtime compiler, nvJitLink and the headers are needed (about 0.3 GB); 'bootstrap.sh $mode --yes' installs"
    say "them under NVIDIA's licence where it may, or run, as root,"
    printf '\n  wget %s/%s\n  dpkg -i %s\n  apt-get update\n  apt-get install --no-install-recommends %s\n\n' \
      "$repository" "$keyring" "$keyring" "${cuda_packages[*]}" >&2
    fail "and then this command again"
  fi
  ensure_packages wget ca-certificates
  local folder
  folder=$(mktemp -d)
  wget -q -O "$folder/$keyring" "$repository/$keyring" || fail "cannot download $repository/$keyring"
  "${installer[@]}" dpkg -i "$folder/$keyring" >&2
  rm -r "$folder"
  install_packages "${cuda_packages[@]}"
  find_toolkit || fail "the toolkit was installed and is not found: set CUDA_HOME"
}

# --- build --------------------------------------------------------------------------------------------------------

# Whether FOLDER was configured here: one that was copied or moved, or whose source was, still names the old place.
configured_here() {
  local cache=$1/CMakeCache.txt source folder
  [[ -f $1/build.ninja && -f $cache ]] || return 1
  source=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$cache")
  folder=$(sed -n 's/^CMAKE_CACHEFILE_DIR:INTERNAL=//p' "$cache")
  [[ $source -ef . && $folder -ef $1 ]]
}

# configure FOLDER PRESET [CMake option]...   Does nothing where it is done: ninja repeats it when a CMake file has changed.
configure() {
  local folder=$1 preset=$2 launcher=() fresh=()
  shift 2
  if configured_here "$folder"; then return 0; fi
  if [[ -f $folder/CMakeCache.txt ]]; then
    say "$folder was configured in another place: configuring it again"
    fresh=(--fresh)
  fi
  if command -v ccache >/dev/null; then
    launcher=(-DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  fi
  cmake --preset "$preset" "${fresh[@]}" "${launcher[@]}" "$@" 2>&1 | sed "s|^|$folder: |" >&2
}

# The two builds of `test`, at once, because CMake takes one processor.
configure_for_tests() {
  local builds=() one
  configure build release -DBUILD_TESTING=ON -DRKB_WERROR=ON &
  builds+=($!)
  configure build-fuzz fuzz -DRKB_FUZZED_TESTS=ON "-DRKB_AREAS=$sanitized_areas;$fuzzed_areas" "-DCMAKE_C_FLAGS_DEBUG=$sanitizer_flags" \
    "-DCMAKE_CXX_FLAGS_DEBUG=$sanitizer_flags" "${linker[@]}" &
  builds+=($!)
  for one in "${builds[@]}"; do wait "$one"; done
}

# build FOLDER
build() {
  local folder=$1 began=$SECONDS
  ninja -C "$folder" --quiet >&2
  say "$folder is built ($((SECONDS - began)) s)"
}

# configure_and_build FOLDER PRESET [CMake option]...
configure_and_build() {
  configure "$@"
  build "$1"
}

run_demo() {
  local directory
  directory=runs/demo-$(date -u +%Y%m%d-%H%M%S)
  say "running build/bin/rkb-run pipelines/stock.yaml --task tasks/softmax --out $directory"
  build/bin/rkb-run pipelines/stock.yaml --task tasks/softmax --out "$directory" || return
  echo
  build/bin/rkb report "$directory"
  echo
  build/bin/rkb best "$directory" --out "$directory/best.cu"
  say "next: export PATH=\$PWD/build/bin:\$PATH"
  say "      rkb check $directory/best.cu --task tasks/softmax     judge a kernel; change it and see what is found"
  say "      rkb export $directory/best.cu --torch                 the same kernel as a PyTorch extension"
  say "      rkb-run pipelines/stock.yaml --task tasks/layernorm --direction backward"
  say "      docs/quickstart.md goes through all of it"
}

# Each reader of foreign bytes, from its kept inputs onwards.  What it finds is left in build-fuzz/.
run_fuzzers() {
  local fuzzers
  mapfile -t fuzzers < <(ninja -C build-fuzz -t targets all | sed -n 's/^\(fuzz_[a-z_]*\): phony$/\1/p' | sort -u)
  [[ ${#fuzzers[@]} -gt 0 ]] || fail "build-fuzz has no fuzz targets"
  say "fuzzing ${fuzzers[*]#fuzz_}, $fuzz_runs runs each"
  # shellcheck disable=SC2016 # the inner shell expands these
  printf '%s\n' "${fuzzers[@]}" | xargs -P "$(nproc)" -I '{}' bash -c '
    set -euo pipefail
    name=$1 runs=$2 folder=build-fuzz/found/$1
    mkdir -p "$folder"
    program=$(find build-fuzz/tests -name "$name" -type f -perm -u+x -print -quit)
    "$program" -runs="$runs" -artifact_prefix="$folder/" "$folder" "tests/fuzz/corpus/${name#fuzz_}" \
      >"$folder.log" 2>&1 || { tail -n 40 "$folder.log" >&2; exit 255; }' fuzz '{}' "$fuzz_runs"
}

# The build with the sanitizers comes before the tests: what clang compiled for it, the test layering_sources_clang need not read.  The release suite
# comes before the sanitized one: what it leaves in the build cache need not be compiled again there, where that takes twice as long.  Four tests more
# than there are processors, as many wait: for servers, for shells of another machine, for a signal.
run_tests() {
  local jobs
  jobs=$(($(nproc) + 4))
  export CI=${CI:-bootstrap} # no test may leave itself out for want of what was installed above
  export RKB_TEST_PTX=$PWD/build/tests/ptx # what the tests of the machine compile, for the same tests under the sanitizers
  rm -rf "$RKB_TEST_PTX"
  mkdir -p "$RKB_TEST_PTX"
  export OMP_WAIT_POLICY=passive # threads of PyTorch that wait leave the processors to other tests
  build build-fuzz
  run_fuzzers
  ctest --test-dir build --output-on-failure --timeout 300 -j "$jobs" -E "$sanitized_alone"
  say "the tests of ${sanitized_areas//;/, } under the sanitizers"
  ctest --test-dir build-fuzz --output-on-failure --timeout 600 -j "$jobs" -E "$sanitized_without"
}

# The charting library of `rkb report --html` (core/web/README.md).  Without it everything else is built all the same.
ensure_charts() {
  if [[ -f core/web/node_modules/uplot/package.json ]]; then return 0; fi
  if ! command -v npm >/dev/null; then
    say "reports will have no charts: there is no npm (Debian: apt-get install npm)"
  elif ! npm ci --prefix core/web --ignore-scripts --no-audit --no-fund >/dev/null 2>&1; then
    say "reports will have no charts: 'npm ci --prefix core/web' failed"
  fi
}

# --- bundle -------------------------------------------------------------------------------------------------------

# What every Linux machine has, being glibc's; the rest of what a program loads goes along.
glibc_libraries='linux-vdso|ld-linux|libc\.so|libm\.so|libdl\.so|libpthread\.so|librt\.so'
bundle_bytes=25000000

# Copies the libraries that the files of a folder load, and what those load.
take_libraries() {
  local folder=$1 library
  mkdir -p "$folder/lib/beside"
  find "$folder" -type f -perm -u+x -exec ldd {} + 2>/dev/null | sed -n 's|.*=> \(/[^ ]*\) .*|\1|p' | sort -u |
    grep -Ev "/($glibc_libraries)" | while read -r library; do
      if [[ $library != "$folder"/* ]]; then cp -L "$library" "$folder/lib/beside/"; fi
    done
  strip --strip-unneeded "$folder"/lib/beside/*
}

make_bundle() {
  local folder=$PWD/build-bundle/rkb archive=$PWD/rkb-bundle.tar.xz bytes
  configure_and_build build-bundle release -B build-bundle -DBUILD_TESTING=OFF -DRKB_HTTP=OFF -DRKB_PARSER=OFF -DRKB_STATIC_LIBRARIES=ON \
    -DRKB_LIBRARIES_BESIDE=lib/beside -DCMAKE_INSTALL_LIBDIR=lib
  rm -rf "$folder"
  cmake --install build-bundle --prefix "$folder" --strip >/dev/null
  take_libraries "$folder"
  # It has to find all of them beside itself, wherever it lies.
  if grep -q 'not found' < <(LC_ALL=C ldd "$folder/bin/rkb-run"); then fail "the bundle lacks a library: ldd $folder/bin/rkb-run"; fi
  tests/package/hardening.sh "$folder" bin libexec lib/rkb || fail "the bundle is not hardened as it should be"
  tar -C build-bundle --owner=0 --group=0 --sort=name -cJf "$archive" rkb
  bytes=$(stat -c %s "$archive")
  [[ $bytes -lt $bundle_bytes ]] || fail "$archive has $bytes bytes; it should stay under $bundle_bytes"
  say "$archive, $bytes bytes: unpack it anywhere and run rkb/bin/rkb doctor"
}

# --- main ---------------------------------------------------------------------------------------------------------

mode='' agreed=no
for argument in "$@"; do
  case $argument in
    demo | test | bundle) mode=$argument ;;
    --yes) agreed=yes ;;
    -h | --help) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
  esac
done

case $mode in
  demo) ensure_packages "${build_packages[@]}" ;;
  test)
    if command -v node >/dev/null && command -v npm >/dev/null; then node_packages=(); fi
    ensure_packages "${build_packages[@]}" "${test_packages[@]}" "${node_packages[@]}"
    ;;
  bundle) ensure_packages "${build_packages[@]}" xz-utils ;;
  *) usage >&2; exit 2 ;;
esac
find_toolkit || offer_toolkit
ensure_charts

case $mode in
  demo)
    configure_and_build build release -DBUILD_TESTING=OFF
    run_demo
    ;;
  test)
    # The distribution's Python, whose packages were installed above.  What a version manager puts before it is a script that looks for a Python first,
    # several times as long as a Python takes to start, and tests start many.
    export PATH=/usr/bin:$PATH
    # A folder that demo configured has no tests yet.
    if [[ -f build/CMakeCache.txt ]] && grep -q '^BUILD_TESTING:BOOL=OFF' build/CMakeCache.txt; then
      cmake -B build -DBUILD_TESTING=ON >&2
    fi
    configure_for_tests
    build build
    run_tests
    ;;
  bundle) make_bundle ;;
esac
