/* Edits that make a kernel wrong in some places: removing a barrier, and using functions of less precision.
 * Programmers try them first because they gain time where they are right; the verifiers decide that. */
#include <string.h>
#include "edits.h"

enum { SITES_MAX = 512 };

/* barrier ------------------------------------------------------------------------------------------------ */

/* Whether token i begins "__syncthreads();" or "__syncwarp(...);" as a statement among others, so that the
 * text stays valid without it. */
static bool is_barrier_statement(const source_t *source, uint32_t i, uint32_t *semicolon) {
   if (i == 0 || (!source_is(source, i, "__syncthreads") && !source_is(source, i, "__syncwarp")))
      return false;
   const bool stands_alone = source_is(source, i - 1, ";") || source_is(source, i - 1, "{") ||
                             source_is(source, i - 1, "}") || source_kind(source, i - 1, RKB_TOKEN_DIRECTIVE);
   const uint32_t close = source_is(source, i + 1, "(") ? source_closing(source, i + 1) : SOURCE_NONE;
   if (!stands_alone || close == SOURCE_NONE || !source_is(source, close + 1, ";"))
      return false;
   *semicolon = close + 1;
   return true;
}

bool edit_barrier(const edit_subject_t *subject, edit_result_t *result) {
   const source_t *source = subject->source;
   uint32_t sites[SITES_MAX], ends[SITES_MAX], count = 0;
   for (uint32_t i = 0; i < source->count && count < SITES_MAX; i++)
      if (is_barrier_statement(source, i, &ends[count]))
         sites[count++] = i;
   if (count == 0)
      return false;
   const uint32_t drawn = edit_draw(subject, count);
   const rkb_token_t *first = &source->code[sites[drawn]], *last = &source->code[ends[drawn]];
   patches_add(&result->patches, first->start, last->start + last->length - first->start, ";");
   snprintf(result->note, sizeof result->note, "no %.*s in line %u", (int)first->length,
            source->text + first->start, first->line);
   return true;
}

/* intrinsic ---------------------------------------------------------------------------------------------- */

/* Functions and their faster, less precise forms (CUDA C++ Programming Guide, 'Intrinsic Functions'). */
static const char *const INTRINSICS[][2] = {
   {"expf", "__expf"},   {"exp10f", "__exp10f"}, {"logf", "__logf"},
   {"log2f", "__log2f"}, {"log10f", "__log10f"}, {"sinf", "__sinf"},
   {"cosf", "__cosf"},   {"tanf", "__tanf"},     {"powf", "__powf"},
};
enum { INTRINSIC_COUNT = sizeof INTRINSICS / sizeof INTRINSICS[0] };

typedef struct call_site {
   uint32_t token, function, form; /* form: which of the two forms the text has */
} call_site_t;

bool edit_intrinsic(const edit_subject_t *subject, edit_result_t *result) {
   const source_t *source = subject->source;
   call_site_t sites[SITES_MAX];
   uint32_t count = 0;
   for (uint32_t i = 0; i < source->count && count < SITES_MAX; i++)
      for (uint32_t k = 0; k < 2 * INTRINSIC_COUNT && count < SITES_MAX; k++)
         if (source_is(source, i, INTRINSICS[k / 2][k % 2]) && source_is(source, i + 1, "("))
            sites[count++] = (call_site_t){i, k / 2, k % 2};
   if (count == 0)
      return false;
   const call_site_t site = sites[edit_draw(subject, count)];
   const rkb_token_t *token = &source->code[site.token];
   const char *other = INTRINSICS[site.function][1 - site.form];
   patches_add(&result->patches, token->start, token->length, "%s", other);
   snprintf(result->note, sizeof result->note, "%s instead of %s in line %u", other,
            INTRINSICS[site.function][site.form], token->line);
   return true;
}
