/* Buffers that begin or end at an unmapped page (CUDA driver API, 'Virtual Memory Management').  An access one element outside is then a
 * fault of the launch instead of a silent read.  One thread. */
#include "gpu/worker/guarded_memory.h"
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "gpu/protocol.h"

static uint64_t round_up(uint64_t value, uint64_t unit) {
   return (value + unit - 1) / unit * unit;
}

static CUresult open_guarded(const rkb_driver_t *d, uint32_t placement, uint64_t bytes, uint32_t alignment,
                             rkb_device_memory_t *m) {
   CUmemAllocationProp property = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                   .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = d->device}};
   CUmemAccessDesc access = {.location = property.location, .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
   uint64_t page = d->granularity;
   m->mapped_bytes = round_up(bytes, page);
   m->reserved_bytes = m->mapped_bytes + 2 * page;
   CUresult status = d->cuMemAddressReserve(&m->reserved, m->reserved_bytes, page, 0, 0);
   if (status != CUDA_SUCCESS)
      goto fail;
   m->mapped = m->reserved + page;
   status = d->cuMemCreate(&m->handle, m->mapped_bytes, &property, 0);
   if (status != CUDA_SUCCESS)
      goto fail_reserved;
   status = d->cuMemMap(m->mapped, m->mapped_bytes, 0, m->handle, 0);
   if (status != CUDA_SUCCESS)
      goto fail_created;
   status = d->cuMemSetAccess(m->mapped, m->mapped_bytes, &access, 1);
   if (status != CUDA_SUCCESS)
      goto fail_mapped;
   m->start = m->mapped;
   if (placement == RKB_PLACE_GUARD_HIGH)
      m->start = m->mapped + (m->mapped_bytes - bytes) / alignment * alignment;
   return CUDA_SUCCESS;

fail_mapped:
   d->cuMemUnmap(m->mapped, m->mapped_bytes);
fail_created:
   d->cuMemRelease(m->handle);
fail_reserved:
   d->cuMemAddressFree(m->reserved, m->reserved_bytes);
fail:
   *m = (rkb_device_memory_t){0};
   return status;
}

CUresult rkb_memory_open(const rkb_driver_t *d, uint32_t placement, uint64_t bytes, uint32_t alignment,
                         rkb_device_memory_t *m) {
   *m = (rkb_device_memory_t){.bytes = bytes};
   if (bytes == 0)
      bytes = alignment; /* an empty tensor still has an address */
   if (placement != RKB_PLACE_PLAIN)
      return open_guarded(d, placement, bytes, alignment, m);
   /* aligned to at least 256 bytes (CUDA C++ Programming Guide, 'Device Memory Accesses') */
   CUresult status = d->cuMemAlloc(&m->start, bytes);
   m->mapped = m->start;
   m->mapped_bytes = status == CUDA_SUCCESS ? bytes : 0;
   return status;
}

void rkb_memory_close(const rkb_driver_t *d, rkb_device_memory_t *m) {
   if (m->reserved) {
      d->cuMemUnmap(m->mapped, m->mapped_bytes);
      d->cuMemRelease(m->handle);
      d->cuMemAddressFree(m->reserved, m->reserved_bytes);
   } else if (m->start) {
      d->cuMemFree(m->start);
   }
   *m = (rkb_device_memory_t){0};
}

CUresult rkb_memory_arm(const rkb_driver_t *d, const rkb_device_memory_t *m) {
   uint64_t before = m->start - m->mapped, behind = m->mapped_bytes - before - m->bytes;
   CUresult status = CUDA_SUCCESS;
   if (!m->reserved)
      return CUDA_SUCCESS;
   if (before)
      status = d->cuMemsetD8Async(m->mapped, RKB_CANARY_BYTE, before, d->stream);
   if (behind && status == CUDA_SUCCESS)
      status = d->cuMemsetD8Async(m->start + m->bytes, RKB_CANARY_BYTE, behind, d->stream);
   return status;
}

CUresult rkb_memory_look(const rkb_driver_t *d, const rkb_worker_kernels_t *own, const rkb_device_memory_t *m) {
   uint64_t before = m->start - m->mapped, behind = m->mapped_bytes - before - m->bytes;
   CUresult status = CUDA_SUCCESS;
   if (!m->reserved)
      return CUDA_SUCCESS;
   status = rkb_look(d, own, m->mapped, before, RKB_CANARY_BYTE);
   return status == CUDA_SUCCESS ? rkb_look(d, own, m->start + m->bytes, behind, RKB_CANARY_BYTE) : status;
}

/* The distance from the buffer to the nearest damaged byte.  at_end: the bytes lie before the buffer. */
static bool find_damage(const uint8_t *bytes, uint64_t count, bool at_end, uint64_t *distance) {
   for (uint64_t i = 0; i < count; i++)
      if (bytes[at_end ? count - 1 - i : i] != RKB_CANARY_BYTE) {
         *distance = i;
         return true;
      }
   return false;
}

CUresult rkb_memory_inspect(const rkb_driver_t *d, const rkb_device_memory_t *m, bool *damaged, bool *before,
                            uint64_t *distance) {
   uint64_t ahead = m->start - m->mapped, behind = m->mapped_bytes - ahead - m->bytes;
   *damaged = false;
   if (!m->reserved || ahead + behind == 0)
      return CUDA_SUCCESS;
   uint8_t *copy = rkb_try_uncleared(ahead + behind, 1, NULL); /* less than a page of the device, 2 MiB */
   if (!copy)
      return CUDA_ERROR_OUT_OF_MEMORY;
   CUresult status = ahead ? d->cuMemcpyDtoH(copy, m->mapped, ahead) : CUDA_SUCCESS;
   if (status == CUDA_SUCCESS && behind)
      status = d->cuMemcpyDtoH(copy + ahead, m->start + m->bytes, behind);
   if (status == CUDA_SUCCESS) {
      *before = find_damage(copy, ahead, true, distance);
      *damaged = *before || find_damage(copy + ahead, behind, false, distance);
   }
   free(copy);
   return status;
}
