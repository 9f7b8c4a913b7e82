/* Substitutes for the host's standard headers in a candidate.  NVRTC has no such headers and knows most of
 * their device side already.  Types have the sizes of the 64-bit Linux ABI; int64_t is declared as in libcu++
 * (long long), so that both can be included.  Constant data. */
#include "kernel/compiler/compiler.h"

#define GUARD "#pragma once\n"

#define STDINT                                                                                               \
   GUARD                                                                                                     \
   "typedef signed char int8_t; typedef short int16_t; typedef int int32_t; typedef long long int64_t;\n"    \
   "typedef unsigned char uint8_t; typedef unsigned short uint16_t; typedef unsigned int uint32_t;\n"        \
   "typedef unsigned long long uint64_t; typedef long long intptr_t; typedef unsigned long long "            \
   "uintptr_t;\n"                                                                                            \
   "typedef long long intmax_t; typedef unsigned long long uintmax_t;\n"                                     \
   "#ifndef INT32_MAX\n"                                                                                     \
   "#define INT8_MIN (-128)\n#define INT8_MAX 127\n#define UINT8_MAX 255\n"                                  \
   "#define INT16_MIN (-32768)\n#define INT16_MAX 32767\n#define UINT16_MAX 65535\n"                         \
   "#define INT32_MIN (-2147483647 - 1)\n#define INT32_MAX 2147483647\n#define UINT32_MAX 4294967295u\n"     \
   "#define INT64_MIN (-9223372036854775807ll - 1)\n#define INT64_MAX 9223372036854775807ll\n"               \
   "#define UINT64_MAX 18446744073709551615ull\n#define SIZE_MAX UINT64_MAX\n"                               \
   "#endif\n"

#define LIMITS                                                                                               \
   GUARD "#ifndef INT_MAX\n"                                                                                 \
         "#define CHAR_BIT 8\n#define SCHAR_MIN (-128)\n#define SCHAR_MAX 127\n#define UCHAR_MAX 255\n"      \
         "#define SHRT_MIN (-32768)\n#define SHRT_MAX 32767\n#define USHRT_MAX 65535\n"                      \
         "#define INT_MIN (-2147483647 - 1)\n#define INT_MAX 2147483647\n#define UINT_MAX 4294967295u\n"     \
         "#define LONG_MIN (-9223372036854775807l - 1)\n#define LONG_MAX 9223372036854775807l\n"             \
         "#define ULONG_MAX 18446744073709551615ul\n#define LLONG_MIN (-9223372036854775807ll - 1)\n"        \
         "#define LLONG_MAX 9223372036854775807ll\n#define ULLONG_MAX 18446744073709551615ull\n"             \
         "#endif\n"

/* libcu++ 2.3, which belongs to CUDA 12.4, includes "climits" from a header beside its own climits, but NVRTC
 * prefers a header that it was given by name.  So the substitute hands on to libcu++'s, which also defines
 * what that NVRTC does not predefine (__CHAR_BIT__, __FLT_RADIX__).  It writes the same limits in other words. */
#define CLIMITS                                                                                              \
   "#include <limits.h>\n"                                                                                   \
   "#if defined(_LIBCUDACXX_COMPILER_NVRTC) && !defined(__FLT_RADIX__)\n"                                    \
   "#undef CHAR_BIT\n#undef SCHAR_MIN\n#undef SCHAR_MAX\n#undef UCHAR_MAX\n#undef SHRT_MIN\n#undef "         \
   "SHRT_MAX\n#undef USHRT_MAX\n#undef INT_MIN\n#undef INT_MAX\n#undef UINT_MAX\n#undef LONG_MIN\n"          \
   "#undef LONG_MAX\n#undef ULONG_MAX\n#undef LLONG_MIN\n#undef LLONG_MAX\n#undef ULLONG_MAX\n"              \
   "#include <cuda/std/climits>\n#endif\n"

