// why: a descriptor names shared memory of the block itself: what a peer has must be copied first; the broken one takes the peer's address,
// why: whose bits past the 18th a descriptor does not hold, and reads its own memory, where nothing is
// buffer: a in f16 1024 ramp
// buffer: b in f16 256 ramp
// buffer: y out f32 2048
// launch: k grid=2 cluster=2 block=128 args=a,b,y
// expect: pass
// broken: reject memory.uninitialised
#include "clusters.cuh"
#include "warpgroups.cuh"
extern "C" __global__ void k(const unsigned short *a, const unsigned short *b, float *y) {
   __shared__ __align__(128) unsigned short sa[1024], sb[256];
   float d[8] = {0, 0, 0, 0, 0, 0, 0, 0};
   const unsigned rank = cluster_rank(), peers = in_block(sb, 0);
   fill(sa, a, 64);
   if (rank == 0)
      fill(sb, b, 16);
   cluster_sync();
#ifdef BROKEN
   const unsigned from = peers;
   proxy_fence();
   __syncthreads();
#else
   const unsigned from = ROOM(sb);
   if (rank)
      ((float *)sb)[threadIdx.x] = peer_load(peers + 4 * threadIdx.x);
   proxy_fence();
   __syncthreads();
#endif
   hold(d);
   group_fence();
   multiply<1>(d, (ROOM(sa) & 0x3ffff) >> 4 | 64ull << 16 | 8ull << 32, (from & 0x3ffff) >> 4 | 16ull << 16 | 8ull << 32);
   group_commit();
   group_wait<0>();
   hold(d);
   leave(y + 1024 * rank, d);
   cluster_sync();
}
