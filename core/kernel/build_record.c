/* A build as bytes (build_record.h): its texts, then its kernels with their parameters.  Owns nothing but what it returns; any thread. */
#include "kernel/build_record.h"
#include "kernel/compiler_protocol.h"
#include "kernel/owned_build.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_KERNELS = 1 << 16, MOST_PARAMETERS = 1 << 16, MOST_LINE = 64 << 10 };

static void write_kernel(const rkb_built_kernel_t *kernel, rkb_text_t *out) {
   const uint32_t numbers[] = {kernel->registers,   kernel->spill_store_bytes, kernel->spill_load_bytes,
                               kernel->shared_bytes, kernel->local_bytes,      kernel->constant_bytes,
                               kernel->max_threads};
   record_put_text(out, kernel->expression);
   record_put_text(out, kernel->entry);
   for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
      record_put_u32(out, numbers[i]);
   record_put_u32(out, kernel->parameter_count);
   for (uint32_t i = 0; i < kernel->parameter_count; i++) {
      const rkb_parameter_t *parameter = &kernel->parameters[i];
      record_put_u32(out, parameter->offset);
      record_put_u32(out, parameter->bytes);
      record_put_u32(out, parameter->alignment);
      record_put_u32(out, parameter->is_pointer);
      record_put_text(out, parameter->ptx_type);
   }
}

void rkb_build_write(const rkb_build_t *build, rkb_text_t *out) {
   const char *const texts[] = {build->ptx_hash, build->cubin_hash, build->toolkit, build->log};
   record_put_bytes(out, build->ptx, build->ptx_bytes);
   record_put_u32(out, build->cubin != NULL);
   record_put_bytes(out, build->cubin, build->cubin ? build->cubin_bytes : 0);
   for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
      record_put_text(out, texts[i] ? texts[i] : "");
   record_put_u32(out, build->debug);
   record_put_u32(out, build->kernel_count);
   for (uint32_t i = 0; i < build->kernel_count; i++)
      write_kernel(&build->kernels[i], out);
}

/* Reads bytes and adds a NUL; returns "" if the record is bad. */
static const char *read_text(record_reader_t *in, rkb_arena_t *arena, size_t *length, size_t limit) {
   const void *bytes = record_bytes(in, length, limit);
   return bytes ? rkb_arena_text(arena, bytes, *length) : "";
}

static const char *read_line(record_reader_t *in, rkb_arena_t *arena, size_t limit) {
   size_t length;
   return read_text(in, arena, &length, limit);
}

static void read_kernel(record_reader_t *in, rkb_arena_t *arena, rkb_built_kernel_t *kernel) {
   uint32_t *const numbers[] = {&kernel->registers,    &kernel->spill_store_bytes, &kernel->spill_load_bytes,
                                &kernel->shared_bytes, &kernel->local_bytes,       &kernel->constant_bytes,
                                &kernel->max_threads};
   kernel->expression = read_line(in, arena, MOST_LINE);
   kernel->entry = read_line(in, arena, MOST_LINE);
   for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
      *numbers[i] = record_u32(in);
   kernel->parameter_count = record_count(in, MOST_PARAMETERS, 24);
   rkb_parameter_t *parameters = rkb_arena_array(arena, kernel->parameter_count + 1, sizeof *parameters);
   kernel->parameters = parameters;
   for (uint32_t i = 0; i < kernel->parameter_count; i++) {
      parameters[i].offset = record_u32(in);
      parameters[i].bytes = record_u32(in);
      parameters[i].alignment = record_u32(in);
      parameters[i].is_pointer = record_u32(in);
      parameters[i].ptx_type = read_line(in, arena, MOST_LINE);
   }
}

rkb_build_t *rkb_build_read(record_reader_t *in) {
   rkb_arena_t *arena = rkb_arena_new(0);
   owned_build_t *owned = rkb_arena_alloc(arena, sizeof *owned);
   rkb_build_t *build = &owned->public;
   *owned = (owned_build_t){.arena = arena};
   build->ptx = read_text(in, arena, &build->ptx_bytes, COMPILER_MAX_PTX);
   const bool has_cubin = record_u32(in) != 0;
   const char *cubin = read_text(in, arena, &build->cubin_bytes, COMPILER_MAX_CUBIN);
   build->cubin = has_cubin ? cubin : NULL;
   build->ptx_hash = read_line(in, arena, MOST_LINE);
   build->cubin_hash = read_line(in, arena, MOST_LINE);
   build->toolkit = read_line(in, arena, MOST_LINE);
   build->log = read_line(in, arena, COMPILER_MAX_LOG);
   build->debug = record_u32(in) != 0;
   build->kernel_count = record_count(in, MOST_KERNELS, 48);
   rkb_built_kernel_t *kernels = rkb_arena_array(arena, build->kernel_count + 1, sizeof *kernels);
   build->kernels = kernels;
   for (uint32_t i = 0; i < build->kernel_count && !in->bad; i++)
      read_kernel(in, arena, &kernels[i]);
   if (!in->bad)
      return build;
   rkb_build_free(build);
   return NULL;
}
