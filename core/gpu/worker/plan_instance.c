/* Turns a plan (docs/plan-format.md) into device memory and one CUDA graph.  One thread. */
#include "gpu/worker/plan_instance.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/memory.h"
#include "kernel/kernel.h"

#define POISON_BYTE 0xff /* a NaN in every float type, -1 in every integer */

static int fail(char *message, size_t size, int status, const char *fmt, ...) {
   va_list ap;
   va_start(ap, fmt);
   vsnprintf(message, size, fmt, ap);
   va_end(ap);
   return status;
}

CUresult rkb_wait(const rkb_driver_t *d, uint32_t deadline_ms) {
   struct timespec start, now;
   clock_gettime(CLOCK_MONOTONIC, &start);
   for (;;) {
      CUresult status = d->cuStreamQuery(d->stream);
      if (status != CUDA_ERROR_NOT_READY)
         return status;
      clock_gettime(CLOCK_MONOTONIC, &now);
      double ms = (double)(now.tv_sec - start.tv_sec) * 1e3 + (double)(now.tv_nsec - start.tv_nsec) * 1e-6;
      if (ms > deadline_ms)
         return CUDA_ERROR_NOT_READY;
      if (ms > 2)
         nanosleep(&(struct timespec){0, 50000}, NULL); /* gives the core away during long kernels */
   }
}

static bool is_byte(uint32_t dtype) {
   return dtype == RKB_U8 || dtype == RKB_I8 || dtype == RKB_E4M3 || dtype == RKB_E5M2;
}

/* The bits of the fill value in the buffer's type, and their width.  bfloat16 is the upper half of a float,
 * rounded to nearest even. */
static uint32_t fill_bits(uint32_t dtype, double value, uint32_t *width) {
   float f = (float)value;
   uint32_t bits;
   memcpy(&bits, &f, sizeof bits);
   *width = is_byte(dtype) ? 1 : dtype == RKB_F16 || dtype == RKB_BF16 ? 2 : 4;
   switch (dtype) {
   case RKB_F32:
      return bits;
   case RKB_BF16:
      return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
   case RKB_I32:
   case RKB_I8:
      return (uint32_t)(int32_t)value;
   default:
      return (uint32_t)value;
   }
}

static CUresult record_fill(const rkb_driver_t *d, const rkb_plan_buffer_t *buffer, CUdeviceptr at) {
   uint32_t width, bits = fill_bits(buffer->dtype, buffer->fill_value, &width);
   if (buffer->bytes == 0)
      return CUDA_SUCCESS;
   if (width == 1)
      return d->cuMemsetD8Async(at, (unsigned char)bits, buffer->bytes, d->stream);
   if (width == 2)
      return d->cuMemsetD16Async(at, (unsigned short)bits, buffer->bytes / 2, d->stream);
   return d->cuMemsetD32Async(at, bits, buffer->bytes / 4, d->stream);
}

/* Whether the buffer's type can be filled with any value; other types can be filled only with zero. */
static bool fill_possible(const rkb_plan_buffer_t *buffer) {
   bool any = buffer->dtype == RKB_F32 || buffer->dtype == RKB_BF16 || buffer->dtype == RKB_I32 ||
              buffer->dtype == RKB_U8 || buffer->dtype == RKB_I8;
   return buffer->fill == RKB_FILL_NONE || buffer->fill_value == 0 || any;
}

/* Notes the request to the driver that follows.  If the driver refuses, the message names this request. */
static void ask(rkb_asked_t *asked, const char *fmt, ...) {
   va_list ap;
   va_start(ap, fmt);
   vsnprintf(asked->text, sizeof asked->text, fmt, ap);
   va_end(ap);
}

