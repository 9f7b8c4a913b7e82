/* Edits of a kernel's declaration and of its reads: launch bounds, __restrict__, __ldg. */
#include <string.h>
#include "edits.h"
#include "shared/manifest_text.h"

enum { SITES_MAX = 512 };

/* Draws one of the kernels of the text; NULL when there is none. */
static const function_t *draw_kernel(const edit_subject_t *subject) {
   const function_t *kernels[FUNCTIONS_MAX];
   uint32_t count = 0;
   for (uint32_t i = 0; i < subject->functions->count; i++)
      if (subject->functions->list[i].is_kernel)
         kernels[count++] = &subject->functions->list[i];
   return count > 0 ? kernels[edit_draw(subject, count)] : NULL;
}

/* launch_bounds ------------------------------------------------------------------------------------ */

/* The block size that all launches of the kernel share, if it is also valid C. */
static const char *common_block(const edit_subject_t *subject, const function_t *kernel) {
   const char *block = NULL;
   for (uint32_t l = 0; l < subject->manifest->launch_count; l++) {
      const rkb_launch_text_t *launch = &subject->manifest->launches[l];
      if (!edit_launches(subject, launch, kernel))
         continue;
      if (block && strcmp(block, launch->block) != 0)
         return NULL;
      block = launch->block;
   }
   return block && edit_is_tune_expression(subject->manifest, block) ? block : NULL;
}

/* Product of a block's dims: "BLOCK" or "(32) * (8)". */
static void write_threads(const char *block, char *out, size_t size) {
   manifest_span_t span;
   size_t used = 0;
   out[0] = '\0';
   for (uint32_t i = 0; used < size && manifest_expression_at(block, i, &span); i++) {
      int written = snprintf(out + used, size - used, "%s(%.*s)", i > 0 ? " * " : "", (int)span.length,
                             block + span.start);
      used += written > 0 ? (size_t)written : 0;
   }
}

static uint32_t find_bounds(const source_t *source, const function_t *kernel) {
   for (uint32_t i = kernel->first; i < kernel->name; i++)
      if (source_is(source, i, "__launch_bounds__"))
         return i;
   return SOURCE_NONE;
}

/* Sets a least number of resident blocks, and replaces an existing one. */
static bool change_bounds(const edit_subject_t *subject, uint32_t bounds, uint32_t blocks,
                          edit_result_t *result) {
   const source_t *source = subject->source;
   const uint32_t close = source_closing(source, bounds + 1);
   if (!source_is(source, bounds + 1, "(") || close == SOURCE_NONE)
      return false;
   uint32_t comma = close, depth = 0;
   for (uint32_t i = bounds + 2; i < close && comma == close; i++) {
      if (source_is(source, i, "(") || source_is(source, i, "["))
         depth++;
      else if (source_is(source, i, ")") || source_is(source, i, "]"))
         depth--;
      else if (source_is(source, i, ",") && depth == 0)
         comma = i;
   }
   const uint32_t start = source->code[comma].start;
   patches_add(&result->patches, start, source->code[close].start - start, ", %u", blocks);
   return true;
}

bool edit_launch_bounds(const edit_subject_t *subject, edit_result_t *result) {
   const source_t *source = subject->source;
   const function_t *kernel = draw_kernel(subject);
   char name[64], threads[160];
   if (!kernel)
      return false;
   const uint32_t blocks = 1 + edit_draw(subject, 4), bounds = find_bounds(source, kernel);
   source_copy(source, kernel->name, name, sizeof name);
   if (bounds != SOURCE_NONE) {
      snprintf(result->note, sizeof result->note, "__launch_bounds__ of %s: at least %u blocks", name,
               blocks);
      return change_bounds(subject, bounds, blocks, result);
   }
   const char *block = common_block(subject, kernel);
   if (!block)
      return false;
   write_threads(block, threads, sizeof threads);
   patches_add(&result->patches, source->code[kernel->name].start, 0, "__launch_bounds__(%s, %u) ", threads,
               blocks);
   snprintf(result->note, sizeof result->note, "__launch_bounds__(%s, %u) for %s", threads, blocks, name);
   return true;
}

/* restrict ------------------------------------------------------------------------------------------- */

/* Whether two of a launch's arguments begin with the same name, so that its pointers may alias. */
static bool may_alias(const edit_subject_t *subject, const function_t *kernel) {
   for (uint32_t l = 0; l < subject->manifest->launch_count; l++) {
      const char *args = subject->manifest->launches[l].args;
      manifest_span_t one, two;
      if (!edit_launches(subject, &subject->manifest->launches[l], kernel))
         continue;
      for (uint32_t i = 0; manifest_expression_at(args, i, &one); i++)
         for (uint32_t j = i + 1; manifest_expression_at(args, j, &two); j++) {
            size_t a = strcspn(args + one.start, " +,*/"), b = strcspn(args + two.start, " +,*/");
            if (a == b && strncmp(args + one.start, args + two.start, a) == 0)
               return true;
         }
   }
   return false;
}

