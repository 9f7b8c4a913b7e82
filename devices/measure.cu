/* Measures what a device profile needs and no data sheet says: sustained bandwidths, unloaded latencies, launch costs.
 *
 *   nvcc -O3 -arch=native -o measure measure.cu && ./measure
 *
 * Prints one "name: value  # how" line each, ready for devices/<name>.yaml, and what clusters cost, which the model has in roofline.c.
 * Latencies come from dependent chains of loads (pointer chasing, one thread), bandwidths from the median of 15 launches.  Changes no
 * device setting. */
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <vector>

#define CHECK(call)                                                                                              \
   do {                                                                                                          \
      cudaError_t status = (call);                                                                               \
      if (status != cudaSuccess) {                                                                               \
         std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status));                    \
         std::exit(1);                                                                                           \
      }                                                                                                          \
   } while (0)

__global__ void empty() {}

__global__ void copy(const float4 *from, float4 *to, size_t count) {
   for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count; i += (size_t)gridDim.x * blockDim.x)
      to[i] = from[i];
}

/* Reads count vectors again and again, past the first-level cache. */
__global__ void read_again(const float4 *from, size_t count, int rounds, float *sink) {
   float sum = 0;
   for (int r = 0; r < rounds; r++)
      for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count; i += (size_t)gridDim.x * blockDim.x) {
         float4 v = __ldcg(from + i);
         sum += v.x + v.y + v.z + v.w;
      }
   if (sum == 12345.678f)
      *sink = sum;
}

__global__ void chase(const uint32_t *next, int steps, uint32_t *sink, long long *clocks) {
   uint32_t at = 0;
   long long start = clock64();
   for (int i = 0; i < steps; i++)
      at = __ldcg(next + at);
   *clocks = clock64() - start;
   *sink = at;
}

__global__ void chase_shared(int steps, uint32_t *sink, long long *clocks) {
   __shared__ uint32_t next[1024];
   for (int i = 0; i < 1024; i++)
      next[i] = (i * 33 + 7) % 1024;
   uint32_t at = 0;
   long long start = clock64();
   for (int i = 0; i < steps; i++)
      at = next[at];
   *clocks = clock64() - start;
   *sink = at;
}

__global__ void dependent(int steps, float a, float *sink, long long *clocks) {
   float x = a;
   long long start = clock64();
#pragma unroll 16
   for (int i = 0; i < steps; i++)
      x = fmaf(x, a, a);
   *clocks = clock64() - start;
   *sink = x;
}

/* Blocks of a cluster meet rounds times, and after each time eight lanes at most store one word into a block each. */
__global__ void meet(int rounds, bool store, float *sink) {
#if __CUDA_ARCH__ >= 900
   __shared__ float words[8];
   unsigned blocks, own, there;
   asm("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(blocks));
   asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(own));
   for (int r = 0; r < rounds; r++) {
      asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
      if (store && threadIdx.x < blocks) {
         asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"((unsigned)__cvta_generic_to_shared(words + own)), "r"(threadIdx.x));
         asm volatile("st.shared::cluster.f32 [%0], %1;" ::"r"(there), "f"((float)r) : "memory");
      }
   }
   asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
   if (words[0] == 12345.678f)
      *sink = words[0];
#endif
}

__global__ void barriers(int steps, long long *clocks) {
   long long start = clock64();
   for (int i = 0; i < steps; i++)
      __syncthreads();
   if (threadIdx.x == 0)
      *clocks = clock64() - start;
}

static double median(std::vector<double> v) {
   std::nth_element(v.begin(), v.begin() + v.size() / 2, v.end());
   return v[v.size() / 2];
}

template <typename F> static double seconds(F launch) {
   cudaEvent_t start, stop;
   std::vector<double> times;
   CHECK(cudaEventCreate(&start));
   CHECK(cudaEventCreate(&stop));
   for (int i = 0; i < 18; i++) {
      float ms;
      CHECK(cudaEventRecord(start));
      launch();
      CHECK(cudaEventRecord(stop));
      CHECK(cudaEventSynchronize(stop));
      CHECK(cudaEventElapsedTime(&ms, start, stop));
      if (i >= 3)
         times.push_back(ms * 1e-3);
   }
   return median(times);
}

/* evict, unless NULL, is memory of evict_bytes that is read just before, so that the chain is found in no cache. */
static double chase_clocks(size_t bytes, uint32_t *sink, long long *clocks, const float4 *evict, size_t evict_bytes) {
   size_t lines = bytes / 128;
   std::vector<uint32_t> order(lines), next(lines * 32);
   std::iota(order.begin(), order.end(), 0);
   std::shuffle(order.begin() + 1, order.end(), std::mt19937(1));
   for (size_t i = 0; i < lines; i++)
      next[order[i] * 32u] = order[(i + 1) % lines] * 32u;
   uint32_t *device;
   CHECK(cudaMalloc(&device, bytes));
   CHECK(cudaMemcpy(device, next.data(), bytes, cudaMemcpyHostToDevice));
   int steps = (int)std::min<size_t>(lines, 20000);
   chase<<<1, 1>>>(device, steps, sink, clocks); /* the second chase finds the first one's address translations */
   if (evict)
      read_again<<<1024, 512>>>(evict, evict_bytes / 16, 1, reinterpret_cast<float *>(sink));
   chase<<<1, 1>>>(device, steps, sink, clocks);
   CHECK(cudaDeviceSynchronize());
   long long c = *clocks;
   CHECK(cudaFree(device));
   return (double)c / steps;
}

