/* Exchanges parts between two texts. */
#include "gene_exchange.h"
#include <string.h>
#include "shared/manifest_text.h"

enum { LAUNCHES_MAX = 64 };

typedef struct pair {
   uint32_t first, second;
} pair_t;

/* Tokens first to end - 1. */
typedef struct range {
   uint32_t first, end;
} range_t;

/* Whether two ranges have the same number of tokens and equal tokens. */
static bool same_tokens(const source_t *left, uint32_t first, uint32_t end, const source_t *right,
                        uint32_t other, uint32_t other_end) {
   if (end - first != other_end - other)
      return false;
   for (uint32_t i = first; i < end; i++)
      if (!source_same(left, i, right, other + (i - first)))
         return false;
   return true;
}

/* A kernel's launch bounds, without the parenthesis that closes them; first == end: it has none. */
static range_t bounds_of(const side_t *side, const rkb_launch_text_t *launch) {
   const function_t *kernel =
      functions_named(side->source, side->functions, launch->kernel, strcspn(launch->kernel, "< "));
   range_t bounds = {0, 0};
   for (uint32_t i = kernel ? kernel->first : 0; kernel && i < kernel->open && bounds.first == bounds.end;
        i++)
      if (source_is(side->source, i, "__launch_bounds__"))
         bounds = (range_t){i, source_closing(side->source, i + 1)};
   return bounds;
}

/* A kernel that bounds its threads is written for blocks of its own size: a launch with other blocks has no plan, or computes something else. */
static bool same_bounds(const side_t *first, const rkb_launch_text_t *a, const side_t *second,
                        const rkb_launch_text_t *b) {
   const range_t here = bounds_of(first, a), there = bounds_of(second, b);
   return same_tokens(first->source, here.first, here.end, second->source, there.first, there.end);
}

/* Whether a function tells threads or blocks apart. */
static bool reads_place(const source_t *source, const function_t *function) {
   static const char *const words[] = {"threadIdx", "blockIdx", "blockDim", "gridDim"};
   for (uint32_t i = function->body; i < function->end; i++)
      for (size_t w = 0; w < sizeof words / sizeof words[0]; w++)
         if (source_is(source, i, words[w]))
            return true;
   return false;
}

/* Whether the body of one function names another. */
static bool names(const source_t *source, const function_t *caller, const function_t *function) {
   for (uint32_t i = caller->body; i < caller->end; i++)
      if (source_same(source, i, source, function->name))
         return true;
   return false;
}

/* Whether a launch's kernel calls a function, itself or through another one. */
static bool calls(const side_t *side, const rkb_launch_text_t *launch, const function_t *function) {
   const function_t *kernel =
      functions_named(side->source, side->functions, launch->kernel, strcspn(launch->kernel, "< "));
   if (!kernel || names(side->source, kernel, function))
      return kernel != NULL;
   for (uint32_t i = 0; i < side->functions->count; i++) {
      const function_t *between = &side->functions->list[i];
      if (between != function && !between->is_kernel && names(side->source, between, function) &&
          names(side->source, kernel, between))
         return true;
   }
   return false;
}

/* The next launch from `from` on whose kernel calls the function, or the number of launches. */
static uint32_t next_caller(const side_t *side, const function_t *function, uint32_t from) {
   while (from < side->manifest->launch_count && !calls(side, &side->manifest->launches[from], function))
      from++;
   return from;
}

/* Whether two functions are called by the same launches.  A function that gives each thread or block its part is written for one grid and block. */
static bool same_callers(const side_t *first, const function_t *a, const side_t *second,
                         const function_t *b) {
   uint32_t i = next_caller(first, a, 0), j = next_caller(second, b, 0);
   if (i == first->manifest->launch_count)
      return false;
   while (i < first->manifest->launch_count && j < second->manifest->launch_count) {
      const rkb_launch_text_t *here = &first->manifest->launches[i], *there = &second->manifest->launches[j];
      if (strcmp(here->kernel, there->kernel) != 0 || strcmp(here->when, there->when) != 0 ||
          strcmp(here->grid, there->grid) != 0 || strcmp(here->block, there->block) != 0 ||
          strcmp(here->args, there->args) != 0 || here->is_else != there->is_else ||
          !same_bounds(first, here, second, there))
         return false;
      i = next_caller(first, a, i + 1);
      j = next_caller(second, b, j + 1);
   }
   return i == first->manifest->launch_count && j == second->manifest->launch_count;
}

