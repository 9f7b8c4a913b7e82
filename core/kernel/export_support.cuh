/* What the launches below stand on.  Arguments are converted to the kernel's own parameter types, which the compiler finds; an integer
 * that would be cut is refused before anything is launched. */
namespace {
template <class A, class B> constexpr auto rkb_min(A a, B b) { return a < b ? a : b; }
template <class A, class B> constexpr auto rkb_max(A a, B b) { return a > b ? a : b; }
/* As the manifest has it: the quotient rounded up, for any signs. */
template <class A, class B> constexpr int64_t rkb_ceildiv(A a, B b) { return a / b + (a % b != 0 && (a < 0) == (b < 0)); }

struct rkb_pointer {
   const void *at;
};
template <class P, class V> P rkb_convert(V value, bool &fits) {
   if constexpr (std::is_same_v<V, rkb_pointer>)
      return (P)const_cast<void *>(value.at);
   else if constexpr (std::is_class_v<V>) { /* a tensor map or a struct, in the kernel's own type for it */
      static_assert(sizeof(P) == sizeof(V) && alignof(P) >= alignof(V), "a parameter of as many bytes, aligned as the argument is");
      P converted;
      __builtin_memcpy(&converted, &value, sizeof converted);
      return converted;
   } else {
      const P converted = (P)value;
      if constexpr (std::is_integral_v<V>)
         fits = fits && (int64_t)converted == (int64_t)value;
      return converted;
   }
}

struct rkb_shape {
   int64_t grid[3], block[3], cluster[3], shared;
   bool cooperative, dependent;
};

template <size_t... I, class... P> cudaError_t rkb_start(void (*kernel)(P...), const cudaLaunchConfig_t &config, std::tuple<P...> &values,
                                                          std::index_sequence<I...>) {
   void *pointers[] = {(void *)&std::get<I>(values)..., nullptr};
   return cudaLaunchKernelExC(&config, (const void *)kernel, pointers);
}

template <class... P, class... A> cudaError_t rkb_launch(void (*kernel)(P...), const rkb_shape &shape, cudaStream_t stream, A... arguments) {
   static_assert(sizeof...(P) == sizeof...(A), "as many arguments as parameters");
   bool fits = true;
   std::tuple<P...> values{rkb_convert<P>(arguments, fits)...};
   cudaLaunchAttribute attributes[3] = {};
   cudaLaunchConfig_t config = {};
   for (int i = 0; i < 3; i++)
      if (shape.grid[i] == 0)
         return cudaSuccess;
   for (int i = 0; i < 3; i++)
      fits = fits && shape.grid[i] > 0 && shape.grid[i] <= INT32_MAX && shape.block[i] > 0 && shape.block[i] <= 1024;
   if (!fits || shape.shared < 0 || shape.shared > INT32_MAX)
      return cudaErrorInvalidValue;
   config.gridDim = dim3((unsigned)shape.grid[0], (unsigned)shape.grid[1], (unsigned)shape.grid[2]);
   config.blockDim = dim3((unsigned)shape.block[0], (unsigned)shape.block[1], (unsigned)shape.block[2]);
   config.dynamicSmemBytes = (size_t)shape.shared;
   config.stream = stream;
   config.attrs = attributes;
   if (shape.cooperative) {
      attributes[config.numAttrs].id = cudaLaunchAttributeCooperative;
      attributes[config.numAttrs++].val.cooperative = 1;
   }
   if (shape.dependent) {
      attributes[config.numAttrs].id = cudaLaunchAttributeProgrammaticStreamSerialization;
      attributes[config.numAttrs++].val.programmaticStreamSerializationAllowed = 1;
   }
   if (shape.cluster[0] * shape.cluster[1] * shape.cluster[2] > 1) {
      attributes[config.numAttrs].id = cudaLaunchAttributeClusterDimension;
      attributes[config.numAttrs].val.clusterDim.x = (unsigned)shape.cluster[0];
      attributes[config.numAttrs].val.clusterDim.y = (unsigned)shape.cluster[1];
      attributes[config.numAttrs++].val.clusterDim.z = (unsigned)shape.cluster[2];
   }
   if (shape.shared > 48 * 1024) {
      const cudaError_t status = cudaFuncSetAttribute((const void *)kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shape.shared);
      if (status != cudaSuccess)
         return status;
   }
   return rkb_start(kernel, config, values, std::index_sequence_for<P...>{});
}

template <class T> __global__ void rkb_fill_kernel(T *out, T value, int64_t count) {
   for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < count; i += (int64_t)gridDim.x * blockDim.x)
      out[i] = value;
}
template <class T> cudaError_t rkb_fill(T *out, double value, int64_t count, cudaStream_t stream) {
   if (count == 0)
      return cudaSuccess;
   if (value == 0)
      return cudaMemsetAsync(out, 0, (size_t)count * sizeof(T), stream);
   rkb_fill_kernel<T><<<(unsigned)rkb_min((count + 255) / 256, INT64_C(65535)), 256, 0, stream>>>(out, (T)value, count);
   return cudaGetLastError();
}
} // namespace
