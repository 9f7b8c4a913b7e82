/* Answers the requests of rkb-worker (worker_requests.h).  The worker owns modules, instances and values. */
#include "gpu/worker/worker_requests.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "gpu/worker/spent_energy.h"
#include "gpu/worker/timed_run.h"
#include "kernel/kernel.h"

_Static_assert(RKB_WORKER_MAX_SUMS <= RKB_MOST_SUMS, "each sum of a request has a place");

int worker_refuse(worker_t *w, int status, const char *fmt, ...) {
   va_list ap;
   va_start(ap, fmt);
   vsnprintf(w->message, sizeof w->message, fmt, ap);
   va_end(ap);
   return status;
}

static int fail_driver(worker_t *w, const char *what, CUresult status) {
   return worker_refuse(w, status == CUDA_ERROR_OUT_OF_MEMORY ? RKB_WORKER_NO_MEMORY : RKB_WORKER_DRIVER,
                        "%s: %s", what, rkb_driver_error(&w->driver, status));
}

static rkb_instance_t *find_instance(worker_t *w, uint32_t number) {
   return number < RKB_WORKER_MAX_INSTANCES && w->instances[number].plan ? &w->instances[number] : NULL;
}

int worker_hello(worker_t *w, int ordinal, char *out, size_t size) {
   size_t free_bytes = 0, bytes = 0;
   if (!w->open && !rkb_driver_open(&w->driver, ordinal, w->message, sizeof w->message))
      return RKB_WORKER_NO_DEVICE;
   w->open = true;
   CUresult status = w->own_open ? CUDA_SUCCESS : rkb_worker_kernels_open(&w->driver, &w->own);
   if (status != CUDA_SUCCESS)
      return fail_driver(w, "loading the worker's own kernels", status);
   w->own_open = true;
   w->driver.cuMemGetInfo(&free_bytes, &bytes);
   w->values.most_bytes = bytes / 4;
   snprintf(
      out, size,
      "device=%s\ndevices=%d\nbus=%s\ndriver_api=%d\nmemory_bytes=%zu\nfree_bytes=%zu\nl2_bytes=%zu\npage_bytes=%zu\nlayers=%s\n",
      w->driver.name, w->driver.devices, w->driver.bus, w->driver.version, bytes, free_bytes,
      w->driver.l2_bytes, w->driver.granularity, w->layers);
   return RKB_WORKER_OK;
}

static void drop_module(worker_t *w, uint32_t number) {
   rkb_variables_close(&w->driver, &w->variables[number]);
   if (w->modules[number])
      w->driver.cuModuleUnload(w->modules[number]);
   w->modules[number] = NULL;
}

int worker_load(worker_t *w, const rkb_worker_module_t *r, const char *cubin, size_t bytes) {
   if (r->module >= RKB_WORKER_MAX_INSTANCES || w->modules[r->module] || bytes < 16)
      return worker_refuse(w, RKB_WORKER_BAD_REQUEST, "module number %u is taken or too large", r->module);
   CUresult status = w->driver.cuModuleLoadData(&w->modules[r->module], cubin);
   if (status != CUDA_SUCCESS) {
      w->modules[r->module] = NULL;
      return worker_refuse(w, RKB_WORKER_BAD_MODULE, "the driver refuses the cubin: %s",
                           rkb_driver_error(&w->driver, status));
   }
   const int opened = rkb_variables_open(&w->driver, w->modules[r->module], cubin, bytes,
                                         &w->variables[r->module], w->message, sizeof w->message);
   if (opened != RKB_WORKER_OK)
      drop_module(w, r->module);
   return opened;
}

int worker_stage(worker_t *w, const rkb_worker_stage_t *r, const char *data, size_t bytes) {
   CUresult why;
   int status = rkb_values_stage(&w->driver, &w->values, r, data, bytes, &why);
   if (status == RKB_WORKER_BAD_REQUEST)
      return worker_refuse(w, status, "tensor %u: bytes past its end, or more than %d staged tensors",
                           r->tensor, RKB_WORKER_MAX_STAGED);
   return status == RKB_WORKER_OK ? status : fail_driver(w, "staging an input", why);
}

