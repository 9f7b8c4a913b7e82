/* Builds a candidate: checks its text, compiles it or finds it in the cache, and reads its kernels' resources.  Owns nothing but
 * what it returns; any worker thread. */
#include "kernel/compilers.h"
#include "kernel/compile_record.h"
#include "kernel/compiler_protocol.h"
#include "kernel/compiler_messages.h"
#include "kernel/candidate_finding.h"
#include "kernel/defined_names.h"
#include "kernel/includes.h"
#include "kernel/manifest.h"
#include "kernel/owned_build.h"
#include "kernel/ptx.h"
#include "kernel/byte_record.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

enum {
   MAX_SOURCE = 256 << 10,
   MAX_OPTIONS = RKB_MANIFEST_MAX_ENTRIES + 32,
   OPTION_ROOM = 160,
   EXPRESSION_ROOM = 512
};
static const char source_name[] = "candidate.cu", key_version[] = "rkb-build-4 " RKB_HASH_NAME;

/* The compiler's whole input; the result depends on nothing else. */
typedef struct recipe {
   rkb_arena_t *arena;
   const char *options[MAX_OPTIONS];
   uint32_t option_count;
   const char *expressions[COMPILER_MAX_NAMES]; /* distinct; those that are compiled */
   uint32_t expression_count;
   const char *kernels[COMPILER_MAX_NAMES]; /* distinct; those of all launches */
   bool compiled[COMPILER_MAX_NAMES];       /* each of them */
   uint32_t kernel_count;
   bool debug, bench, lean; /* lean: build_flags.def */
   char toolkit[16];
} recipe_t;

static void add_option(recipe_t *recipe, const char *text) {
   if (text && recipe->option_count < MAX_OPTIONS)
      recipe->options[recipe->option_count++] = text;
}

static void add_flags(recipe_t *recipe, const rkb_device_t *device, int version) {
   enum { ALWAYS, PLAIN, DEBUG, LEAN };
   const bool holds[] = {
      [ALWAYS] = true, [PLAIN] = !recipe->debug, [DEBUG] = recipe->debug, [LEAN] = recipe->lean};
   static const struct {
      int when, since;
      const char *text;
   } flags[] = {
#define FLAG(when, since, text) {when, since, text},
#include "kernel/build_flags.def"
#undef FLAG
   };
   const char *number = strchr(device->architecture, '_');
   for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
      if (version >= flags[i].since && holds[flags[i].when])
         add_option(recipe, flags[i].text);
   /* With sm_90, one compile gives PTX and machine code.  A build with -G, or for a prediction, is only for the checking machine, so it asks for
    * compute_90, which gives PTX alone. */
   add_option(recipe,
              rkb_arena_format(recipe->arena, "--gpu-architecture=%s%s",
                               recipe->debug || recipe->bench ? "compute" : "sm", number ? number : "_90"));
}

/* launched: which launches need their kernels; NULL: all. */
static bool add_expressions(recipe_t *recipe, const manifest_t *manifest, const int64_t *values,
                            const bool *launched, rkb_finding_t *finding) {
   for (uint32_t i = 0; i < manifest->public.launch_count; i++) {
      const manifest_launch_t *launch = &manifest->launches[i];
      char text[EXPRESSION_ROOM];
      uint32_t k = 0;
      if (!manifest_kernel_expression(manifest, launch, values, text, sizeof text)) {
         rkb_finding_set(finding, "plan.manifest", launch->place.line, launch->place.column,
                         "this kernel's name is too long");
         return false;
      }
      while (k < recipe->kernel_count && strcmp(recipe->kernels[k], text) != 0)
         k++;
      if (k == COMPILER_MAX_NAMES) {
         rkb_finding_set(finding, "plan.manifest", launch->place.line, launch->place.column,
                         "the launches name more than %d kernels", COMPILER_MAX_NAMES);
         return false;
      }
      if (k == recipe->kernel_count)
         recipe->kernels[recipe->kernel_count++] = rkb_arena_text(recipe->arena, text, strlen(text));
      recipe->compiled[k] |= !launched || launched[i];
   }
   for (uint32_t k = 0; k < recipe->kernel_count; k++)
      if (recipe->compiled[k])
         recipe->expressions[recipe->expression_count++] = recipe->kernels[k];
   return true;
}

