// What CUDA declares and a candidate may use (docs/kernel-format.md), as far as a reader of syntax needs it: types of the right kind, and
// functions that exist.  Nothing here is ever compiled into a kernel.
#define __global__ __attribute__((annotate("kernel")))
#define __device__
#define __host__
#define __shared__ __attribute__((annotate("shared")))
#define __constant__
#define __managed__
#define __grid_constant__
#define __forceinline__ inline
#define __noinline__
#define __launch_bounds__(...)
#define __maxnreg__(...)
#define __cluster_dims__(...)
#define __align__(n) __attribute__((aligned(n)))
#define alignas(n) __attribute__((aligned(n))) // may stand behind __shared__ then
#define __CUDA_ARCH__ 900
#define __CUDACC__ 1
#define __CUDACC_RTC__ 1
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define FLT_MAX 3.402823466e+38f
#define FLT_MIN 1.175494351e-38f
#define FLT_EPSILON 1.192092896e-07f
#define DBL_MAX 1.7976931348623157e+308
#define INT_MAX 2147483647
#define INT_MIN (-2147483647 - 1)
#define UINT_MAX 4294967295u
#define CUDART_INF_F __builtin_inff()
#define CUDART_NAN_F __builtin_nanf("")
#define M_PI 3.14159265358979323846
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440

typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long uint64_t;
typedef unsigned long size_t;
typedef long ptrdiff_t;
typedef unsigned long uintptr_t;
typedef long intptr_t;
typedef unsigned int uint;
typedef unsigned char uchar;
typedef unsigned short ushort;

#define RKB_VECTOR(type, name)                                                                                                   \
   struct __attribute__((aligned(sizeof(type)))) name##1 { type x; };                                                             \
   struct __attribute__((aligned(2 * sizeof(type)))) name##2 { type x, y; };                                                      \
   struct name##3 { type x, y, z; };                                                                                              \
   struct __attribute__((aligned(4 * sizeof(type) > 16 ? 16 : 4 * sizeof(type)))) name##4 { type x, y, z, w; };                   \
   name##1 make_##name##1(type x);                                                                                                \
   name##2 make_##name##2(type x, type y);                                                                                        \
   name##3 make_##name##3(type x, type y, type z);                                                                                \
   name##4 make_##name##4(type x, type y, type z, type w);
RKB_VECTOR(char, char) RKB_VECTOR(unsigned char, uchar) RKB_VECTOR(short, short) RKB_VECTOR(unsigned short, ushort) RKB_VECTOR(int, int)
RKB_VECTOR(unsigned, uint) RKB_VECTOR(long long, longlong) RKB_VECTOR(unsigned long long, ulonglong) RKB_VECTOR(float, float)
RKB_VECTOR(double, double)

struct dim3 { unsigned x, y, z; };
extern const uint3 threadIdx, blockIdx;
extern const dim3 blockDim, gridDim;
extern const int warpSize;

// Operators are friends that only their own arguments find: with others in sight, `a[i] += b` of unknown types would read as a call.
#define RKB_NARROW(name)                                                                                                         \
   struct alignas(2) name {                                                                                                       \
      name() = default;                                                                                                           \
      name(float); name(double); name(int); name(unsigned); name(long long); name(unsigned long long);                            \
      operator float() const;                                                                                                     \
      friend name operator+(name, name); friend name operator-(name, name); friend name operator*(name, name);                   \
      friend name operator/(name, name); friend name operator-(name);                                                             \
      friend name &operator+=(name &, name); friend name &operator-=(name &, name); friend name &operator*=(name &, name);       \
      friend name &operator/=(name &, name); friend bool operator<(name, name); friend bool operator>(name, name);               \
      friend bool operator<=(name, name); friend bool operator>=(name, name); friend bool operator==(name, name);                \
      friend bool operator!=(name, name);                                                                                         \
      unsigned short bits;                                                                                                        \
   };                                                                                                                             \
   name __hadd(name, name); name __hsub(name, name); name __hmul(name, name); name __hfma(name, name, name);                      \
   name __hmax(name, name); name __hmin(name, name); name __hneg(name); name __habs(name); name hexp(name); name hrsqrt(name);     \
   name __ldg(const name *);