/* Enqueues all sums of a request before it waits for any. */
int worker_sums(worker_t *w, const rkb_worker_sum_t *list, size_t bytes, uint64_t *out) {
   const size_t count = bytes / sizeof *list;
   if (bytes % sizeof *list || count == 0 || count > RKB_WORKER_MAX_SUMS)
      return worker_refuse(w, RKB_WORKER_BAD_REQUEST, "%zu bytes are not a list of buffers to add up", bytes);
   CUresult status = rkb_sums_begin(&w->driver, &w->own);
   for (uint32_t i = 0; i < count && status == CUDA_SUCCESS; i++) {
      const rkb_worker_sum_t *r = &list[i];
      const rkb_instance_t *in = find_instance(w, r->instance);
      const rkb_staged_t *staged =
         r->instance == RKB_SUM_STAGED ? rkb_values_find(&w->values, r->set, r->buffer) : NULL;
      if (!staged && (!in || r->buffer >= in->plan->buffer_count))
         return worker_refuse(w, RKB_WORKER_BAD_REQUEST, "no buffer %u in instance %u", r->buffer,
                              r->instance);
      status = rkb_sum(&w->driver, &w->own, i, staged ? staged->data : in->memory[r->buffer].start,
                       staged ? staged->bytes : in->plan->buffers[r->buffer].bytes, r->key);
   }
   if (status == CUDA_SUCCESS)
      status = rkb_sums_end(&w->driver, &w->own, (uint32_t)count, out);
   return status == CUDA_SUCCESS ? RKB_WORKER_OK : fail_driver(w, "adding up a buffer", status);
}

int worker_keep(worker_t *w, const rkb_worker_keep_t *r) {
   if (!rkb_values_find(&w->values, r->set, r->tensor))
      return worker_refuse(w, RKB_WORKER_BAD_REQUEST, "nothing is staged for set %u, tensor %u", r->set,
                           r->tensor);
   rkb_values_keep(&w->driver, &w->values, r->set, r->tensor, r->name);
   return RKB_WORKER_OK;
}

int worker_take(worker_t *w, const rkb_worker_take_t *r, rkb_worker_taken_t *taken) {
   *taken = (rkb_worker_taken_t){
      .there = rkb_values_take(&w->driver, &w->values, r->set, r->tensor, r->name, r->bytes)};
   if (!taken->there)
      return RKB_WORKER_OK;
   const rkb_worker_sum_t one = {RKB_SUM_STAGED, r->set, r->tensor, 0, r->key};
   return worker_sums(w, &one, sizeof one, &taken->sum);
}

int worker_open_instance(worker_t *w, const rkb_worker_instance_t *r, const char *plan_bytes, size_t bytes) {
   rkb_plan_t *plan = NULL;
   rkb_error_t err = {0};
   if (r->instance >= RKB_WORKER_MAX_INSTANCES || w->instances[r->instance].plan)
      return worker_refuse(w, RKB_WORKER_BAD_REQUEST, "instance number %u is taken or too large",
                           r->instance);
   CUmodule module = r->module == RKB_WORKER_OWN_MODULE     ? w->own.module
                     : r->module < RKB_WORKER_MAX_INSTANCES ? w->modules[r->module]
                                                            : NULL;
   if (!module || r->placement > RKB_PLACE_UNTOUCHED)
      return worker_refuse(w, RKB_WORKER_BAD_REQUEST, "no module %u, or no such placement", r->module);
   if (rkb_plan_read(plan_bytes, bytes, &plan, &err) != RKB_OK)
      return worker_refuse(w, RKB_WORKER_BAD_REQUEST, "%s", err.message);
   const int status = rkb_instance_open(&w->driver, module, plan, r->placement, &w->instances[r->instance],
                                        w->message, sizeof w->message);
   if (status == RKB_WORKER_OK && r->module != RKB_WORKER_OWN_MODULE)
      w->instances[r->instance].variables = &w->variables[r->module];
   return status;
}

int worker_run_instance(worker_t *w, const rkb_worker_run_t *r, rkb_worker_ran_t *ran) {
   rkb_instance_t *in = find_instance(w, r->instance);
   if (!in)
      return worker_refuse(w, RKB_WORKER_BAD_REQUEST, "no instance %u", r->instance);
   CUresult status = rkb_instance_prepare(&w->driver, in, &w->values, r->set, NULL);
   if (status != CUDA_SUCCESS)
      return fail_driver(w, "preparing a run", status);
   *ran = rkb_instance_run(&w->driver, &w->own, in, r->deadline_ms);
   return RKB_WORKER_OK;
}

/* Allocates memory for an answer whose size the request decides.  NULL, with the message set, when memory is
 * out. */
static char *try_body(worker_t *w, uint64_t bytes) {
   rkb_error_t err;
   char *body = rkb_try_uncleared(bytes, 1, &err);
   if (!body)
      worker_refuse(w, RKB_WORKER_NO_MEMORY, "%s", err.message);
   return body;
}

