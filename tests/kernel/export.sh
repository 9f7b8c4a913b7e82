#!/bin/sh
# Exports seed kernels in every form (for --torch as an extension and as an operator) and compiles what comes out: each --c file on its own (device pass and host front end, no
# machine code), all --torch files as one translation unit, because PyTorch's headers take half a minute to read.
#   export.sh TOOL SOURCE_DIRECTORY WORK_DIRECTORY --c|--torch [all|text]
# One seed of each fp32 task and direction and of one task of each narrower class, and every seed with "all" (the target check-exports).  Of one class a
# plain ctest compiles every fifth (../thin.sh).
# With "text" nothing is compiled: under the sanitizers the tool is what is tested, and the release suite compiles the same texts.
# Without nvcc, or for --torch without PyTorch's C++ headers: skipped (77), but never where the environment has CI, as continuous
# integration and bootstrap.sh test do: there it fails.
set -u
missing() {
   echo "$1"
   if [ -n "${CI:-}" ]; then exit 1; else exit 77; fi
}
tool=$1 source=$2 work=$3 form=$4 which=${5:-first}
nvcc=$(command -v nvcc || echo "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc")
[ "$which" = text ] || [ -x "$nvcc" ] || missing "no nvcc"
rm -rf "$work" && mkdir -p "$work" || exit 1
cd "$work" || exit 1

# Whether the task is of a narrower class, of which another was taken.
is_another() {
   class=$(sed -n 's/^precision: //p' "$1/task.yaml")
   case " $classes" in *" $class="*) case " $classes" in *" $class=$1 "*) return 1 ;; esac; return 0 ;; esac
   [ "$class" = fp32 ] || classes="$classes$class=$1 "
   return 1
}

export_seeds() {
   previous="" classes=""
   for seed in "$source"/tasks/*/seeds/*/*.cu "$source"/tests/kernel/export_tasks/*/seeds/*/*.cu; do
      direction=$(basename "$(dirname "$seed")")
      [ "$which" = all ] || [ "$(dirname "$seed")" != "$previous" ] || continue
      previous=$(dirname "$seed")
      task=${seed%/seeds/*}
      [ "$which" = all ] || ! is_another "$task" || continue
      # Debian's PyTorch, 1.13, has no 8-bit floats.
      [ "$form" = --c ] || ! grep -q 'dtype: float8' "$task/task.yaml" || continue
      name=$(basename "$task")_${direction}_$(basename "$seed" .cu)
      "$tool" "$form" "$task" "$direction" "$seed" > "$name.cu" || { echo "cannot export $seed"; exit 1; }
      printf '%s\t%s\n' "$(sed -n 's/^precision: //p' "$task/task.yaml")" "./$name.cu" >> cases
      # What changes a tensor in place becomes no operator.
      [ "$form" = --torch ] && ! grep -q 'role: inout' "$task/task.yaml" || continue
      "$tool" --operator "$task" "$direction" "$seed" > "$name.operator.cu" || { echo "cannot export $seed as an operator"; exit 1; }
   done
}

leave_out() {
   "$source/tests/thin.sh" "$([ "$which" = all ] && echo 1 || echo 5)" < cases > taken || exit 1
   cut -f 2 cases | grep -vxFf taken | while read -r name; do rm -f "$name" "${name%.cu}.operator.cu"; done
}

# Two at a time; xargs fails when one of them did.
compile_c() {
   ls ./*.cu | xargs -n 1 -P 2 "$nvcc" -arch=compute_80 -std=c++17 -Xcicc -O0 -ptx -o /dev/null
}

# Each export in a namespace of its own; the headers they share come first, and a one-line stand-in for the one that Debian's
# processor-only build of PyTorch lacks.  torch/extension.h takes half a minute to read.  Of what it brings, the exports use ATen, and pybind11 in
# the module that is left out here, so only "all" reads the whole of it.
compile_torch() {
   extension='ATen/ATen.h'
   [ "$which" = first ] || extension='torch/extension.h'
   torch=""
   for candidate in /usr/include "$(python3 -c 'import torch, os; print(os.path.join(os.path.dirname(torch.__file__), "include"))' 2>/dev/null)"; do
      [ -f "$candidate/torch/extension.h" ] || [ -f "$candidate/torch/csrc/api/include/torch/extension.h" ] && torch=$candidate
   done
   [ -n "$torch" ] || missing "no PyTorch C++ headers (Debian: libtorch-dev)"
   mkdir -p stub/c10/cuda/impl
   echo '#define C10_CUDA_BUILD_SHARED_LIBS' > stub/c10/cuda/impl/cuda_cmake_macros.h
   grep -h '^#include' ./*.cu | sort -u | sed '/torch\/extension.h/d' > includes
   { grep -h '^#undef __CUDA_NO' ./*.cu | sort -u
     echo "#include <$extension>"; cat includes; number=0
     for file in *.cu; do
        number=$((number + 1))
        echo "namespace seed_$number {"
        sed -e '/^#include/d' -e '/^PYBIND11_MODULE/,/^}/d' "$file"
        echo "}"
        sed -n 's/^#define \([A-Za-z0-9_]*\) .*/#undef \1/p' "$file"
     done; } > all.cc
   # The -D are those of torch.utils.cpp_extension.
   "$nvcc" -arch=compute_80 -std=c++17 -D__CUDA_NO_HALF_OPERATORS__ -D__CUDA_NO_HALF_CONVERSIONS__ -D__CUDA_NO_HALF2_OPERATORS__ \
      -D__CUDA_NO_BFLOAT16_CONVERSIONS__ -diag-suppress=177 -Xcicc -O0 -ptx -x cu -o /dev/null -Istub "-I$torch" "-I$torch/torch/csrc/api/include" \
      $(python3 -c 'import sysconfig; print("-I" + sysconfig.get_paths()["include"])') -DTORCH_EXTENSION_NAME=rkb_exported \
      -DTORCH_API_INCLUDE_EXTENSION_H all.cc
}

export_seeds
ls ./*.cu >/dev/null || exit 1
[ "$which" != text ] || exit 0
leave_out
case $form in
--c) compile_c ;;
--torch) compile_torch ;;
esac
