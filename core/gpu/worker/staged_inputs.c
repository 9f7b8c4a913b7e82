/* Stages, keeps and takes input values.  One thread. */
#include "gpu/worker/staged_inputs.h"
#include <string.h>

rkb_staged_t *rkb_values_find(rkb_values_t *values, uint32_t set, uint32_t tensor) {
   for (int i = 0; i < RKB_WORKER_MAX_STAGED; i++)
      if (values->staged[i].data && values->staged[i].set == set && values->staged[i].tensor == tensor)
         return &values->staged[i];
   return NULL;
}

const rkb_staged_t *rkb_values_find_other(const rkb_values_t *values, uint32_t set, uint32_t tensor,
                                          uint64_t bytes) {
   for (int i = 0; i < RKB_WORKER_MAX_STAGED; i++) {
      const rkb_staged_t *staged = &values->staged[i];
      if (staged->data && staged->set != set && staged->tensor == tensor && staged->bytes == bytes)
         return staged;
   }
   return NULL;
}

static void free_kept(const rkb_driver_t *d, rkb_values_t *values, rkb_kept_t *kept) {
   d->cuMemFree(kept->data);
   values->kept_bytes -= kept->bytes;
   *kept = (rkb_kept_t){0};
}

static void release(const rkb_driver_t *d, rkb_values_t *values, rkb_staged_t *slot) {
   if (slot->kept >= 0)
      values->kept[slot->kept].shared--;
   else
      d->cuMemFree(slot->data);
   *slot = (rkb_staged_t){.kept = -1};
}

static rkb_staged_t *free_slot(rkb_values_t *values) {
   for (int i = 0; i < RKB_WORKER_MAX_STAGED; i++)
      if (!values->staged[i].data)
         return &values->staged[i];
   return NULL;
}

int rkb_values_stage(const rkb_driver_t *d, rkb_values_t *values, const rkb_worker_stage_t *where,
                     const void *data, size_t bytes, CUresult *driver) {
   rkb_staged_t *slot = rkb_values_find(values, where->set, where->tensor);
   *driver = CUDA_SUCCESS;
   if (where->offset > where->bytes || bytes > where->bytes - where->offset)
      return RKB_WORKER_BAD_REQUEST;
   /* Free the slot if it holds another case's tensor of that number, or kept values, which must not be overwritten. */
   if (slot && (slot->bytes != where->bytes || slot->kept >= 0))
      release(d, values, slot);
   else if (!slot)
      slot = free_slot(values);
   if (!slot)
      return RKB_WORKER_BAD_REQUEST;
   if (!slot->data) {
      CUdeviceptr memory = 0;
      *driver = d->cuMemAlloc(&memory, where->bytes ? where->bytes : 16);
      if (*driver != CUDA_SUCCESS)
         return *driver == CUDA_ERROR_OUT_OF_MEMORY ? RKB_WORKER_NO_MEMORY : RKB_WORKER_DRIVER;
      *slot = (rkb_staged_t){where->set, where->tensor, memory, where->bytes, -1};
   }
   if (bytes)
      *driver = d->cuMemcpyHtoD(slot->data + where->offset, data, bytes);
   /* The copy returns when the bytes have left pageable memory, not when they have arrived (CUDA driver API, 'API
    * synchronization behavior').  The stream that reads them waits for no other stream, so wait here. */
   if (*driver == CUDA_SUCCESS)
      *driver = d->cuCtxSynchronize();
   return *driver == CUDA_SUCCESS ? RKB_WORKER_OK : RKB_WORKER_DRIVER;
}

static int32_t index_of(const rkb_values_t *values, const uint64_t name[2]) {
   for (int32_t i = 0; i < RKB_MOST_KEPT; i++)
      if (values->kept[i].data && memcmp(values->kept[i].name, name, sizeof values->kept[i].name) == 0)
         return i;
   return -1;
}

/* The kept values that were used least recently; -1 when all are in use. */
static int32_t oldest(const rkb_values_t *values) {
   int32_t found = -1;
   for (int32_t i = 0; i < RKB_MOST_KEPT; i++)
      if (values->kept[i].data && !values->kept[i].shared &&
          (found < 0 || values->kept[i].used < values->kept[found].used))
         found = i;
   return found;
}

/* Finds an unused place for this many bytes, and frees old values if necessary; -1 when the values in use
 * leave no room. */
static int32_t make_room(const rkb_driver_t *d, rkb_values_t *values, uint64_t bytes) {
   for (;;) {
      int32_t free_place = -1;
      for (int32_t i = 0; i < RKB_MOST_KEPT && free_place < 0; i++)
         free_place = values->kept[i].data ? -1 : i;
      if (free_place >= 0 && values->kept_bytes + bytes <= values->most_bytes)
         return free_place;
      int32_t goes = oldest(values);
      if (goes < 0)
         return -1;
      free_kept(d, values, &values->kept[goes]);
   }
}

void rkb_values_keep(const rkb_driver_t *d, rkb_values_t *values, uint32_t set, uint32_t tensor,
                     const uint64_t name[2]) {
   rkb_staged_t *slot = rkb_values_find(values, set, tensor);
   int32_t same = index_of(values, name);
   if (!slot || slot->kept >= 0 || slot->bytes > values->most_bytes)
      return;
   if (same >= 0 && values->kept[same].shared)
      return;
   if (same >= 0) /* the kept values were damaged, and were staged again */
      free_kept(d, values, &values->kept[same]);
   int32_t place = make_room(d, values, slot->bytes);
   if (place < 0)
      return;
   values->kept[place] = (rkb_kept_t){{name[0], name[1]}, slot->data, slot->bytes, ++values->clock, 1};
   values->kept_bytes += slot->bytes;
   slot->kept = place;
}

bool rkb_values_take(const rkb_driver_t *d, rkb_values_t *values, uint32_t set, uint32_t tensor,
                     const uint64_t name[2], uint64_t bytes) {
   int32_t place = index_of(values, name);
   if (place < 0 || values->kept[place].bytes != bytes)
      return false;
   rkb_staged_t *slot = rkb_values_find(values, set, tensor);
   if (slot)
      release(d, values, slot);
   else
      slot = free_slot(values);
   if (!slot)
      return false;
   values->kept[place].shared++;
   values->kept[place].used = ++values->clock;
   *slot = (rkb_staged_t){set, tensor, values->kept[place].data, bytes, place};
   return true;
}

void rkb_values_drop(const rkb_driver_t *d, rkb_values_t *values, bool all, uint32_t set) {
   for (int i = 0; i < RKB_WORKER_MAX_STAGED; i++)
      if (values->staged[i].data && (all || values->staged[i].set == set))
         release(d, values, &values->staged[i]);
}

bool rkb_values_forget(const rkb_driver_t *d, rkb_values_t *values) {
   bool freed = false;
   for (int32_t i = 0; i < RKB_MOST_KEPT; i++)
      if (values->kept[i].data && !values->kept[i].shared) {
         free_kept(d, values, &values->kept[i]);
         freed = true;
      }
   return freed;
}
