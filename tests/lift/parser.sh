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

# Odd texts: every rewrite says whether it holds, and none ends the program in another way.
survives() { # text
   printf '%s\n%b\n' "$head" "$1" >"$work/odd.cu"
   "$build/bin/rkb-lift" "$work/odd.cu" >"$work/said" 2>&1
   if [[ $? != 0 ]] || [[ $(grep -c '^\(holds\|refused\) ' "$work/said") -lt 11 ]]; then
      echo "a rewrite does not survive: ${1:0:120}"; head -c 600 "$work/said"; failed=1
   fi
}
k='__global__ void k(const float *x, float *y, int D)'
row='const float *r = x + (long long)blockIdx.x * D;'
survives "$k {}"
survives "$k;"
survives '__global__ void k() { for (;;) __syncthreads(); }'
survives '__global__ void k(...) { __shared__ float s[32]; s[threadIdx.x] = 1; __syncthreads(); for (int i = 16; i > 0; i /= 2) {} }'
survives "$k { for (int i = threadIdx.x, j = 0; i < D; i += 32, j++) y[i] = x[j]; }"
survives "$k { for (int i = threadIdx.x; i < D; i += 32) for (int j = 0; j < D; ++j) ; __syncthreads(); ; ; __syncthreads(); }"
survives "$k { for (int t = 0; t < D; t++) { __syncthreads(); __syncthreads(); } for (int t = 0; t < D; t++) { ; __syncthreads(); ; __syncthreads(); } }"
survives "$k { __shared__ float s; if (threadIdx.x == 0) s = 1; __syncthreads(); if (threadIdx.x == 0) {} y[0] = s; }"
survives "$k { $row float v = 0; for (int i = threadIdx.x; i < D; i += blockDim.x) v += r[i]; for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(~0u, v, d); if (threadIdx.x % 32 == 0) ; __syncthreads(); y[blockIdx.x] = v; }"
survives "$k { int i = blockIdx.x * 32 + threadIdx.x; if (i >= D) { return; } if (i) {} else y[i] = x[i]; }"
survives "$k { int i = blockIdx.x * 32 + threadIdx.x; if (i < D) ; }"
survives "$k { int i = blockIdx.x * 32 + threadIdx.x; if (i < D) (y)[(i)] = (x)[(i)], y[i]++; }"
survives "$k { auto f = [&](int n) { __syncthreads(); return n; }; for (int t = 0; t < D; t += f(1)) { y[t] = 1; __syncthreads(); y[t] = x[t]; __syncthreads(); } }"
survives "struct S { float a[2]; __device__ S &operator=(const S &o) { a[0] = o.a[0]; return *this; } };\n$k { __shared__ S s[2]; S v; s[threadIdx.x] = v; __syncthreads(); v = s[0]; y[0] = v.a[0]; }"
survives "template <class T> __device__ T f(T v) { return f(v); }\ntemplate <class T> __device__ T g(T v) { return f(g(v)); }\n$k { for (int i = threadIdx.x; i < D; i += 32) y[i] = g(x[i]); }"
survives "__device__ float f(float v) { __shared__ float s[1]; s[0] = v; __syncthreads(); return s[0]; }\n$k { y[blockIdx.x] = f(x[0]); }"
refused "a name has more than 48 characters" "$k { const float $(printf 'a%.0s' {1..60}) = x[0]; y[0] = $(printf 'a%.0s' {1..60}); }"
exit $failed