int main() {
   cudaDeviceProp p;
   int khz = 0;
   CHECK(cudaGetDeviceProperties(&p, 0));
   CHECK(cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, 0));
   double clock = khz * 1e3;
   std::printf("# %s, %d multiprocessors, %.0f MHz, L2 %d bytes, memory %zu bytes\n", p.name, p.multiProcessorCount, clock / 1e6,
               p.l2CacheSize, p.totalGlobalMem);
   std::printf("# shared: %zu a multiprocessor, %zu a block, %zu opt-in, %zu reserved; registers %d; threads %d; blocks %d\n",
               p.sharedMemPerMultiprocessor, p.sharedMemPerBlock, p.sharedMemPerBlockOptin, p.reservedSharedMemPerBlock,
               p.regsPerMultiprocessor, p.maxThreadsPerMultiProcessor, p.maxBlocksPerMultiProcessor);

   float4 *a, *b;
   float *sink;
   uint32_t *number;
   long long *clocks;
   size_t bytes = (size_t)4 << 30;
   CHECK(cudaMalloc(&a, bytes));
   CHECK(cudaMalloc(&b, bytes));
   CHECK(cudaMalloc(&sink, 4));
   CHECK(cudaMalloc(&number, 4));
   CHECK(cudaMallocHost(&clocks, 8));
   CHECK(cudaMemset(a, 0, bytes));
   int blocks = p.multiProcessorCount * 8;

   double s = seconds([&] { copy<<<blocks, 512>>>(a, b, bytes / 16); });
   std::printf("memory_sustained: %.4g  # read + written bytes/s of a 4 GiB copy\n", 2.0 * bytes / s);
   size_t small = (size_t)p.l2CacheSize / 4;
   s = seconds([&] { read_again<<<blocks, 512>>>(a, small / 16, 100, sink); });
   std::printf("l2_bandwidth: %.4g  # reads of a quarter of L2, 100 times\n", 100.0 * small / s);
   double empty_pair = seconds([&] {});
   double floor_time = seconds([&] { empty<<<1, 32>>>(); });
   std::printf("event_pair_s: %.4g  # two events with nothing between\n", empty_pair);
   std::printf("launch_floor_s: %.4g  # an empty kernel between two events\n", floor_time);

   cudaStream_t stream;
   cudaGraph_t graph;
   cudaGraphExec_t executable;
   CHECK(cudaStreamCreate(&stream));
   for (int count = 1; count <= 101; count += 100) {
      CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
      for (int i = 0; i < count; i++)
         empty<<<1, 32, 0, stream>>>();
      CHECK(cudaStreamEndCapture(stream, &graph));
      CHECK(cudaGraphInstantiate(&executable, graph, 0));
      double t = 0;
      std::vector<double> times;
      cudaEvent_t start, stop;
      CHECK(cudaEventCreate(&start));
      CHECK(cudaEventCreate(&stop));
      for (int i = 0; i < 15; i++) {
         float ms;
         CHECK(cudaEventRecord(start, stream));
         CHECK(cudaGraphLaunch(executable, stream));
         CHECK(cudaEventRecord(stop, stream));
         CHECK(cudaEventSynchronize(stop));
         CHECK(cudaEventElapsedTime(&ms, start, stop));
         times.push_back(ms * 1e-3);
      }
      t = median(times);
      std::printf("# a graph of %d empty kernels: %.4g s\n", count, t);
   }

   auto report = [&](const char *name, double in_clocks, const char *how) {
      std::printf("%s: %.4g  # %.1f clocks: %s\n", name, in_clocks / clock, in_clocks, how);
   };
   report("memory_latency_s", chase_clocks((size_t)1 << 30, number, clocks, b, bytes), "pointer chase through 1 GiB, one thread");
   report("l2_latency_s", chase_clocks((size_t)p.l2CacheSize / 16, number, clocks, NULL, 0), "pointer chase through a sixteenth of L2");
   chase_shared<<<1, 1>>>(20000, number, clocks);
   CHECK(cudaDeviceSynchronize());
   report("shared_latency_s", (double)*clocks / 20000, "pointer chase through shared memory");
   dependent<<<1, 1>>>(20000, 0.5f, sink, clocks);
   CHECK(cudaDeviceSynchronize());
   std::printf("issue_latency_clocks: %.2f  # dependent fused multiply-adds of one warp\n", (double)*clocks / 20000);
   for (int threads = 64; threads <= 1024; threads *= 4) {
      barriers<<<1, threads>>>(10000, clocks);
      CHECK(cudaDeviceSynchronize());
      std::printf("barrier_clocks: %.1f  # %d threads, nobody late\n", (double)*clocks / 10000, threads);
   }
   for (int threads = 128; threads <= 512 && p.major >= 9; threads *= 2)
      for (int size = 2; size <= 8; size *= 2) {
         const int grid = 32768, rounds = 4, warps = threads / 32;
         cudaLaunchAttribute cluster = {};
         cluster.id = cudaLaunchAttributeClusterDimension;
         cluster.val.clusterDim = {(unsigned)size, 1, 1};
         cudaLaunchConfig_t how = {};
         how.gridDim = grid;
         how.blockDim = threads;
         how.attrs = &cluster;
         how.numAttrs = 1;
         auto took = [&](int times, bool store) { return seconds([&] { CHECK(cudaLaunchKernelEx(&how, meet, times, store, sink)); }); };
         const double none = took(0, false), waits = took(rounds, false), stores = took(rounds, true), each = (double)p.multiProcessorCount / grid / rounds;
         std::printf("# clusters of %d blocks of %d threads: %.2f ns of a multiprocessor for a warp's wait, %.2f for a store into another block\n", size, threads,
                     (waits - none) * each / warps * 1e9, (stores - waits) * each / size * 1e9);
      }
   return 0;
}
