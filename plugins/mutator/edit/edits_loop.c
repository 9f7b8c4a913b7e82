/* Edits of loops: unrolling, and the change between one result per thread and a stride over the grid. */
#include <string.h>
#include "edits.h"
#include "shared/manifest_text.h"

enum { SITES_MAX = 512, GRID_CAP = 2048 };

/* unroll ------------------------------------------------------------------------------------------- */

static bool is_unroll(const source_t *source, uint32_t i) {
   char text[64];
   if (!source_kind(source, i, RKB_TOKEN_DIRECTIVE))
      return false;
   source_copy(source, i, text, sizeof text);
   const char *at = text + 1 + strspn(text + 1, " \t");
   if (strncmp(at, "pragma", 6) != 0)
      return false;
   at += 6 + strspn(at + 6, " \t");
   return strncmp(at, "unroll", 6) == 0;
}

/* Whether token i begins a loop before which a line may be inserted, because it is not part of another
 * statement. */
static bool is_loop_site(const source_t *source, uint32_t i) {
   return source_is(source, i, "for") && i > 0 &&
          (source_is(source, i - 1, ";") || source_is(source, i - 1, "{") || source_is(source, i - 1, "}") ||
           source_kind(source, i - 1, RKB_TOKEN_DIRECTIVE));
}

/* Whether only white space stands before the token on its line; *line receives the line's first byte. */
static bool begins_line(const source_t *source, const rkb_token_t *token, uint32_t *line) {
   *line = token->start - (token->column - 1);
   for (uint32_t at = *line; at < token->start; at++)
      if (source->text[at] != ' ' && source->text[at] != '\t')
         return false;
   return true;
}

bool edit_unroll(const edit_subject_t *subject, edit_result_t *result) {
   static const char *const factors[] = {"", " 1", " 2", " 4", " 8"};
   const source_t *source = subject->source;
   uint32_t sites[SITES_MAX], count = 0;
   for (uint32_t i = 0; i < source->count && count < SITES_MAX; i++)
      if (is_loop_site(source, i))
         sites[count++] = i;
   if (count == 0)
      return false;
   const uint32_t loop = sites[edit_draw(subject, count)];
   const rkb_token_t *token = &source->code[loop], *before = token - 1;
   const char *factor = factors[edit_draw(subject, 5)];
   uint32_t line;
   if (!is_unroll(source, loop - 1)) {
      if (begins_line(source, token, &line))
         patches_add(&result->patches, line, 0, "#pragma unroll%s\n", factor);
      else
         patches_add(&result->patches, token->start, 0, "\n#pragma unroll%s\n", factor);
      snprintf(result->note, sizeof result->note, "#pragma unroll%s at the loop in line %u", factor,
               token->line);
   } else if (edit_draw(subject, 2) == 0) {
      const uint32_t end = before->start + before->length;
      if (begins_line(source, before, &line) && source->text[end] == '\n')
         patches_add(&result->patches, line, end + 1 - line, "%s", "");
      else
         patches_add(&result->patches, before->start, before->length, "%s", "");
      snprintf(result->note, sizeof result->note, "no #pragma unroll at the loop in line %u", token->line);
   } else {
      patches_add(&result->patches, before->start, before->length, "#pragma unroll%s", factor);
      snprintf(result->note, sizeof result->note,
               "#pragma unroll%s instead of another at the loop in line %u", factor, token->line);
   }
   return true;
}

/* grid_stride ---------------------------------------------------------------------------------------- */

/* The pattern "const int i = ...; if (i >= limit) return; rest }" of a kernel that computes one result per
 * thread. */
typedef struct one_shot {
   uint32_t type, type_end; /* tokens of the type, const left out */
   uint32_t name, value, value_end, limit, limit_end, rest;
} one_shot_t;

static bool uses(const source_t *source, uint32_t first, uint32_t end, const char *word) {
   for (uint32_t i = first; i < end; i++)
      if (source_is(source, i, word))
         return true;
   return false;
}

/* Whether the rest may become a loop's body.  A rest that ends threads or synchronises them would mean
 * something else there. */
static bool rest_allows_loop(const source_t *source, uint32_t first, uint32_t end) {
   for (uint32_t i = first; i < end; i++) {
      char text[16];
      source_copy(source, i, text, sizeof text);
      if (source_is(source, i, "return") || source_is(source, i, "goto") ||
          source_is(source, i, "__shared__") || strncmp(text, "__sync", 6) == 0 ||
          strncmp(text, "__shfl", 6) == 0)
         return false;
   }
   return true;
}

static uint32_t next_semicolon(const source_t *source, uint32_t i, uint32_t end) {
   while (i < end && !source_is(source, i, ";"))
      i++;
   return i;
}