static void recipe_key(const recipe_t *recipe, const char *source, size_t bytes, const char *limits,
                       char key[RKB_HASH_TEXT]) {
   rkb_hasher_t *hasher = rkb_hasher_new();
   rkb_hasher_add_text(hasher, key_version);
   rkb_hasher_add_text(hasher, recipe->toolkit);
   rkb_hasher_add_text(hasher, limits);
   rkb_hasher_add(hasher, source, bytes);
   for (uint32_t i = 0; i < recipe->option_count; i++)
      rkb_hasher_add_text(hasher, recipe->options[i]);
   rkb_hasher_add_text(hasher, "");
   for (uint32_t i = 0; i < recipe->expression_count; i++)
      rkb_hasher_add_text(hasher, recipe->expressions[i]);
   rkb_hasher_finish(hasher, key);
}

/* Stores the result of a compile in the cache, as bytes of compile_record.h. */
static void store(build_cache_t *cache, const char *key, const recipe_t *recipe,
                  const compile_output_t *output, const rkb_finding_t *finding) {
   rkb_text_t entry;
   rkb_text_init(&entry, COMPILER_MAX_ANSWER);
   compile_output_write(output, recipe->expression_count, finding, &entry);
   if (!entry.cut && entry.length)
      build_cache_put(cache, key, entry.data, entry.length);
   rkb_text_free(&entry);
}

/* Reads a result from the cache.  False when there is no entry or it cannot be read. */
static bool recall(build_cache_t *cache, const char *key, const recipe_t *recipe, compile_output_t *output,
                   rkb_finding_t *finding) {
   record_reader_t in = {.data = NULL};
   void *payload = build_cache_get(cache, key, &in.size);
   in.data = payload;
   return payload && compile_output_read(payload, &in, recipe->expression_count, output, finding);
}

/* Makes a copy in the arena, NUL-terminated; NULL when there is no room for it. */
static void *keep(rkb_arena_t *arena, const void *data, size_t bytes) {
   char *copy = rkb_arena_try(arena, bytes + 1, 1);
   return copy ? memcpy(copy, data, bytes) : NULL;
}

static bool describe_kernels(rkb_arena_t *arena, const recipe_t *recipe, const rkb_device_t *device,
                             const compile_output_t *output, rkb_build_t *build, rkb_finding_t *finding) {
   rkb_built_kernel_t *kernels = rkb_arena_array(arena, recipe->kernel_count + 1, sizeof *kernels);
   char why[320];
   for (uint32_t i = 0, next = 0; i < recipe->kernel_count; i++) {
      kernels[i].expression = rkb_arena_text(arena, recipe->kernels[i], strlen(recipe->kernels[i]));
      kernels[i].entry = "";
      if (!recipe->compiled[i])
         continue;
      kernels[i].entry = rkb_arena_text(arena, output->lowered[next], output->lowered_bytes[next]);
      next++;
      ptxas_read_resources(output->log, output->log_bytes, &kernels[i]);
      if (!ptx_read_signature(build->ptx, build->ptx_bytes, arena, &kernels[i], why, sizeof why)) {
         rkb_finding_set(finding, "build.error", 0, 0, "%s", why);
         return false;
      }
      /* The assembler refuses more for sm_90 but accepts it for sm_90a.  The CUDA C++ Programming Guide
       * ('Compute Capabilities') allows no more without dynamic shared memory. */
      if (kernels[i].shared_bytes > device->shared_per_block) {
         rkb_finding_set(finding, "build.error", 0, 0,
                         "its static shared memory is too large: %u bytes, where a block may have %lld (%s)",
                         kernels[i].shared_bytes, (long long)device->shared_per_block, kernels[i].expression);
         return false;
      }
   }
   build->kernels = kernels;
   build->kernel_count = recipe->kernel_count;
   return true;
}

/* Makes the build from the compiler's output.  NULL with a finding against the candidate, or without one when
 * the arena has no room for the output. */
