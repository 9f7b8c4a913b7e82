/* rkb-kernel: 1
task: bf16_linear
direction: forward
maps:
  x_tiles: {buffer: x, dims: "K, M", strides: "K", box: "64, 128", swizzle: 128}
  weight_tiles: {buffer: weight, dims: "K, N", strides: "K", box: "64, 192", swizzle: 128}
launches:
  - kernel: y_fragments_vector<int>
    when: "(K) % 8 == 0 and (N) % 4 == 0"
    grid: "min((((M) + (127)) / (128)) * (((N) + (191)) / (192)) * (1) * 1, multiprocessors * 1)"
    block: 384
    shared: 184320
    args: "bias, y, x_tiles, weight_tiles, (((M) + (127)) / (128)) * (((N) + (191)) / (192)), ((M) + (127)) / (128), ((N) + (191)) / (192), K, N, M"
  - else:
    kernel: y_fragments<int>
    grid: "(((M) + (63)) / (64)) * (((N) + (63)) / (64)) * (1) * 1"
    block: 128
    shared: 65536
    args: "x, weight, bias, y, ((M) + (63)) / (64), ((N) + (63)) / (64), K, M, N"
*/
#include <cuda_bf16.h>

/* Neighbouring elements, moved by one access. */
template <int count, typename type = float> struct alignas(sizeof(type) * count) Pack {
   type at[count];
};

/* Describes a matrix in memory to the unit that copies boxes of it. */
struct alignas(64) tensor_map {
   char bytes[128];
};

/* A barrier's round ends when so many have arrived, and the bytes that they announced. */
__device__ __forceinline__ void barrier_start(unsigned long long *barrier, int arrivals) {
   asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" : : "r"((unsigned)__cvta_generic_to_shared(barrier)), "r"(arrivals)
                : "memory");
}

/* The copying unit, too, sees barriers as they were started. */
__device__ __forceinline__ void barriers_started() {
   asm volatile("fence.mbarrier_init.release.cluster;" : : : "memory");
}

__device__ __forceinline__ void barrier_arrive(unsigned long long *barrier) {
   asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" : : "r"((unsigned)__cvta_generic_to_shared(barrier)) : "memory");
}

/* Arrives, and announces bytes that copies will bring. */
__device__ __forceinline__ void barrier_expect(unsigned long long *barrier, int bytes) {
   asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" : : "r"((unsigned)__cvta_generic_to_shared(barrier)), "r"(bytes)
                : "memory");
}

/* Waits for the end of a round; turn: 0 for the first, 1 for the second, and so on. */
__device__ __forceinline__ void barrier_wait(unsigned long long *barrier, int turn) {
   unsigned ended = 0;
   while (!ended)
      asm volatile("{\n.reg .pred ended;\nmbarrier.try_wait.parity.shared::cta.b64 ended, [%1], %2;\n"
                   "selp.u32 %0, 1, 0, ended;\n}"
                   : "=r"(ended) : "r"((unsigned)__cvta_generic_to_shared(barrier)), "r"(turn) : "memory");
}

/* Copies a box of a matrix to shared memory, zeros where it has no elements. */
__device__ __forceinline__ void copy_tile(void *to, const tensor_map *map, unsigned long long *barrier, int x, int y) {
   asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                "[%0], [%1, {%2, %3}], [%4];"
                : : "r"((unsigned)__cvta_generic_to_shared(to)), "l"(map), "r"(x), "r"(y), "r"((unsigned)__cvta_generic_to_shared(barrier))
                : "memory");
}
__device__ __forceinline__ void copy_tile(void *to, const tensor_map *map, unsigned long long *barrier, int x, int y, int z) {
   asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                "[%0], [%1, {%2, %3, %4}], [%5];"
                : : "r"((unsigned)__cvta_generic_to_shared(to)), "l"(map), "r"(x), "r"(y), "r"(z), "r"((unsigned)__cvta_generic_to_shared(barrier))
                : "memory");
}