int worker_read_buffer(worker_t *w, const rkb_worker_read_t *r, char **out) {
   rkb_instance_t *in = find_instance(w, r->instance);
   if (!in || r->buffer >= in->plan->buffer_count || r->bytes > RKB_WORKER_MAX_BODY)
      return worker_refuse(w, RKB_WORKER_BAD_REQUEST, "no buffer %u in instance %u", r->buffer, r->instance);
   uint64_t bytes = in->plan->buffers[r->buffer].bytes;
   if (r->offset > bytes || r->bytes > bytes - r->offset)
      return worker_refuse(w, RKB_WORKER_BAD_REQUEST, "bytes past the end of %s",
                           in->plan->buffers[r->buffer].name);
   *out = try_body(w, r->bytes);
   if (!*out)
      return RKB_WORKER_NO_MEMORY;
   CUresult status = r->bytes
                        ? w->driver.cuMemcpyDtoH(*out, in->memory[r->buffer].start + r->offset, r->bytes)
                        : CUDA_SUCCESS;
   return status == CUDA_SUCCESS ? RKB_WORKER_OK : fail_driver(w, "reading a buffer", status);
}

/* Checks that all ranges of a request lie within their buffers before it copies any. */
int worker_pick(worker_t *w, const rkb_worker_pick_t *r, const rkb_worker_range_t *ranges, size_t bytes,
                char **out, size_t *answered) {
   const rkb_instance_t *in = find_instance(w, r->instance);
   uint64_t total = 0;
   if (!in || r->ranges > RKB_WORKER_MAX_RANGES || bytes != r->ranges * sizeof *ranges)
      return worker_refuse(w, RKB_WORKER_BAD_REQUEST, "no instance %u, or %u ranges in %zu bytes",
                           r->instance, r->ranges, bytes);
   for (uint32_t i = 0; i < r->ranges; i++) {
      const rkb_worker_range_t *range = &ranges[i];
      const uint64_t size =
         range->buffer < in->plan->buffer_count ? in->plan->buffers[range->buffer].bytes : 0;
      if (range->offset > size || range->bytes > size - range->offset ||
          range->bytes > RKB_WORKER_MAX_BODY - total)
         return worker_refuse(w, RKB_WORKER_BAD_REQUEST, "range %u: no such bytes, or too many", i);
      total += range->bytes;
   }
   *out = try_body(w, total);
   if (!*out)
      return RKB_WORKER_NO_MEMORY;
   *answered = total;
   char *at = *out;
   for (uint32_t i = 0; i < r->ranges; at += ranges[i++].bytes) {
      if (ranges[i].bytes == 0)
         continue;
      CUresult status =
         w->driver.cuMemcpyDtoH(at, in->memory[ranges[i].buffer].start + ranges[i].offset, ranges[i].bytes);
      if (status != CUDA_SUCCESS)
         return fail_driver(w, "reading ranges", status);
   }
   return RKB_WORKER_OK;
}

/* The program has drawn the order of the turns, which no candidate can know: so it cannot know this number either. */
static uint64_t mix_turns(const rkb_worker_turn_t *turns, uint32_t count) {
   uint64_t mixed = count;
   for (uint32_t i = 0; i < count; i++)
      mixed =
         rkb_mix_word(mixed ^ ((uint64_t)turns[i].instance << 32 | turns[i].set << 1 | turns[i].warm)) + i;
   return mixed;
}

int worker_time_turns(worker_t *w, const rkb_worker_time_t *r, const rkb_worker_turn_t *turns, size_t bytes,
                      float **out) {
   if (r->turns > 65536 || bytes != (size_t)r->turns * sizeof *turns)
      return worker_refuse(w, RKB_WORKER_BAD_REQUEST, "%u turns in %zu bytes", r->turns, bytes);
   *out = rkb_allocate(r->turns + 1, sizeof **out);
   uint64_t chance = rkb_mix_word(mix_turns(turns, r->turns) + ++w->timings);
   for (uint32_t i = 0; i < r->turns; i++) {
      bool own = turns[i].instance >= RKB_TURN_ANCHOR_CHAIN;
      rkb_instance_t *in = own ? NULL : find_instance(w, turns[i].instance);
      if (!in && !own)
         return worker_refuse(w, RKB_WORKER_BAD_REQUEST, "no instance %u", turns[i].instance);
      CUresult status =
         rkb_time_turn(&w->driver, &w->own, in, &w->values, &turns[i], chance, r->deadline_ms, &(*out)[i]);
      chance = rkb_mix_word(chance + i);
      if (status != CUDA_SUCCESS)
         return worker_refuse(w, RKB_WORKER_DRIVER, "turn %u, instance %u: %s", i, turns[i].instance,
                              status == CUDA_ERROR_NOT_READY ? "still running at the deadline"
                                                             : rkb_driver_error(&w->driver, status));
   }
   return RKB_WORKER_OK;
}