/* Encodes a tensor map.  The plan's reader has checked that the map stays inside its buffer. */
static CUresult encode_map(const rkb_driver_t *d, const rkb_instance_t *in, uint32_t number,
                           CUtensorMap *out) {
   const rkb_plan_map_t *m = &in->plan->maps[number];
   cuuint64_t dims[RKB_MAP_MOST_RANK], strides[RKB_MAP_MOST_RANK] = {0};
   cuuint32_t box[RKB_MAP_MOST_RANK], steps[RKB_MAP_MOST_RANK];
   for (uint32_t k = 0; k < m->rank; k++) {
      dims[k] = m->dims[k];
      strides[k] = k + 1 < m->rank ? m->strides[k] : 0;
      box[k] = m->box[k];
      steps[k] = m->element_strides[k];
   }
   if (m->im2col)
      return d->cuTensorMapEncodeIm2col(out, (CUtensorMapDataType)m->type, m->rank,
                                        (void *)(uintptr_t)(in->memory[m->buffer].start + m->offset), dims,
                                        strides, m->lower, m->upper, m->channels, m->pixels, steps,
                                        (CUtensorMapInterleave)m->interleave, (CUtensorMapSwizzle)m->swizzle,
                                        CU_TENSOR_MAP_L2_PROMOTION_NONE, (CUtensorMapFloatOOBfill)m->fill);
   return d->cuTensorMapEncodeTiled(out, (CUtensorMapDataType)m->type, m->rank,
                                    (void *)(uintptr_t)(in->memory[m->buffer].start + m->offset), dims,
                                    strides, box, steps, (CUtensorMapInterleave)m->interleave,
                                    (CUtensorMapSwizzle)m->swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                    (CUtensorMapFloatOOBfill)m->fill);
}

/* Makes an array of pointers to the parameters.  The parameters lie in one buffer, in the layout of PTX.  The buffer itself cannot be passed to the driver
 * (CU_LAUNCH_PARAM_BUFFER_POINTER), for two reasons.  A cooperative launch takes no buffer.  And the driver's layout differs: it aligns a parameter such as a
 * tensor map within the constant bank, where the first parameter of sm_90 lies at byte 528.  So after three pointers a map lies at 48 in the driver's layout,
 * and at 64 in the layout of PTX.  The arguments of a struct lie within its parameter. */
static CUresult split_parameters(const rkb_driver_t *d, CUfunction function, const rkb_plan_launch_t *l,
                                 char *parameters, void **list) {
   uint32_t next = 0;
   for (size_t i = 0;; i++) {
      size_t own_offset, size;
      const CUresult status = d->cuFuncGetParamInfo(function, i, &own_offset, &size);
      /* The kernel has no parameter with this number, so all parameters were found.  The driver reads no more than these. */
      if (status == CUDA_ERROR_INVALID_VALUE)
         return CUDA_SUCCESS;
      const uint32_t first = next < l->argument_count ? l->arguments[next].offset : l->parameter_bytes;
      if (status != CUDA_SUCCESS || next == l->argument_count || size == 0 ||
          size > l->parameter_bytes - first)
         return status != CUDA_SUCCESS ? status : CUDA_ERROR_INVALID_VALUE;
      list[i] = parameters + first;
      while (next < l->argument_count && l->arguments[next].offset - first < size)
         next++;
   }
}

static CUresult record_launch(const rkb_driver_t *d, const rkb_instance_t *in, const rkb_plan_launch_t *l,
                              CUmodule module, rkb_asked_t *asked) {
   CUfunction function;
   CUlaunchAttribute attribute[3];
   unsigned attributes = 0;
   char *parameters = rkb_allocate(l->parameter_bytes + 1, 1);
   CUresult status = CUDA_SUCCESS;
   for (uint32_t i = 0; i < l->argument_count; i++) {
      const rkb_plan_argument_t *a = &l->arguments[i];
      if (a->map) {
         CUtensorMap map;
         if (status == CUDA_SUCCESS) {
            ask(asked, "tensor map %u, of %s, for %s", a->map - 1,
                in->plan->buffers[in->plan->maps[a->map - 1].buffer].name, l->entry);
            status = encode_map(d, in, a->map - 1, &map);
         }
         memcpy(parameters + a->offset, &map, sizeof map);
         continue;
      }
      uint64_t value = a->buffer == UINT32_MAX ? a->value : in->memory[a->buffer].start + a->value;
      memcpy(parameters + a->offset, &value, a->bytes);
   }
   if (status == CUDA_SUCCESS) {
      ask(asked, "kernel %s", l->entry);
      status = d->cuModuleGetFunction(&function, module, l->entry);
   }
   if (status == CUDA_SUCCESS)
      ask(asked,
          "a launch of %s with %u x %u x %u blocks of %u x %u x %u threads and %u bytes of shared memory",
          l->entry, l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1], l->block[2],
          l->dynamic_shared);
   if (status == CUDA_SUCCESS && l->dynamic_shared > 0)
      status = d->cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                     (int)l->dynamic_shared);
   if (l->cluster[0] * l->cluster[1] * l->cluster[2] > 1) {
      attribute[attributes].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
      attribute[attributes].value.clusterDim.x = l->cluster[0];
      attribute[attributes].value.clusterDim.y = l->cluster[1];
      attribute[attributes++].value.clusterDim.z = l->cluster[2];
   }
   if (l->cooperative) {
      attribute[attributes].id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
      attribute[attributes++].value.cooperative = 1;
   }
   if (l->dependent) {
      attribute[attributes].id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
      attribute[attributes++].value.programmaticStreamSerializationAllowed = 1;
   }
   CUlaunchConfig config = {.gridDimX = l->grid[0],
                            .gridDimY = l->grid[1],
                            .gridDimZ = l->grid[2],
                            .blockDimX = l->block[0],
                            .blockDimY = l->block[1],
                            .blockDimZ = l->block[2],
                            .sharedMemBytes = l->dynamic_shared,
                            .hStream = d->stream,
                            .attrs = attribute,
                            .numAttrs = attributes};
   void **list = rkb_allocate(l->argument_count + 1, sizeof *list);
   if (status == CUDA_SUCCESS)
      status = split_parameters(d, function, l, parameters, list);
   if (status == CUDA_SUCCESS)
      status = d->cuLaunchKernelEx(&config, function, list, NULL);
   free(list);
   free(parameters);
   return status;
}