/* A warpgroup gives registers back, which another asks for. */
template <int count> __device__ __forceinline__ void fewer_registers() {
   asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" : : "n"(count));
}

template <int count> __device__ __forceinline__ void more_registers() {
   asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" : : "n"(count));
}

/* What a product reads: rows of 128 bytes, their pieces of 16 exchanged by the row, in groups of eight rows; distance: from 64
 * elements across to the next, where neighbours in memory lie across. */
__device__ __forceinline__ unsigned long long matrix(const unsigned char *at, int distance) {
   return (unsigned long long)((unsigned)__cvta_generic_to_shared(at) >> 4 | distance / 16 << 16) | 64ull << 32 | 1ull << 62;
}

/* Stops the compiler from moving or copying sums while a product may write them. */
template <int rows, int columns> __device__ __forceinline__ void hold(float (&sums)[rows][columns]) {
   #pragma unroll
   for (int i = 0; i < rows * columns; i++)
      asm volatile("" : "+f"(sums[i / columns][i % columns]) : : "memory");
}
template <int rows, int columns> __device__ __forceinline__ void hold(int (&sums)[rows][columns]) {
   #pragma unroll
   for (int i = 0; i < rows * columns; i++)
      asm volatile("" : "+r"(sums[i / columns][i % columns]) : : "memory");
}

/* Products that follow see the sums as they are here. */
__device__ __forceinline__ void products_begin() {
   asm volatile("wgmma.fence.sync.aligned;" : : : "memory");
}

/* Ends a group of products. */
__device__ __forceinline__ void products_sent() {
   asm volatile("wgmma.commit_group.sync.aligned;" : : : "memory");
}

/* Waits until no more than so many groups of products are under way. */
template <int groups> __device__ __forceinline__ void products_done() {
   asm volatile("wgmma.wait_group.sync.aligned %0;" : : "n"(groups) : "memory");
}

/* Adds the product of 64 rows and 128 columns, 16 terms of each.  1: neighbours in memory lie across, not along the terms. */
template <int left_across, int right_across> __device__ __forceinline__ void multiply_bf16_n128(float (&sums)[64], unsigned long long left, unsigned long long right) {
   asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {"
                "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
                "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
                "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
                "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
                "%64, %65, 1, 1, 1, %66, %67;"
                : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3]), "+f"(sums[4]), "+f"(sums[5]),
                  "+f"(sums[6]), "+f"(sums[7]), "+f"(sums[8]), "+f"(sums[9]), "+f"(sums[10]), "+f"(sums[11]),
                  "+f"(sums[12]), "+f"(sums[13]), "+f"(sums[14]), "+f"(sums[15]), "+f"(sums[16]), "+f"(sums[17]),
                  "+f"(sums[18]), "+f"(sums[19]), "+f"(sums[20]), "+f"(sums[21]), "+f"(sums[22]), "+f"(sums[23]),
                  "+f"(sums[24]), "+f"(sums[25]), "+f"(sums[26]), "+f"(sums[27]), "+f"(sums[28]), "+f"(sums[29]),
                  "+f"(sums[30]), "+f"(sums[31]), "+f"(sums[32]), "+f"(sums[33]), "+f"(sums[34]), "+f"(sums[35]),
                  "+f"(sums[36]), "+f"(sums[37]), "+f"(sums[38]), "+f"(sums[39]), "+f"(sums[40]), "+f"(sums[41]),
                  "+f"(sums[42]), "+f"(sums[43]), "+f"(sums[44]), "+f"(sums[45]), "+f"(sums[46]), "+f"(sums[47]),
                  "+f"(sums[48]), "+f"(sums[49]), "+f"(sums[50]), "+f"(sums[51]), "+f"(sums[52]), "+f"(sums[53]),
                  "+f"(sums[54]), "+f"(sums[55]), "+f"(sums[56]), "+f"(sums[57]), "+f"(sums[58]), "+f"(sums[59]),
                  "+f"(sums[60]), "+f"(sums[61]), "+f"(sums[62]), "+f"(sums[63])
                : "l"(left), "l"(right), "n"(left_across), "n"(right_across)
                : "memory");
}