RKB_NARROW(__nv_bfloat16)
RKB_NARROW(__half)
typedef __nv_bfloat16 nv_bfloat16;
typedef __half half;
#define RKB_NARROW_PAIR(name, one)                                                                                               \
   struct alignas(4) name {                                                                                                       \
      one x, y; name() = default; name(one, one);                                                                                 \
      friend name operator+(name, name); friend name operator-(name, name); friend name operator*(name, name);                   \
   };                                                                                                                             \
   name __hadd2(name, name); name __hsub2(name, name); name __hmul2(name, name); name __hfma2(name, name, name);                  \
   name __hmax2(name, name); name __hmin2(name, name); name __ldg(const name *);
RKB_NARROW_PAIR(__nv_bfloat162, __nv_bfloat16)
RKB_NARROW_PAIR(__half2, __half)
typedef __nv_bfloat162 nv_bfloat162;
typedef __half2 half2;
__nv_bfloat16 __float2bfloat16(float); __nv_bfloat16 __float2bfloat16_rn(float); float __bfloat162float(__nv_bfloat16);
__nv_bfloat162 __floats2bfloat162_rn(float, float); __nv_bfloat162 __float22bfloat162_rn(float2); float2 __bfloat1622float2(__nv_bfloat162);
__nv_bfloat162 __halves2bfloat162(__nv_bfloat16, __nv_bfloat16); float __low2float(__nv_bfloat162); float __high2float(__nv_bfloat162);
__nv_bfloat16 __ushort_as_bfloat16(unsigned short); unsigned short __bfloat16_as_ushort(__nv_bfloat16);
__half __float2half(float); __half __float2half_rn(float); float __half2float(__half); __half2 __floats2half2_rn(float, float);
float2 __half22float2(__half2); __half2 __halves2half2(__half, __half); float __low2float(__half2); float __high2float(__half2);