#define FLOAT                                                                                                \
   GUARD "#ifndef FLT_MAX\n"                                                                                 \
         "#define FLT_MAX 3.402823466e+38f\n#define FLT_MIN 1.175494351e-38f\n#define FLT_EPSILON "          \
         "1.192092896e-07f\n"                                                                                \
         "#define FLT_DIG 6\n#define FLT_MANT_DIG 24\n"                                                      \
         "#define DBL_MAX 1.7976931348623158e+308\n#define DBL_MIN 2.2250738585072014e-308\n"                \
         "#define DBL_EPSILON 2.2204460492503131e-16\n#define DBL_DIG 15\n#define DBL_MANT_DIG 53\n"         \
         "#endif\n"

#define MATH                                                                                                 \
   GUARD "#ifndef INFINITY\n#define INFINITY __int_as_float(0x7f800000)\n#endif\n"                           \
         "#ifndef NAN\n#define NAN __int_as_float(0x7fffffff)\n#endif\n"                                     \
         "#ifndef HUGE_VALF\n#define HUGE_VALF INFINITY\n#endif\n"                                           \
         "#ifndef M_PI\n#define M_E 2.7182818284590452354\n#define M_LOG2E 1.4426950408889634074\n"          \
         "#define M_LOG10E 0.43429448190325182765\n#define M_LN2 0.69314718055994530942\n#define M_LN10 "    \
         "2.30258509299404568402\n"                                                                          \
         "#define M_PI 3.14159265358979323846\n#define M_PI_2 1.57079632679489661923\n#define M_PI_4 "       \
         "0.78539816339744830962\n"                                                                          \
         "#define M_1_PI 0.31830988618379067154\n#define M_2_PI 0.63661977236758134308\n"                    \
         "#define M_2_SQRTPI 1.12837916709551257390\n#define M_SQRT2 1.41421356237309504880\n"               \
         "#define M_SQRT1_2 0.70710678118654752440\n#endif\n"

#define STD_FROM_CUDA(header)                                                                                \
   GUARD "#include <cuda/std/" header ">\nnamespace std { using namespace cuda::std; }\n"

/* NVRTC declares the device side of the runtime itself (threadIdx, dim3, printf, atomics), so these headers are empty. */
#define NOTHING GUARD

const compiler_header_t compiler_headers[] = {
   {"stdint.h", STDINT},
   {"cstdint", GUARD
    "#include <stdint.h>\nnamespace std { using ::int8_t; using ::int16_t; using ::int32_t; using ::int64_t; "
    "using ::uint8_t; using ::uint16_t; using ::uint32_t; using ::uint64_t; using ::uintptr_t; using "
    "::intptr_t; }\n"},
   {"stddef.h", GUARD "typedef long ptrdiff_t;\n"},
   {"cstddef", GUARD "#include <stddef.h>\nnamespace std { using ::ptrdiff_t; using ::size_t; }\n"},
   {"limits.h", LIMITS},
   {"climits", CLIMITS},
   {"float.h", FLOAT},
   {"cfloat", GUARD "#include <float.h>\n"},
   {"math.h", MATH},
   {"cmath", GUARD "#include <math.h>\n"},
   {"stdbool.h", NOTHING},
   {"stdio.h", NOTHING},
   {"cstdio", NOTHING},
   {"iostream", NOTHING}, /* cub of CUDA 12.4 includes this header */
   {"stdlib.h", NOTHING},
   {"cstdlib", NOTHING},
   {"string.h", NOTHING},
   {"cstring", NOTHING},
   {"assert.h", NOTHING},
   {"cassert", NOTHING},
   {"cuda.h", NOTHING},
   {"cuda_runtime.h", NOTHING},
   {"cuda_runtime_api.h", NOTHING},
   {"device_launch_parameters.h", NOTHING},
   {"type_traits", STD_FROM_CUDA("type_traits")},
   {"limits", STD_FROM_CUDA("limits")},
   {"utility", STD_FROM_CUDA("utility")},
   {"iterator", STD_FROM_CUDA("iterator")},
   {"algorithm", STD_FROM_CUDA("algorithm")},
   {"array", STD_FROM_CUDA("array")},
   {"tuple", STD_FROM_CUDA("tuple")},
};

const uint32_t compiler_header_count = sizeof compiler_headers / sizeof *compiler_headers;