static CUresult record_constant(const rkb_driver_t *d, const rkb_instance_t *in, const rkb_plan_constant_t *c,
                                CUmodule module, rkb_asked_t *asked) {
   CUdeviceptr symbol;
   size_t bytes;
   ask(asked, "the copy to %s", c->symbol);
   CUresult status = d->cuModuleGetGlobal(&symbol, &bytes, module, c->symbol);
   if (status == CUDA_SUCCESS && bytes < c->bytes)
      return CUDA_ERROR_INVALID_VALUE;
   return status == CUDA_SUCCESS
             ? d->cuMemcpyDtoDAsync(symbol, in->memory[c->buffer].start, c->bytes, d->stream)
             : status;
}

CUresult rkb_instance_enqueue(const rkb_driver_t *d, const rkb_instance_t *in, rkb_asked_t *asked) {
   const rkb_plan_t *plan = in->plan;
   CUresult status = CUDA_SUCCESS;
   for (uint32_t i = 0; i < plan->constant_count && status == CUDA_SUCCESS; i++)
      status = record_constant(d, in, &plan->constants[i], in->module, asked);
   for (uint32_t i = 0; i < plan->buffer_count && status == CUDA_SUCCESS; i++)
      if (plan->buffers[i].fill == RKB_FILL_VALUE) {
         ask(asked, "the fill of %s", plan->buffers[i].name);
         status = record_fill(d, &plan->buffers[i], in->memory[i].start);
      }
   for (uint32_t i = 0; i < plan->launch_count && status == CUDA_SUCCESS; i++)
      status = record_launch(d, in, &plan->launches[i], in->module, asked);
   return status;
}