/* Adds the product of 64 rows and 192 columns, 16 terms of each.  1: neighbours in memory lie across, not along the terms. */
template <int left_across, int right_across> __device__ __forceinline__ void multiply_bf16_n192(float (&sums)[96], unsigned long long left, unsigned long long right) {
   asm volatile("wgmma.mma_async.sync.aligned.m64n192k16.f32.bf16.bf16 {"
                "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
                "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
                "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
                "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
                "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
                "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95}, "
                "%96, %97, 1, 1, 1, %98, %99;"
                : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3]), "+f"(sums[4]), "+f"(sums[5]),
                  "+f"(sums[6]), "+f"(sums[7]), "+f"(sums[8]), "+f"(sums[9]), "+f"(sums[10]), "+f"(sums[11]),
                  "+f"(sums[12]), "+f"(sums[13]), "+f"(sums[14]), "+f"(sums[15]), "+f"(sums[16]), "+f"(sums[17]),
                  "+f"(sums[18]), "+f"(sums[19]), "+f"(sums[20]), "+f"(sums[21]), "+f"(sums[22]), "+f"(sums[23]),
                  "+f"(sums[24]), "+f"(sums[25]), "+f"(sums[26]), "+f"(sums[27]), "+f"(sums[28]), "+f"(sums[29]),
                  "+f"(sums[30]), "+f"(sums[31]), "+f"(sums[32]), "+f"(sums[33]), "+f"(sums[34]), "+f"(sums[35]),
                  "+f"(sums[36]), "+f"(sums[37]), "+f"(sums[38]), "+f"(sums[39]), "+f"(sums[40]), "+f"(sums[41]),
                  "+f"(sums[42]), "+f"(sums[43]), "+f"(sums[44]), "+f"(sums[45]), "+f"(sums[46]), "+f"(sums[47]),
                  "+f"(sums[48]), "+f"(sums[49]), "+f"(sums[50]), "+f"(sums[51]), "+f"(sums[52]), "+f"(sums[53]),
                  "+f"(sums[54]), "+f"(sums[55]), "+f"(sums[56]), "+f"(sums[57]), "+f"(sums[58]), "+f"(sums[59]),
                  "+f"(sums[60]), "+f"(sums[61]), "+f"(sums[62]), "+f"(sums[63]), "+f"(sums[64]), "+f"(sums[65]),
                  "+f"(sums[66]), "+f"(sums[67]), "+f"(sums[68]), "+f"(sums[69]), "+f"(sums[70]), "+f"(sums[71]),
                  "+f"(sums[72]), "+f"(sums[73]), "+f"(sums[74]), "+f"(sums[75]), "+f"(sums[76]), "+f"(sums[77]),
                  "+f"(sums[78]), "+f"(sums[79]), "+f"(sums[80]), "+f"(sums[81]), "+f"(sums[82]), "+f"(sums[83]),
                  "+f"(sums[84]), "+f"(sums[85]), "+f"(sums[86]), "+f"(sums[87]), "+f"(sums[88]), "+f"(sums[89]),
                  "+f"(sums[90]), "+f"(sums[91]), "+f"(sums[92]), "+f"(sums[93]), "+f"(sums[94]), "+f"(sums[95])
                : "l"(left), "l"(right), "n"(left_across), "n"(right_across)
                : "memory");
}

/* Where an element of a tile lies in shared memory.  Chunks of 16 bytes trade places within their row, so that eight rows at one
 * column lie in different banks. */