/* Reads the names that follow the request; false when there are fewer than it says. */
static bool read_names(rkb_observing_t *o, const char *at, size_t bytes) {
   const char *end = at + bytes;
   if (o->request->metrics > RKB_WORKER_MAX_METRICS || (bytes && end[-1] != '\0'))
      return false;
   for (uint32_t i = 0; i < o->request->metrics; i++, at += strlen(at) + 1) {
      if (at == end)
         return false;
      o->names[i] = at;
   }
   return at == end;
}

/* Makes one answer: the observation, then the values. */
int worker_observe(worker_t *w, const rkb_worker_observe_t *r, const char *names, size_t bytes, char **out,
                   size_t *answered) {
   rkb_observing_t o = {.driver = &w->driver,
                        .own = &w->own,
                        .instance = find_instance(w, r->instance),
                        .inputs = &w->values,
                        .request = r};
   rkb_worker_observed_t seen;
   if (!o.instance || !read_names(&o, names, bytes) ||
       (r->what == RKB_OBSERVE_COUNTERS) != (r->metrics > 0) || r->what < RKB_OBSERVE_COUNTERS ||
       r->what > RKB_OBSERVE_ACTIVITY)
      return worker_refuse(w, RKB_WORKER_BAD_REQUEST, "no instance %u, or names that make no sense",
                           r->instance);
   const uint64_t width = r->what == RKB_OBSERVE_COUNTERS ? r->metrics : RKB_ACTIVITY_VALUES;
   const uint64_t room = o.instance->plan->launch_count * width * sizeof(double);
   *out = try_body(w, sizeof seen + room);
   if (!*out)
      return RKB_WORKER_NO_MEMORY;
   o.values = (double *)(void *)(*out + sizeof seen);
   CUresult status = rkb_observe(&o, &seen);
   if (status != CUDA_SUCCESS)
      return worker_refuse(w, RKB_WORKER_DRIVER, "observing instance %u: %s", r->instance,
                           status == CUDA_ERROR_NOT_READY ? "still running at the deadline"
                                                          : rkb_driver_error(&w->driver, status));
   memcpy(*out, &seen, sizeof seen);
   *answered = sizeof seen + (seen.seen == RKB_SEEN ? room : 0);
   return RKB_WORKER_OK;
}

int worker_energy(worker_t *w, const rkb_worker_energy_t *r, char **out, size_t *answered) {
   const rkb_instance_t *in = find_instance(w, r->instance);
   if (!in || r->rounds == 0 || r->rounds > RKB_WORKER_MAX_ROUNDS ||
       !(r->does & (RKB_ENERGY_PREPARE | RKB_ENERGY_RUN)))
      return worker_refuse(w, RKB_WORKER_BAD_REQUEST, "no instance %u, or %u rounds", r->instance, r->rounds);
   *answered = r->rounds * sizeof(rkb_worker_spent_t);
   *out = try_body(w, *answered);
   return *out ? rkb_spend_energy(&w->driver, in, &w->values, r, (rkb_worker_spent_t *)(void *)*out,
                                  w->message, sizeof w->message)
               : RKB_WORKER_NO_MEMORY;
}

static void drop_instance(worker_t *w, uint32_t number) {
   if (w->instances[number].plan)
      rkb_instance_close(&w->driver, &w->instances[number]);
}

int worker_drop(worker_t *w, const rkb_worker_drop_t *r) {
   bool numbered = r->thing == RKB_DROP_INSTANCE || r->thing == RKB_DROP_MODULE;
   if (numbered && r->number >= RKB_WORKER_MAX_INSTANCES)
      return worker_refuse(w, RKB_WORKER_BAD_REQUEST, "there is no number %u", r->number);
   if (r->thing == RKB_DROP_SET)
      rkb_values_drop(&w->driver, &w->values, false, r->number);
   if (r->thing == RKB_DROP_INSTANCE)
      drop_instance(w, r->number);
   if (r->thing == RKB_DROP_MODULE)
      drop_module(w, r->number);
   if (r->thing == RKB_DROP_ALL) {
      rkb_values_drop(&w->driver, &w->values, true, 0);
      for (uint32_t i = 0; i < RKB_WORKER_MAX_INSTANCES; i++)
         drop_instance(w, i);
      for (uint32_t i = 0; i < RKB_WORKER_MAX_INSTANCES; i++)
         drop_module(w, i);
   }
   return RKB_WORKER_OK;
}

bool worker_makes_room(worker_t *w, int status) {
   return status == RKB_WORKER_NO_MEMORY && rkb_values_forget(&w->driver, &w->values);
}