static bool is_exchangeable(const side_t *first, const function_t *a, const side_t *second,
                            const function_t *b) {
   return a->is_device && b->is_device && !a->is_kernel && !b->is_kernel &&
          same_tokens(first->source, a->first, a->body, second->source, b->first, b->body) &&
          !same_tokens(first->source, a->body, a->end, second->source, b->body, b->end) &&
          ((!reads_place(first->source, a) && !reads_place(second->source, b)) ||
           same_callers(first, a, second, b));
}

bool exchange_function(const rkb_random_api_t *random, rkb_random_t *stream, const side_t *first,
                       const side_t *second, patches_t *patches, char *note, size_t note_size) {
   pair_t pairs[FUNCTIONS_MAX];
   uint32_t count = 0;
   for (uint32_t i = 0; i < first->functions->count; i++)
      for (uint32_t j = 0; j < second->functions->count && count < FUNCTIONS_MAX; j++)
         if (is_exchangeable(first, &first->functions->list[i], second, &second->functions->list[j]))
            pairs[count++] = (pair_t){i, j};
   if (count == 0)
      return false;
   const pair_t drawn = pairs[random->below(stream, count)];
   const function_t *a = &first->functions->list[drawn.first], *b = &second->functions->list[drawn.second];
   const rkb_token_t *here = first->source->code, *there = second->source->code;
   const uint32_t start = here[a->body].start, end = here[a->end].start + here[a->end].length;
   const uint32_t from = there[b->body].start, to = there[b->end].start + there[b->end].length;
   char name[64];
   source_copy(first->source, a->name, name, sizeof name);
   patches_add(patches, start, end - start, "%.*s", (int)(to - from), second->source->text + from);
   snprintf(note, note_size, "the body of %s from the second parent", name);
   return true;
}

static bool is_same_launch(const rkb_launch_text_t *a, const rkb_launch_text_t *b) {
   return strcmp(a->kernel, b->kernel) == 0 && strcmp(a->when, b->when) == 0 &&
          strcmp(a->args, b->args) == 0 && a->is_else == b->is_else &&
          (strcmp(a->grid, b->grid) != 0 || strcmp(a->block, b->block) != 0);
}

/* Edits the differing values in place; false when one of them cannot be edited. */
static bool take_shape(const side_t *side, uint32_t launch, const rkb_launch_text_t *from,
                       patches_t *patches) {
   const rkb_launch_text_t *to = &side->manifest->launches[launch];
   const struct {
      const char *key, *old, *new;
   } values[] = {{"grid", to->grid, from->grid}, {"block", to->block, from->block}};
   for (uint32_t i = 0; i < 2; i++) {
      manifest_span_t span;
      if (strcmp(values[i].old, values[i].new) == 0)
         continue;
      if (!manifest_launch_value(side->source->text, side->manifest, launch, values[i].key, values[i].old,
                                 &span))
         return false;
      patches_add(patches, span.start, span.length, "%s", values[i].new);
   }
   return true;
}

/* A kernel that reads the grid's size works with any grid; another kernel needs its own grid.  With a bounded grid, a kernel that
 * computes one result a thread would leave results out, and only shapes larger than the bound would show it. */
static bool looks_at_grid(const side_t *side, const rkb_launch_text_t *launch) {
   const function_t *kernel =
      functions_named(side->source, side->functions, launch->kernel, strcspn(launch->kernel, "< "));
   for (uint32_t i = kernel ? kernel->body : 0; kernel && i < kernel->end; i++)
      if (source_is(side->source, i, "gridDim"))
         return true;
   return false;
}

bool exchange_launch(const rkb_random_api_t *random, rkb_random_t *stream, const side_t *first,
                     const side_t *second, patches_t *patches, char *note, size_t note_size) {
   pair_t pairs[LAUNCHES_MAX];
   uint32_t count = 0;
   for (uint32_t i = 0; i < first->manifest->launch_count; i++)
      for (uint32_t j = 0; j < second->manifest->launch_count && count < LAUNCHES_MAX; j++)
         if (is_same_launch(&first->manifest->launches[i], &second->manifest->launches[j]) &&
             same_bounds(first, &first->manifest->launches[i], second, &second->manifest->launches[j]) &&
             looks_at_grid(first, &first->manifest->launches[i]) ==
                looks_at_grid(second, &second->manifest->launches[j]))
            pairs[count++] = (pair_t){i, j};
   if (count == 0)
      return false;
   const pair_t drawn = pairs[random->below(stream, count)];
   const rkb_launch_text_t *from = &second->manifest->launches[drawn.second];
   snprintf(note, note_size, "launch %u with grid %.60s and block %.60s of the second parent",
            drawn.first + 1, from->grid, from->block);
   return take_shape(first, drawn.first, from, patches);
}