/* Records everything that a timed run contains: constants, fills, and launches in order. */
static CUresult record(const rkb_driver_t *d, rkb_instance_t *in, rkb_asked_t *asked) {
   CUgraph graph = NULL;
   CUresult ended, status = d->cuStreamBeginCapture(d->stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
   if (status != CUDA_SUCCESS)
      return status;
   status = rkb_instance_enqueue(d, in, asked);
   ended = d->cuStreamEndCapture(d->stream, &graph);
   if (status == CUDA_SUCCESS) {
      ask(asked, "the graph of all launches");
      status = ended;
   }
   if (status == CUDA_SUCCESS)
      status = d->cuGraphInstantiateWithFlags(&in->graph, graph, 0);
   if (graph)
      d->cuGraphDestroy(graph);
   return status;
}

int rkb_instance_open(const rkb_driver_t *d, CUmodule module, rkb_plan_t *plan, uint32_t placement,
                      rkb_instance_t *in, char *message, size_t size) {
   int result = RKB_WORKER_NO_MEMORY;
   *in = (rkb_instance_t){
      .plan = plan, .module = module, .untouched = placement == RKB_PLACE_UNTOUCHED, .memory = rkb_allocate(plan->buffer_count + 1, sizeof *in->memory)};
   for (uint32_t i = 0; i < plan->buffer_count; i++) {
      const rkb_plan_buffer_t *buffer = &plan->buffers[i];
      uint32_t alignment = buffer->alignment < 16 ? 16 : buffer->alignment;
      if (!fill_possible(buffer)) {
         result = fail(message, size, RKB_WORKER_BAD_REQUEST, "%s: this type can only be filled with zero",
                       buffer->name);
         goto fail;
      }
      CUresult status = rkb_memory_open(d, in->untouched ? RKB_PLACE_PLAIN : placement, buffer->bytes, alignment, &in->memory[i]);
      if (status != CUDA_SUCCESS) {
         result =
            fail(message, size, status == CUDA_ERROR_OUT_OF_MEMORY ? RKB_WORKER_NO_MEMORY : RKB_WORKER_DRIVER,
                 "%llu bytes for %s: %s", (unsigned long long)buffer->bytes, buffer->name,
                 rkb_driver_error(d, status));
         goto fail;
      }
      /* A run leaves its data in scratch for the next run, unless rkb_instance_reset comes between. */
      if (buffer->role == 0 && buffer->bytes && !in->untouched)
         d->cuMemsetD8Async(in->memory[i].start, POISON_BYTE, buffer->bytes, d->stream);
   }
   rkb_asked_t asked = {"the plan"};
   CUresult status = record(d, in, &asked);
   if (status != CUDA_SUCCESS) {
      result = fail(message, size, RKB_WORKER_BAD_MODULE, "the driver refuses %s: %s", asked.text,
                    rkb_driver_error(d, status));
      goto fail;
   }
   return RKB_WORKER_OK;

fail:
   rkb_instance_close(d, in);
   return result;
}

void rkb_instance_close(const rkb_driver_t *d, rkb_instance_t *in) {
   if (in->graph)
      d->cuGraphExecDestroy(in->graph);
   for (uint32_t i = 0; in->memory && i < in->plan->buffer_count; i++)
      rkb_memory_close(d, &in->memory[i]);
   free(in->memory);
   rkb_plan_free(in->plan);
   *in = (rkb_instance_t){0};
}

/* The byte is drawn, because a byte that followed from the number of the run would tell the kernel this number. */
CUresult rkb_instance_reset(const rkb_driver_t *d, rkb_instance_t *in, uint64_t chance) {
   /* Huge numbers or NaN in every float type, negative numbers in every signed integer. */
   static const unsigned char bytes[] = {POISON_BYTE, 0xfe, 0xfd, 0xfb};
   const uint32_t many = sizeof bytes;
   CUresult status = in->variables ? rkb_variables_reset(d, in->variables) : CUDA_SUCCESS;
   in->poison = (in->poison + 1 + (uint32_t)(chance % (many - 1))) % many;
   for (uint32_t i = 0; i < in->plan->buffer_count && status == CUDA_SUCCESS && !in->untouched; i++) {
      const rkb_plan_buffer_t *buffer = &in->plan->buffers[i];
      if (buffer->role == 0 && buffer->fill == RKB_FILL_NONE && buffer->bytes)
         status = d->cuMemsetD8Async(in->memory[i].start, bytes[in->poison], buffer->bytes, d->stream);
   }
   return status;
}

/* Indices and lengths decide how much work a run has.  So inputs of these types are not mixed. */
static bool can_be_mixed(const rkb_plan_buffer_t *buffer) {
   return buffer->dtype != RKB_I32 && buffer->dtype != RKB_I64;
}

/* Mixes half and half, or copies the run's set and then a few pieces of the other one. */
static CUresult mix_input(const rkb_driver_t *d, const rkb_instance_t *in, uint32_t i,
                          const rkb_values_t *values, const rkb_staged_t *source,
                          const rkb_mixing_t *mixing) {
   const CUdeviceptr to = in->memory[i].start;
   const uint64_t pieces = source->bytes / RKB_MIX_BYTES;
   const bool half = i < RKB_TURN_MIXED && mixing->half >> i & 1;
   const bool few = !half && !mixing->own && pieces >= RKB_TURN_LEAST_PIECES;
   const rkb_staged_t *other = rkb_values_find_other(values, source->set, i, source->bytes);
   uint64_t key = mixing->key ^ (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
   if (!other)
      return CUDA_ERROR_INVALID_VALUE;
   CUresult status = rkb_mix(d, mixing->kernels, source->data, other->data, to, source->bytes,
                             half && !mixing->own ? 1u << 31 : 0, key);
   for (uint32_t k = 0; few && k < RKB_TURN_FEW && status == CUDA_SUCCESS; k++) {
      key = rkb_mix_word(key + k);
      const uint64_t at = key % pieces * RKB_MIX_BYTES;
      status = d->cuMemcpyDtoDAsync(to + at, other->data + at, RKB_MIX_BYTES, d->stream);
   }
   return status;
}

CUresult rkb_instance_prepare(const rkb_driver_t *d, const rkb_instance_t *in, rkb_values_t *values,
                              uint32_t set, const rkb_mixing_t *mixing) {
   CUresult status = CUDA_SUCCESS;
   for (uint32_t i = 0; i < in->plan->buffer_count && status == CUDA_SUCCESS; i++) {
      const rkb_plan_buffer_t *buffer = &in->plan->buffers[i];
      if (buffer->role == RKB_OUT && buffer->bytes && !in->untouched)
         status = d->cuMemsetD8Async(in->memory[i].start, POISON_BYTE, buffer->bytes, d->stream);
      if (status == CUDA_SUCCESS && (buffer->role == RKB_IN || buffer->role == RKB_INOUT)) {
         const rkb_staged_t *source = rkb_values_find(values, set, i);
         if (!source || source->bytes != buffer->bytes)
            return CUDA_ERROR_INVALID_VALUE;
         if (buffer->bytes && mixing && can_be_mixed(buffer))
            status = mix_input(d, in, i, values, source, mixing);
         else if (buffer->bytes)
            status = d->cuMemcpyDtoDAsync(in->memory[i].start, source->data, buffer->bytes, d->stream);
      }
      if (status == CUDA_SUCCESS)
         status = rkb_memory_arm(d, &in->memory[i]);
   }
   return status;
}

/* Searches for damage on the device first.  Copies the canaries (up to a page beside each buffer) back only if there is damage. */
static CUresult look_for_damage(const rkb_driver_t *d, const rkb_worker_kernels_t *own,
                                const rkb_instance_t *in, uint32_t *found) {
   bool guarded = false;
   CUresult status = CUDA_SUCCESS;
   for (uint32_t i = 0; i < in->plan->buffer_count && status == CUDA_SUCCESS; i++) {
      if (in->memory[i].reserved && !guarded)
         status = rkb_look_begin(d, own);
      guarded |= in->memory[i].reserved != 0;
      if (status == CUDA_SUCCESS)
         status = rkb_memory_look(d, own, &in->memory[i]);
   }
   return guarded && status == CUDA_SUCCESS ? rkb_look_end(d, own, found) : status;
}

rkb_worker_ran_t rkb_instance_run(const rkb_driver_t *d, const rkb_worker_kernels_t *own,
                                  const rkb_instance_t *in, uint32_t deadline_ms) {
   uint32_t found = 0;
   CUresult status = d->cuGraphLaunch(in->graph, d->stream);
   if (status == CUDA_SUCCESS)
      status = rkb_wait(d, deadline_ms);
   if (status == CUDA_ERROR_NOT_READY)
      return (rkb_worker_ran_t){.outcome = RKB_RAN_LATE, .driver_error = (int32_t)status};
   if (status == CUDA_SUCCESS)
      status = look_for_damage(d, own, in, &found);
   for (uint32_t i = 0; found && i < in->plan->buffer_count && status == CUDA_SUCCESS; i++) {
      bool damaged = false, before = false;
      uint64_t distance = 0;
      status = rkb_memory_inspect(d, &in->memory[i], &damaged, &before, &distance);
      if (damaged)
         return (rkb_worker_ran_t){
            .outcome = RKB_RAN_CANARY, .buffer = i, .before = before, .distance = distance};
   }
   return (rkb_worker_ran_t){.outcome = status == CUDA_SUCCESS ? RKB_RAN : RKB_RAN_FAULT,
                             .driver_error = (int32_t)status};
}