template <int columns, int bytes> __device__ __forceinline__ int swizzled(int row, int column) {
   constexpr int chunk = 16 / bytes, chunks = columns / chunk, rows = chunks < 8 ? 8 / chunks : 1;
   return row * columns + (column / chunk ^ row / rows % (chunks < 8 ? chunks : 8)) * chunk + column % chunk;
}

/* Loads four squares of 8 rows of 16 bytes; lane l points to row l % 8 of square l / 8. */
__device__ __forceinline__ void load_rows(unsigned *to, const void *row) {
   asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                : "r"((unsigned)__cvta_generic_to_shared(row))
                : "memory");
}

__device__ __forceinline__ void multiply_bf16(float (&sums)[4], const unsigned (&left)[4], const unsigned (&right)[2]) {
   asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
       : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
       : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right[0]), "r"(right[1]));
}

/* Where a tile begins: tiles are taken by groups of eight rows, so that blocks that run at once share factors. */
__device__ __forceinline__ void find_tile(int block, int rows, int columns, int &m_first, int &n_first) {
   const int group = block / (8 * columns), within = block % (8 * columns), width = rows - group * 8 < 8 ? rows - group * 8 : 8;
   m_first = (group * 8 + within % width) * 128;
   n_first = within / width * 192;
}

/* A block owns a tile of 128 x 192 elements of matmul; a warpgroup multiplies 64 x 192 of them, and the last one copies tiles of the factors. */
template <typename index>
__global__ void __launch_bounds__(384, 1) y_fragments_vector(const __nv_bfloat16 *__restrict__ bias, __nv_bfloat16 *y, const __grid_constant__ tensor_map x_tiles, const __grid_constant__ tensor_map weight_tiles, index M_plus_127_by_128_N_plus_191_by_192, index M_plus_127_by_128, index N_plus_191_by_192, index K, index N, index M) {
   extern __shared__ __align__(1024) unsigned char tiles[];
   __shared__ unsigned long long filled[4], freed[4];
   if (threadIdx.x == 0) {
      for (int stage = 0; stage < 4; stage++) {
         barrier_start(&filled[stage], 1);
         barrier_start(&freed[stage], 2);
      }
      barriers_started();
   }
   __syncthreads();
   const int warpgroup = threadIdx.x / 128;
   int stage = 0, turn = 0; /* the stage at hand, and whether all have been used an odd number of times */
   if (warpgroup == 2) {
      fewer_registers<40>();
      if (threadIdx.x != 256)
         return;
      for (index block = blockIdx.x; block < M_plus_127_by_128_N_plus_191_by_192; block += gridDim.x) {
         index m_first, n_first;
         find_tile(block, M_plus_127_by_128, N_plus_191_by_192, m_first, n_first);
         const index begin = 0, end = K;
         for (index first = begin; first < end; first += 64) {
            barrier_wait(&freed[stage], turn ^ 1);
            barrier_expect(&filled[stage], 40960);
            unsigned char *const m_tile = tiles + stage * 40960, *const n_tile = m_tile + 16384;
            copy_tile(m_tile, &x_tiles, &filled[stage], (int)first, (int)m_first);
            copy_tile(n_tile, &weight_tiles, &filled[stage], (int)first, (int)n_first);
            stage = stage == 3 ? 0 : stage + 1;
            turn ^= stage == 0;
         }
      }
      return;
   }
   more_registers<232>();
   const int warp = threadIdx.x / 32 % 4, lane = threadIdx.x % 32;
   float *const room = (float *)(tiles + 163840) + threadIdx.x / 32 * 640;
   for (index block = blockIdx.x; block < M_plus_127_by_128_N_plus_191_by_192; block += gridDim.x) {
      index m_first, n_first;
         find_tile(block, M_plus_127_by_128, N_plus_191_by_192, m_first, n_first);
      const index begin = 0, end = K;
      float sums[1][96] = {};
      for (index first = begin; first < end; first += 64) {
         barrier_wait(&filled[stage], turn);
         const unsigned char *const m_stage = tiles + stage * 40960 + warpgroup * 8192, *const n_stage = tiles + stage * 40960 + 16384;
         hold(sums);
         products_begin();
         #pragma unroll
         for (int step = 0; step < 4; step++)
            #pragma unroll
            for (int i = 0; i < 1; i++)
               multiply_bf16_n192<0, 0>(sums[i], matrix(m_stage + i * 8192 + step * 32, 16), matrix(n_stage + step * 32, 16));
         products_sent();
         hold(sums);
         products_done<1>();
         if (first > begin && threadIdx.x % 128 == 0)
            barrier_arrive(&freed[stage == 0 ? 3 : stage - 1]);
         stage = stage == 3 ? 0 : stage + 1;
         turn ^= stage == 0;
      }
      products_done<0>();
      hold(sums);
      if (begin < end && threadIdx.x % 128 == 0)
         barrier_arrive(&freed[stage == 0 ? 3 : stage - 1]);
      #pragma unroll
      for (int i = 0; i < 1; i++) {
         #pragma unroll
         for (int j = 0; j < 192; j += 32) {
            __syncwarp(); /* what the room held has been read */
            #pragma unroll
            for (int pair = 0; pair < 8; pair++)
               *(float2 *)(room + (lane / 4 + pair % 2 * 8) * 40 + pair / 2 * 8 + lane % 4 * 2) =
                  make_float2(sums[i][j / 2 + pair * 2], sums[i][j / 2 + pair * 2 + 1]);
            __syncwarp();
            #pragma unroll
            for (int item = lane; item < 128; item += 32) {
               const int row = item / 8, column = item % 8 * 4;
               const index m = m_first + warpgroup * 64 + i * 64 + warp * 16 + row, n = n_first + j + column;
               if (m < M && n < N) {
                  const Pack<4, __nv_bfloat16> bias_pack = *(const Pack<4, __nv_bfloat16> *)(bias + n);
                  Pack<4, __nv_bfloat16> y_out;
                  for (int lane = 0; lane < 4; lane++) {
                     const float bias_here = __bfloat162float(bias_pack.at[lane]);
                     const float matmul_added = room[row * 40 + column + lane] + bias_here;
                     y_out.at[lane] = __float2bfloat16_rn(matmul_added);
                  }
                  *(Pack<4, __nv_bfloat16> *)(y + ((m * N) + n)) = y_out;
               }
            }
         }
      }
   }
}