static bool read_one_shot(const source_t *source, const function_t *kernel, one_shot_t *found) {
   uint32_t i = kernel->body + 1;
   if (source_is(source, i, "const"))
      i++;
   found->type = i;
   while (source_kind(source, i, RKB_TOKEN_IDENTIFIER))
      i++;
   if (i < found->type + 2 || !source_is(source, i, "="))
      return false;
   found->name = i - 1;
   found->type_end = i - 1;
   found->value = i + 1;
   found->value_end = next_semicolon(source, i, kernel->end);
   if (!uses(source, found->value, found->value_end, "blockIdx") ||
       !uses(source, found->value, found->value_end, "threadIdx") ||
       uses(source, found->value, found->value_end, ","))
      return false;
   i = found->value_end + 1;
   if (!source_is(source, i, "if") || !source_is(source, i + 1, "(") ||
       !source_same(source, i + 2, source, found->name) || !source_is(source, i + 3, ">="))
      return false;
   found->limit = i + 4;
   found->limit_end = source_closing(source, i + 1);
   if (found->limit_end == SOURCE_NONE || !source_is(source, found->limit_end + 1, "return") ||
       !source_is(source, found->limit_end + 2, ";"))
      return false;
   found->rest = found->limit_end + 3;
   return rest_allows_loop(source, found->rest, kernel->end);
}

static int span_length(const source_t *source, uint32_t first, uint32_t end) {
   return (int)(source->code[end - 1].start + source->code[end - 1].length - source->code[first].start);
}

/* Bounds the grid's first dim in every launch of the kernel.  False when a grid is written in a form that
 * cannot be edited. */
static bool cap_grids(const edit_subject_t *subject, const function_t *kernel, edit_result_t *result) {
   const rkb_manifest_t *manifest = subject->manifest;
   bool any = false;
   for (uint32_t l = 0; l < manifest->launch_count; l++) {
      manifest_span_t span, second;
      const rkb_launch_text_t *launch = &manifest->launches[l];
      if (!edit_launches(subject, launch, kernel))
         continue;
      /* Only one dim is allowed: a stride over the first would repeat the others' work for the same results. */
      if (manifest_expression_at(launch->grid, 1, &second) ||
          !manifest_launch_value(subject->source->text, manifest, l, "grid", launch->grid, &span))
         return false;
      patches_add(&result->patches, span.start, span.length, "min(%s, %d)", launch->grid, GRID_CAP);
      any = true;
   }
   return any;
}

static bool make_strided(const edit_subject_t *subject, const function_t *kernel, edit_result_t *result) {
   const source_t *source = subject->source;
   one_shot_t found;
   char name[64], kernel_name[64];
   if (!read_one_shot(source, kernel, &found) || !cap_grids(subject, kernel, result))
      return false;
   const char *text = source->text;
   const uint32_t start = source->code[kernel->body + 1].start, end = source->code[found.rest].start;
   source_copy(source, found.name, name, sizeof name);
   source_copy(source, kernel->name, kernel_name, sizeof kernel_name);
   patches_add(&result->patches, start, end - start,
               "for (%.*s %s = %.*s; %s < %.*s; %s += (%.*s)gridDim.x * blockDim.x) {\n      ",
               span_length(source, found.type, found.type_end), text + source->code[found.type].start, name,
               span_length(source, found.value, found.value_end), text + source->code[found.value].start,
               name, span_length(source, found.limit, found.limit_end),
               text + source->code[found.limit].start, name, span_length(source, found.type, found.type_end),
               text + source->code[found.type].start);
   patches_add(&result->patches, source->code[kernel->end].start, 0, "}\n");
   snprintf(result->note, sizeof result->note, "%s strides over a grid of at most %d blocks", kernel_name,
            GRID_CAP);
   return true;
}

/* Gives a grid that this edit bounded its whole size back; the loop then runs once. */
static bool make_whole(const edit_subject_t *subject, edit_result_t *result) {
   char tail[16];
   int tail_length = snprintf(tail, sizeof tail, ", %d)", GRID_CAP);
   for (uint32_t l = 0; l < subject->manifest->launch_count; l++) {
      manifest_span_t span;
      const char *grid = subject->manifest->launches[l].grid;
      size_t length = strlen(grid);
      if (strncmp(grid, "min(", 4) != 0 || length < (size_t)tail_length + 5 ||
          strcmp(grid + length - tail_length, tail) != 0 ||
          !manifest_launch_value(subject->source->text, subject->manifest, l, "grid", grid, &span))
         continue;
      patches_add(&result->patches, span.start, span.length, "%.*s", (int)(length - 4 - tail_length),
                  grid + 4);
      snprintf(result->note, sizeof result->note, "launch %u has its whole grid again", l + 1);
      return true;
   }
   return false;
}

bool edit_grid_stride(const edit_subject_t *subject, edit_result_t *result) {
   const uint32_t count = subject->functions->count, first = count > 0 ? edit_draw(subject, count) : 0;
   if (edit_draw(subject, 2) == 0 && make_whole(subject, result))
      return true;
   for (uint32_t i = 0; i < count; i++) {
      const function_t *kernel = &subject->functions->list[(first + i) % count];
      if (kernel->is_kernel && make_strided(subject, kernel, result))
         return true;
      patches_free(&result->patches);
   }
   return make_whole(subject, result);
}