bool edit_restrict(const edit_subject_t *subject, edit_result_t *result) {
   const source_t *source = subject->source;
   const function_t *kernel = draw_kernel(subject);
   char name[64];
   if (!kernel)
      return false;
   source_copy(source, kernel->name, name, sizeof name);
   uint32_t there = 0;
   for (uint32_t i = kernel->open; i < kernel->close; i++)
      there += source_is(source, i, "__restrict__");
   if (there > 0) {
      for (uint32_t i = kernel->open; i < kernel->close; i++)
         if (source_is(source, i, "__restrict__"))
            patches_add(&result->patches, source->code[i].start, source->code[i].length, "%s", "");
      snprintf(result->note, sizeof result->note, "no __restrict__ on %u pointers of %s", there, name);
      return true;
   }
   if (may_alias(subject, kernel))
      return false;
   uint32_t added = 0;
   for (uint32_t p = 0; p < kernel->parameter_count; p++) {
      const parameter_t *parameter = &kernel->parameters[p];
      if (parameter->name != SOURCE_NONE && source_is(source, parameter->name - 1, "*")) {
         patches_add(&result->patches, source->code[parameter->name].start, 0, "__restrict__ ");
         added++;
      }
   }
   snprintf(result->note, sizeof result->note, "__restrict__ on %u pointers of %s", added, name);
   return added > 0;
}

/* ldg -------------------------------------------------------------------------------------------------- */

/* Whether the parameter's type is a built-in one, because __ldg takes only those. */
static bool is_plain_constant(const source_t *source, const parameter_t *parameter) {
   static const char *const types[] = {"float", "double", "int",    "unsigned", "long", "short",
                                       "char",  "float2", "float4", "int2",     "int4", NULL};
   bool constant = false;
   if (parameter->name == SOURCE_NONE || !source_is(source, parameter->name - 1, "*"))
      return false;
   for (uint32_t i = parameter->first; i < parameter->name - 1; i++) {
      bool known = source_is(source, i, "const");
      constant = constant || known;
      for (uint32_t t = 0; types[t] && !known; t++)
         known = source_is(source, i, types[t]);
      if (!known)
         return false;
   }
   return constant;
}

/* Whether token i begins a read of an element by this name; *close receives its closing bracket. */
static bool is_read(const source_t *source, uint32_t i, uint32_t *close) {
   if (!source_is(source, i + 1, "[") || source_is(source, i - 1, "&") || source_is(source, i - 1, ".") ||
       source_is(source, i - 1, "->"))
      return false;
   *close = source_closing(source, i + 1);
   return *close != SOURCE_NONE && !source_is(source, *close + 1, "[") && !source_is(source, *close + 1, ".");
}

typedef struct read_site {
   uint32_t name, close;
} read_site_t;

static uint32_t find_reads(const edit_subject_t *subject, read_site_t *sites) {
   const source_t *source = subject->source;
   uint32_t count = 0;
   for (uint32_t f = 0; f < subject->functions->count; f++) {
      const function_t *kernel = &subject->functions->list[f];
      for (uint32_t p = 0; kernel->is_kernel && p < kernel->parameter_count; p++) {
         uint32_t close;
         if (!is_plain_constant(source, &kernel->parameters[p]))
            continue;
         for (uint32_t i = kernel->body; i < kernel->end && count < SITES_MAX; i++)
            if (source_same(source, i, source, kernel->parameters[p].name) && is_read(source, i, &close))
               sites[count++] = (read_site_t){i, close};
      }
   }
   return count;
}

/* The end of "__ldg(&x[i])" from token i on; SOURCE_NONE when the text is different. */
static uint32_t ldg_end(const source_t *source, uint32_t i) {
   if (!source_is(source, i, "__ldg") || !source_is(source, i + 1, "(") || !source_is(source, i + 2, "&"))
      return SOURCE_NONE;
   return source_closing(source, i + 1);
}

bool edit_ldg(const edit_subject_t *subject, edit_result_t *result) {
   const source_t *source = subject->source;
   read_site_t sites[SITES_MAX];
   const uint32_t reads = find_reads(subject, sites);
   uint32_t loads[SITES_MAX], load_count = 0;
   for (uint32_t i = 0; i < source->count && load_count < SITES_MAX; i++)
      if (ldg_end(source, i) != SOURCE_NONE)
         loads[load_count++] = i;
   if (reads + load_count == 0)
      return false;
   const uint32_t drawn = edit_draw(subject, reads + load_count);
   if (drawn < reads) {
      const rkb_token_t *name = &source->code[sites[drawn].name], *close = &source->code[sites[drawn].close];
      patches_add(&result->patches, name->start, 0, "__ldg(&");
      patches_add(&result->patches, close->start + close->length, 0, ")");
      snprintf(result->note, sizeof result->note, "__ldg for %.*s in line %u", (int)name->length,
               source->text + name->start, name->line);
   } else {
      const uint32_t load = loads[drawn - reads], close = ldg_end(source, load);
      const uint32_t start = source->code[load].start, operand = source->code[load + 3].start;
      patches_add(&result->patches, start, operand - start, "%s", "");
      patches_add(&result->patches, source->code[close].start, 1, "%s", "");
      snprintf(result->note, sizeof result->note, "no __ldg in line %u", source->code[load].line);
   }
   return true;
}