/* A block owns a tile of 64 x 64 elements of matmul; a warp 32 x 32 of them. */
template <typename index>
__global__ void __launch_bounds__(128) y_fragments(const __nv_bfloat16 *__restrict__ x, const __nv_bfloat16 *__restrict__ weight, const __nv_bfloat16 *__restrict__ bias, __nv_bfloat16 *y, index M_plus_63_by_64, index N_plus_63_by_64, index K, index M, index N) {
   const index m_first = (index)blockIdx.x % M_plus_63_by_64 * 64, n_first = (index)blockIdx.x / M_plus_63_by_64 % N_plus_63_by_64 * 64;
   const index begin = 0, end = K;
   const int warp_m = threadIdx.x / 32 / 2 * 32, warp_n = threadIdx.x / 32 % 2 * 32;
   const int lane = threadIdx.x % 32;
   extern __shared__ __align__(128) unsigned char stages[];
   __nv_bfloat16 *const m_tile = (__nv_bfloat16 *)stages, *const n_tile = m_tile + 16384;
   ushort1 m_next[32];
   ushort1 n_next[32];
   float sums[2][4][4] = {};
   auto fetch = [&](index first) {
      /* Brings a thread's share of the terms from first on into registers. */
      const index k_first = first;
      const index k = k_first + (int)threadIdx.x % 64;
      #pragma unroll
      for (int item = 0; item < 32; item++) {
         const index m_here = m_first + item * 2 + (int)threadIdx.x / 64;
         m_next[item] = {};
         if (m_here < M && k < end)
            m_next[item] = *(const ushort1 *)(x + ((m_here * K) + k));
      }
      const index k_2 = k_first + (int)threadIdx.x % 64;
      #pragma unroll
      for (int item = 0; item < 32; item++) {
         const index n_here = n_first + item * 2 + (int)threadIdx.x / 64;
         n_next[item] = {};
         if (n_here < N && k_2 < end)
            n_next[item] = *(const ushort1 *)(weight + ((n_here * K) + k_2));
      }
   };
   auto put = [&](int stage) {
      __nv_bfloat16 *const m_stage = m_tile + stage * 4096;
      __nv_bfloat16 *const n_stage = n_tile + stage * 4096;
      #pragma unroll
      for (int item = 0; item < 32; item++) {
         *(ushort1 *)(m_stage + swizzled<64, 2>(item * 2 + (int)threadIdx.x / 64, (int)threadIdx.x % 64)) = m_next[item];
      }
      #pragma unroll
      for (int item = 0; item < 32; item++) {
         *(ushort1 *)(n_stage + swizzled<64, 2>(item * 2 + (int)threadIdx.x / 64, (int)threadIdx.x % 64)) = n_next[item];
      }
   };
   #pragma unroll 1
   for (int ahead = 0; ahead < 3; ahead++) {
      if (begin + ahead * 64 < end) {
         fetch(begin + ahead * 64);
         put(ahead);
      }
   }
   int stage = 0;
   for (index first = begin; first < end; first += 64) {
      __syncthreads();
      const int free_stage = stage == 0 ? 3 : stage - 1;
      const bool more = first + 192 < end;
      if (more)
         fetch(first + 192);
      const __nv_bfloat16 *const m_stage = m_tile + stage * 4096;
      const __nv_bfloat16 *const n_stage = n_tile + stage * 4096;
      #pragma unroll 1
      for (int step = 0; step < 4; step++) {
         unsigned left[2][4], right[4][2];
         #pragma unroll
         for (int i = 0; i < 2; i++)
            load_rows(left[i], m_stage + swizzled<64, 2>(warp_m + i * 16 + lane % 16, step * 16 + lane / 16 * 8));
         #pragma unroll
         for (int j = 0; j < 4; j += 2)
            load_rows(right[j], n_stage + swizzled<64, 2>(warp_n + j * 8 + lane % 8 + lane / 16 * 8, step * 16 + lane / 8 % 2 * 8));
         #pragma unroll
         for (int i = 0; i < 2; i++)
            #pragma unroll
            for (int j = 0; j < 4; j++)
               multiply_bf16(sums[i][j], left[i], right[j]);
      }
      if (more)
         put(free_stage);
      stage = stage == 3 ? 0 : stage + 1;
   }
   __syncthreads(); /* the last stage has been read */
   float *const sums_tile = (float *)stages;
   #pragma unroll
   for (int i = 0; i < 4; i++)
      #pragma unroll
      for (int j = 0; j < 4; j++)
         *(float2 *)(sums_tile + (warp_m + i * 8 + lane / 4) * 72 + warp_n + j * 8 + lane % 4 * 2) =
            make_float2(sums[i / 2][j][i % 2 * 2], sums[i / 2][j][i % 2 * 2 + 1]);
   __syncthreads();
   #pragma unroll 1
   for (int item = threadIdx.x; item < 4096; item += 128) {
      const int row = item / 64, column = item % 64 * 1;
      const index m = m_first + row, n = n_first + column;
      if (m < M && n < N) {
         const float bias_here = __bfloat162float(bias[n]);
         const float matmul_added = sums_tile[row * 72 + column] + bias_here;
         y[((m * N) + n)] = __float2bfloat16_rn(matmul_added);
      }
   }
}

