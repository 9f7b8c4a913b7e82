// why: a product in the style of template libraries: storage in one struct, roles by warpgroup, a pipeline class whose states carry index and
// why: phase, a mainloop and an epilogue of their own; the broken one gives the stage back that its products still read
// buffer: a in bf16 32768 noise
// buffer: b in bf16 32768 noise
// buffer: y out f32 16384
// map: map_a a bf16 dims=256,128 strides=512 box=64,128 swizzle=128
// map: map_b b bf16 dims=256,128 strides=512 box=64,128 swizzle=128
// launch: run grid=1 block=384 shared=99328 args=map_a,map_b,y
// expect: pass
// broken: reject race.async
#include "tensor_maps.cuh"
#include "warpgroups.cuh"
namespace style {
template <int M_, int N_, int K_> struct Shape {
   static constexpr int M = M_, N = N_, K = K_;
};
template <int Stages> struct PipelineState {
   int index = 0;
   unsigned phase = 0;
   __device__ PipelineState() {}
   __device__ PipelineState(int i, unsigned p) : index(i), phase(p) {}
   __device__ PipelineState &operator++() {
      if (++index == Stages) {
         index = 0;
         phase ^= 1;
      }
      return *this;
   }
};
template <int Stages> struct ClusterBarrierStorage {
   alignas(16) unsigned long long full[Stages], empty[Stages];
};
template <int Stages, int Bytes> class PipelineTmaAsync {
   ClusterBarrierStorage<Stages> &storage;

public:
   struct Params {
      int consumers;
      bool leader;
   };
   __device__ PipelineTmaAsync(ClusterBarrierStorage<Stages> &s, Params params) : storage(s) {
      if (params.leader) {
         for (int i = 0; i < Stages; i++) {
            bar_init(&storage.full[i], 1);
            bar_init(&storage.empty[i], params.consumers);
         }
         bar_fence();
      }
   }
   __device__ unsigned long long *producer_acquire(PipelineState<Stages> state) {
      bar_wait(&storage.empty[state.index], state.phase ^ 1);
      bar_expect(&storage.full[state.index], Bytes);
      return &storage.full[state.index];
   }
   __device__ void consumer_wait(PipelineState<Stages> state) { bar_wait(&storage.full[state.index], state.phase); }
   __device__ void consumer_release(PipelineState<Stages> state, bool predicate) {
      if (predicate)
         bar_arrive(&storage.empty[state.index]);
   }
};
template <class TileShape, int Stages> struct Mainloop {
   static constexpr int BytesA = TileShape::M * TileShape::K * 2, BytesB = TileShape::N * TileShape::K * 2;
   using Pipeline = PipelineTmaAsync<Stages, BytesA + BytesB>;
   struct TensorStorage {
      alignas(1024) unsigned char a[Stages][BytesA];
      alignas(1024) unsigned char b[Stages][BytesB];
   };
   struct SharedStorage {
      TensorStorage tensors;
      ClusterBarrierStorage<Stages> barriers;
   };
   static __device__ void load(SharedStorage &shared, Pipeline &pipeline, const tensor_map &a, const tensor_map &b, int tiles) {
      PipelineState<Stages> write;
      for (int k = 0; k < tiles; k++, ++write) {
         unsigned long long *barrier = pipeline.producer_acquire(write);
         tile_load(shared.tensors.a[write.index], &a, k * TileShape::K, 0, barrier);
         tile_load(shared.tensors.b[write.index], &b, k * TileShape::K, 0, barrier);
      }
   }
   static __device__ void mma(SharedStorage &shared, Pipeline &pipeline, float (&accumulators)[64], int tiles, int group, int thread) {
      PipelineState<Stages> read, release;
      for (int k = 0; k < tiles; k++) {
         pipeline.consumer_wait(read);
         hold(accumulators);
         group_fence();
#pragma unroll
         for (int block = 0; block < TileShape::K / 16; block++)
            multiply(accumulators, swizzled(ROOM(shared.tensors.a[read.index]) + group * BytesA / 2 + block * 32),
                     swizzled(ROOM(shared.tensors.b[read.index]) + block * 32));
         group_commit();
         hold(accumulators);
         group_wait<1>();
#ifndef BROKEN
         if (k) {
            pipeline.consumer_release(release, thread == 0);
            ++release;
         }
#else
         pipeline.consumer_release(release, thread == 0);
         ++release;
#endif
         ++read;
      }
      group_wait<0>();
      hold(accumulators);
   }
};
struct Epilogue {
   static __device__ void store(float *y, int leading, const float (&accumulators)[64], int group, int thread) {
#pragma unroll
      for (int n = 0; n < 64; n++) {
         const int row = group * 64 + thread / 32 * 16 + thread % 32 / 4 + n / 2 % 2 * 8, column = n / 4 * 8 + thread % 4 * 2 + n % 2;
         y[row * leading + column] = accumulators[n];
      }
   }
};
enum class Role { Producer, Consumer0, Consumer1 };
}
using Loop = style::Mainloop<style::Shape<128, 128, 64>, 3>;
extern "C" __global__ void __launch_bounds__(384, 1)
run(const __grid_constant__ tensor_map map_a, const __grid_constant__ tensor_map map_b, float *y) {
   extern __shared__ __align__(1024) unsigned char memory[];
   Loop::SharedStorage &shared = *reinterpret_cast<Loop::SharedStorage *>(memory);
   const int thread = threadIdx.x % 128;
   const style::Role role = style::Role(threadIdx.x / 128);
   Loop::Pipeline pipeline(shared.barriers, {2, threadIdx.x == 0});
   __syncthreads();
   if (role == style::Role::Producer) {
      asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
      if (thread == 0)
         Loop::load(shared, pipeline, map_a, map_b, 4);
   } else {
      asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
      const int group = role == style::Role::Consumer0 ? 0 : 1;
      float accumulators[64];
#pragma unroll
      for (int n = 0; n < 64; n++)
         accumulators[n] = 0;
      Loop::mma(shared, pipeline, accumulators, 4, group, thread);
      style::Epilogue::store(y, 128, accumulators, group, thread);
   }
}