static owned_build_t *make_build(const recipe_t *recipe, const rkb_device_t *device,
                                 const compile_output_t *output, rkb_finding_t *finding) {
   const uint64_t global = ptx_global_bytes(output->ptx, output->ptx_bytes);
   rkb_arena_t *arena = rkb_arena_new(256u << 20);
   owned_build_t *build = rkb_arena_alloc(arena, sizeof *build);
   char hash[RKB_HASH_TEXT];
   rkb_text_t warnings;
   if ((double)global > device->memory_bytes)
      rkb_finding_set(finding, "build.error", 0, 0,
                      "its __device__ variables take %llu bytes and %s has %.3g", (unsigned long long)global,
                      device->name, device->memory_bytes);
   if (finding->reason[0]) {
      rkb_arena_free(arena);
      return NULL;
   }
   rkb_text_init(&warnings, 16 << 10);
   build->arena = arena;
   build->public.ptx = keep(arena, output->ptx, output->ptx_bytes);
   build->public.ptx_bytes = output->ptx_bytes;
   build->public.cubin_bytes = output->cubin_bytes;
   build->public.cubin = output->cubin_bytes ? keep(arena, output->cubin, output->cubin_bytes) : NULL;
   rkb_hash_text(output->ptx, output->ptx_bytes, hash);
   build->public.ptx_hash = rkb_arena_text(arena, hash, strlen(hash));
   rkb_hash_text(output->cubin, output->cubin_bytes, hash);
   build->public.cubin_hash =
      rkb_arena_text(arena, output->cubin_bytes ? hash : "", output->cubin_bytes ? strlen(hash) : 0);
   build->public.toolkit = rkb_arena_text(arena, recipe->toolkit, strlen(recipe->toolkit));
   diagnostics_warnings(output->log, output->log_bytes, source_name, &warnings);
   build->public.log = rkb_arena_text(arena, rkb_text_get(&warnings), warnings.length);
   build->public.debug = recipe->debug;
   rkb_text_free(&warnings);
   if (!build->public.ptx || (output->cubin_bytes && !build->public.cubin) ||
       !describe_kernels(arena, recipe, device, output, &build->public, finding)) {
      rkb_arena_free(arena);
      return NULL;
   }
   return build;
}

/* NVRTC crashes on bytes that are not valid UTF-8, even in a comment. */
bool rkb_source_is_text(const rkb_source_t *source, rkb_finding_t *finding) {
   uint32_t line = 1, column = 1;
   rkb_finding_t ignored;
   finding = finding ? finding : &ignored;
   if (source->bytes > MAX_SOURCE) {
      rkb_finding_set(finding, "build.error", 0, 0, "the source has %zu bytes; at most %d are allowed",
                      source->bytes, MAX_SOURCE);
      return false;
   }
   for (size_t at = 0, taken; at < source->bytes; at += taken) {
      taken = rkb_utf8_character(source->text + at, source->bytes - at);
      if (taken == 0) {
         rkb_finding_set(finding, "build.error", line, column, "byte 0x%02x is no character of UTF-8",
                         (unsigned char)source->text[at]);
         return false;
      }
      line += source->text[at] == '\n';
      column = source->text[at] == '\n' ? 1 : column + 1;
   }
   return true;
}

/* All checks of the candidate's text that need no compiler.  False with a finding. */
static bool check_source(const rkb_source_t *source, bool *lean, rkb_finding_t *finding) {
   uint32_t count;
   const rkb_token_t *list = rkb_tokens_at(source->tokens, &count);
   if (!rkb_source_is_text(source, finding)) {
      return false;
   } else if (!source->manifest) {
      rkb_finding_from_problems(finding, &source->problems);
   } else {
      includes_check(source->text, source->bytes, list, count, finding);
      if (!finding->reason[0])
         defined_names_check(source->text, source->bytes, (const manifest_t *)source->manifest, finding);
      *lean = includes_are_plain(source->text, list, count);
   }
   return !finding->reason[0];
}

static bool is_limit(const rkb_finding_t *finding) {
   return strncmp(finding->reason, "tool.", 5) == 0;
}

static int compile(rkb_compilers_t *compilers, const recipe_t *recipe, const char *source, size_t bytes,
                   const char *key, bool (*cancelled)(void *), void *argument, compile_output_t *output,
                   rkb_finding_t *finding, rkb_error_t *err) {
   const compile_input_t input = {.name = source_name,
                                  .source = source,
                                  .source_bytes = bytes,
                                  .options = recipe->options,
                                  .option_count = recipe->option_count,
                                  .expressions = recipe->expressions,
                                  .expression_count = recipe->expression_count,
                                  .want_cubin = !recipe->debug && !recipe->bench};
   int status = compilers_compile(compilers, &input, cancelled, argument, output, finding, err);
   if (status != RKB_OK)
      return status;
   if (strcmp(finding->reason, "build.error") == 0 && output->log_bytes)
      diagnostics_finding(output->log, output->log_bytes, source_name, finding);
   /* A compile that a limit ended is stored too, although another machine might finish it.  The limits are part of the key, so a
    * later run with this cache repeats the result of the earlier one, and the limit is spent only once. */
   if (key[0] && !output->uncertain && compilers_cache(compilers))
      store(compilers_cache(compilers), key, recipe, output, finding);
   return RKB_OK;
}

