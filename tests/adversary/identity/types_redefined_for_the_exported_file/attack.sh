#!/usr/bin/env bash
# The macros of a text end before the launcher begins, in every form of an export, however a directive is written.
source "$(dirname "$0")/../../attack.bash" "$@"

{
  cat "$source_folder/tests/adversary/twins/linear_relu.cu"
  printf '#define int64_t short\n%%:/* */define/**/INT64_C(x) 1\n  # def\\\nine \\\n  bool char\n#define and_so 1\n'
} >"$work/kernel.cu"
for form in --c --torch; do
  rkb export "$work/kernel.cu" "$form" >"$work/exported" || fail "rkb export $form: $?"
  for name in int64_t INT64_C bool and_so; do
    sed '0,/^#undef '$name'$/d' "$work/exported" >"$work/behind"
    grep -q rkb_launch "$work/behind" || fail "rkb export $form: '$name' is still a macro where the kernel is launched"
    ! grep -q '^#define' "$work/behind" || fail "rkb export $form: macros come behind '#undef $name'"
  done
done