template <class T> T __ldg(const T *);
template <class T> T __ldcs(const T *);
template <class T> T __ldca(const T *);
template <class T> T __ldcg(const T *);
template <class T> T __ldlu(const T *);
template <class T> void __stcs(T *, T);
template <class T> void __stcg(T *, T);
template <class T> void __stwt(T *, T);
template <class T> T __shfl_sync(unsigned, T, int, int = 32);
template <class T> T __shfl_xor_sync(unsigned, T, int, int = 32);
template <class T> T __shfl_down_sync(unsigned, T, unsigned, int = 32);
template <class T> T __shfl_up_sync(unsigned, T, unsigned, int = 32);
void __syncthreads(); void __syncwarp(unsigned = 0xffffffffu); int __syncthreads_or(int); int __syncthreads_and(int); int __syncthreads_count(int);
void __threadfence(); void __threadfence_block(); void __threadfence_system(); void __nanosleep(unsigned); void __trap();
unsigned __ballot_sync(unsigned, int); int __any_sync(unsigned, int); int __all_sync(unsigned, int); unsigned __activemask();
template <class T> unsigned __match_any_sync(unsigned, T);
template <class T> T __reduce_add_sync(unsigned, T);
template <class T> T __reduce_max_sync(unsigned, T);
template <class T> T __reduce_min_sync(unsigned, T);
template <class T> T atomicAdd(T *, T);
template <class T> T atomicSub(T *, T);
template <class T> T atomicMax(T *, T);
template <class T> T atomicMin(T *, T);
template <class T> T atomicExch(T *, T);
template <class T> T atomicCAS(T *, T, T);
template <class T> T atomicOr(T *, T);
template <class T> T atomicAnd(T *, T);
unsigned atomicInc(unsigned *, unsigned); unsigned atomicDec(unsigned *, unsigned);
size_t __cvta_generic_to_shared(const void *);
int __popc(unsigned); int __popcll(unsigned long long); int __clz(int); int __clzll(long long); int __ffs(int); unsigned __brev(unsigned);
int __float_as_int(float); unsigned __float_as_uint(float); float __int_as_float(int); float __uint_as_float(unsigned);
unsigned __byte_perm(unsigned, unsigned, unsigned); unsigned __funnelshift_l(unsigned, unsigned, unsigned); unsigned __funnelshift_r(unsigned, unsigned, unsigned);
int __mulhi(int, int); unsigned __umulhi(unsigned, unsigned); int __mul24(int, int); int __dp4a(int, int, int); unsigned __dp4a(unsigned, unsigned, unsigned);
int __float2int_rn(float); int __float2int_rd(float); int __float2int_rz(float); float __int2float_rn(int); float __uint2float_rn(unsigned);
#define RKB_REAL(type, suffix)                                                                                                   \
   type exp##suffix(type); type exp2##suffix(type); type expm1##suffix(type); type log##suffix(type); type log2##suffix(type);    \
   type log1p##suffix(type); type log10##suffix(type); type sqrt##suffix(type); type rsqrt##suffix(type); type cbrt##suffix(type); \
   type sin##suffix(type); type cos##suffix(type); type tan##suffix(type); type tanh##suffix(type); type sinh##suffix(type);      \
   type cosh##suffix(type); type atan##suffix(type); type asin##suffix(type); type acos##suffix(type); type erf##suffix(type);    \
   type erfc##suffix(type); type normcdf##suffix(type); type floor##suffix(type); type ceil##suffix(type); type trunc##suffix(type); \
   type rint##suffix(type); type round##suffix(type); type nearbyint##suffix(type); type fabs##suffix(type); type pow##suffix(type, type); \
   type fmax##suffix(type, type); type fmin##suffix(type, type); type fma##suffix(type, type, type); type fmod##suffix(type, type); \
   type copysign##suffix(type, type); type atan2##suffix(type, type); type ldexp##suffix(type, int); type hypot##suffix(type, type); \
   void sincos##suffix(type, type *, type *); type exp10##suffix(type); type rcbrt##suffix(type);
RKB_REAL(float, f)
RKB_REAL(double, )
float __expf(float); float __exp10f(float); float __logf(float); float __log2f(float); float __sinf(float); float __cosf(float); float __tanf(float);
float __powf(float, float); float __fdividef(float, float); float __frcp_rn(float); float __fsqrt_rn(float); float __frsqrt_rn(float);
float __fadd_rn(float, float); float __fmul_rn(float, float); float __fmaf_rn(float, float, float); float __fdiv_rn(float, float); float __saturatef(float);
double __dadd_rn(double, double); double __dmul_rn(double, double); double __fma_rn(double, double, double);
bool isnan(float); bool isinf(float); bool isfinite(float); bool signbit(float); bool isnan(double); bool isinf(double);
int abs(int); long long llabs(long long); float abs(float); double abs(double);
int min(int, int); unsigned min(unsigned, unsigned); long min(long, long); long long min(long long, long long); float min(float, float); double min(double, double);
unsigned long long min(unsigned long long, unsigned long long); unsigned min(int, unsigned); unsigned min(unsigned, int); long long min(long long, int); long long min(int, long long);
int max(int, int); unsigned max(unsigned, unsigned); long max(long, long); long long max(long long, long long); float max(float, float); double max(double, double);
unsigned long long max(unsigned long long, unsigned long long); unsigned max(int, unsigned); unsigned max(unsigned, int); long long max(long long, int); long long max(int, long long);
extern "C" void *memcpy(void *, const void *, size_t);
extern "C" void *memset(void *, int, size_t);