static int build_with(rkb_compilers_t *compilers, const rkb_device_t *device, const manifest_t *manifest,
                      const char *source, size_t bytes, const int64_t *values, bool lean, uint32_t flags,
                      const bool *launched, bool (*cancelled)(void *), void *argument, rkb_build_t **build,
                      rkb_build_cost_t *cost, rkb_finding_t *finding, rkb_error_t *err) {
   recipe_t recipe = {
      .arena = rkb_arena_new(0), .debug = flags & RKB_BUILD_DEBUG, .bench = launched != NULL, .lean = lean};
   compile_output_t output;
   char key[RKB_HASH_TEXT];
   int major = 0, minor = 0, status = compilers_version(compilers, &major, &minor, err);
   if (status != RKB_OK) {
      rkb_arena_free(recipe.arena);
      return status;
   }
   snprintf(recipe.toolkit, sizeof recipe.toolkit, "%d.%d", major, minor);
   add_flags(&recipe, device, major * 100 + minor);
   for (uint32_t i = 0; i < manifest->public.tune_count; i++)
      add_option(&recipe,
                 rkb_arena_format(recipe.arena, "-D%s=%s%lld%s", manifest->public.tune[i].name,
                                  values[i] < 0 ? "(" : "", (long long)values[i], values[i] < 0 ? ")" : ""));
   if (add_expressions(&recipe, manifest, values, launched, finding)) {
      recipe_key(&recipe, source, bytes, compilers_limits(compilers), key);
      cost->from_cache = key[0] && compilers_cache(compilers) &&
                         recall(compilers_cache(compilers), key, &recipe, &output, finding);
      if (!cost->from_cache)
         status = compile(compilers, &recipe, source, bytes, key, cancelled, argument, &output, finding, err);
      if (status == RKB_OK) {
         cost->cpu_ns = output.cpu_ns;
         cost->memory_bytes = output.memory_bytes;
         cost->near_limit =
            is_limit(finding) || compilers_near_limit(compilers, output.cpu_ns, output.memory_bytes);
         owned_build_t *made = finding->reason[0] ? NULL : make_build(&recipe, device, &output, finding);
         if (!made && !finding->reason[0])
            status = rkb_fail_memory(err, output.ptx_bytes + output.cubin_bytes);
         *build = made ? &made->public : NULL;
         compile_output_free(&output);
      }
   }
   rkb_arena_free(recipe.arena);
   return status;
}

static int build_launches(rkb_compilers_t *compilers, const rkb_device_t *device, const rkb_source_t *source,
                          const char *tune_json, uint32_t flags, const bool *launched,
                          bool (*cancelled)(void *), void *argument, rkb_build_t **build,
                          rkb_build_cost_t *cost, rkb_finding_t *finding, rkb_error_t *err) {
   int64_t values[RKB_MANIFEST_MAX_ENTRIES];
   rkb_build_cost_t unused;
   bool lean = false;
   *build = NULL;
   cost = cost ? cost : &unused;
   *cost = (rkb_build_cost_t){0};
   rkb_finding_clear(finding);
   if (!check_source(source, &lean, finding))
      return RKB_OK;
   int status = rkb_tune_resolve(source->manifest, tune_json, values, finding, err);
   if (status == RKB_OK && !finding->reason[0])
      status =
         build_with(compilers, device, (const manifest_t *)source->manifest, source->text, source->bytes,
                    values, lean, flags, launched, cancelled, argument, build, cost, finding, err);
   return status;
}

int rkb_build_source(rkb_compilers_t *compilers, const rkb_device_t *device, const rkb_source_t *source,
                     const char *tune_json, uint32_t flags, bool (*cancelled)(void *), void *argument,
                     rkb_build_t **build, rkb_build_cost_t *cost, rkb_finding_t *finding, rkb_error_t *err) {
   return build_launches(compilers, device, source, tune_json, flags, NULL, cancelled, argument, build, cost,
                         finding, err);
}

int rkb_build_launched(rkb_compilers_t *compilers, const rkb_device_t *device, const rkb_source_t *source,
                       const char *tune_json, const bool *launched, bool (*cancelled)(void *), void *argument,
                       rkb_build_t **build, rkb_finding_t *finding, rkb_error_t *err) {
   return build_launches(compilers, device, source, tune_json, 0, launched, cancelled, argument, build, NULL,
                         finding, err);
}

int rkb_build_candidate(rkb_compilers_t *compilers, const rkb_device_t *device, const char *source,
                        const char *tune_json, uint32_t flags, bool (*cancelled)(void *), void *argument,
                        rkb_build_t **build, rkb_build_cost_t *cost, rkb_finding_t *finding,
                        rkb_error_t *err) {
   *build = NULL;
   rkb_source_t *read = rkb_source_read(source);
   int status = rkb_build_source(compilers, device, read, tune_json, flags, cancelled, argument, build, cost,
                                 finding, err);
   rkb_source_free(read);
   return status;
}

void rkb_build_free(rkb_build_t *build) {
   if (build)
      rkb_arena_free(((owned_build_t *)build)->arena);
}
