#!/usr/bin/env bash
# The parser reads shipped seeds (every third of the forward ones: a process each), and refuses by name what it cannot read: hostile texts end neither rkb nor this machine.
# usage: parser.sh SOURCE BUILD
source=$1 build=$2
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failed=0
head='/* rkb-kernel: 1
task: softmax
direction: forward
launches:
  - kernel: k
    grid: N
    block: 32
    args: x, y, D
*/'

number=0
for seed in "$source"/tasks/*/seeds/forward/*.cu; do
   number=$((number + 1))
   [[ $((number % 3)) = 0 ]] || continue
   "$build/bin/rkb-lift" "$seed" warp_to_block 2>"$work/said" >/dev/null
   if [[ $? -gt 1 ]] || grep -q 'line [0-9]*: .*\(unknown\|undeclared\|expected\|no matching\|no member\)' "$work/said"; then
      echo "$seed is not read:"; cat "$work/said"; failed=1
   fi
done

refused() { # wanted message, text
   printf '%s\n%b\n' "$head" "$2" >"$work/hostile.cu"
   "$build/bin/rkb-lift" "$work/hostile.cu" warp_to_block 2>"$work/said" >/dev/null
   if [[ $? != 1 ]] || ! grep -qF -- "$1" "$work/said"; then
      echo "this must be refused with '$1': ${2:0:80}"; head -c 400 "$work/said"; failed=1
   fi
}
refused "expected expression" '__global__ void k(const float *x, float *y, int D) { y[0] = ; }'
refused "use of undeclared identifier 'x0'" '__global__ void k(const float *x, float *y, int D) { y[0] = x0; }'
refused "cannot open file '/etc/passwd'" '#include "/etc/passwd"\n__global__ void k(const float *x, float *y, int D) {}'
refused "'cub/cub.cuh' file not found" '#include <cub/cub.cuh>\n__global__ void k(const float *x, float *y, int D) {}'
refused "a preprocessor line other than #pragma and #include" '#define A B\n__global__ void k(const float *x, float *y, int D) {}'
refused "bracket nesting level exceeded" "__global__ void k(const float *x, float *y, int D) { y[0] = $(printf '(%.0s' {1..5000})1; }"
refused "nested too deeply" "__global__ void k(const float *x, float *y, int D) { y[0] = 1$(printf -- '+1%.0s' {1..20000}); }"
refused "recursive template instantiation exceeded maximum depth" 'template <int n> struct T { static constexpr int v = T<n + 1>::v; };\n__global__ void k(const float *x, float *y, int D) { y[0] = T<0>::v; }'
refused "the parser does not get through the text" 'template <int n> struct F { static constexpr int v() { return F<n - 1>::v() + F<n - 2>::v(); } };\nconstexpr unsigned long long f(unsigned long long n) { return n < 2 ? n : f(n - 1) + f(n - 2); }\ntemplate <class A, class B, class C> struct P {};\ntemplate <int n, class... T> struct G { typedef typename G<n - 1, P<T, T, T>..., P<int, T, int>..., P<T, int, T>...>::type type; };\ntemplate <class... T> struct G<0, T...> { typedef int type; };\n__global__ void k(const float *x, float *y, int D) { G<30, int, float>::type a; }'
exit $failed
