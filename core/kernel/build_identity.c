/* Decides whether two candidates are the same after the build: equal PTX without names, comments and line information, and equal
 * plans for every case.  A name is replaced by its order of first occurrence, so that renaming a kernel or a variable makes no new
 * candidate.  Owns nothing beyond the call; any thread. */
#include "kernel/kernel.h"
#include "base/hash.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

typedef struct name {
   const char *text;
   uint32_t length;
   uint32_t number; /* 1 + order of first mention; 0: declared, not mentioned yet */
} name_t;

typedef struct names {
   name_t *slots; /* open addressing; text NULL: free */
   size_t room, count;
} names_t;

typedef struct word {
   const char *text;
   size_t length;
} word_t;

typedef struct scanner {
   const char *at, *end;
   bool line_start;
} scanner_t;

static bool in_word(char c) {
   return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
          c == '$' || c == '.' || c == '%';
}

static bool is_name(const word_t *word) {
   char c = word->text[0];
   return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
}

static bool is(const word_t *word, const char *text) {
   return word->length == strlen(text) && memcmp(word->text, text, word->length) == 0;
}

static void skip_line(scanner_t *in) {
   const char *newline = memchr(in->at, '\n', (size_t)(in->end - in->at));
   in->at = newline ? newline : in->end;
}

/* Whether the rest of the line is what a compiler writes behind .loc and .file: numbers, a quoted text, labels of its own, function_name and inlined_at.
 * Text of a candidate may follow there, and the assembler takes it. */
static bool is_place(const scanner_t *in) {
   scanner_t line = *in;
   while (line.at < line.end && *line.at != '\n') {
      const char *start = line.at++;
      if (*start == '"') {
         while (line.at < line.end && *line.at != '\n' && *line.at++ != '"')
            continue;
      } else if (in_word(*start)) {
         while (line.at < line.end && in_word(*line.at))
            line.at++;
         const word_t word = {start, (size_t)(line.at - start)};
         bool number = true;
         for (size_t n = 0; n < word.length; n++)
            number &= start[n] >= '0' && start[n] <= '9';
         if (!number && *start != '$' && !is(&word, "function_name") && !is(&word, "inlined_at"))
            return false;
      } else if (!strchr(" \t\r,+", *start)) {
         return false;
      }
   }
   return true;
}

/* The next token: a quoted text, a word, or one byte.  Skips comments, .loc, .file and .section { }.  False at the end. */
static bool next(scanner_t *in, word_t *word) {
   while (in->at < in->end) {
      const char *start = in->at;
      if (*start == '\n' || *start == ' ' || *start == '\t' || *start == '\r') {
         in->line_start = in->line_start || *start == '\n';
         in->at++;
         continue;
      }
      if (in->end - start >= 2 && start[0] == '/' && start[1] == '/') {
         skip_line(in);
         continue;
      }
      if (in->end - start >= 2 && start[0] == '/' && start[1] == '*') {
         const char *close = memmem(start + 2, (size_t)(in->end - start - 2), "*/", 2);
         in->at = close ? close + 2 : in->end;
         continue;
      }
      in->at++;
      if (*start == '"')
         while (in->at < in->end && *in->at++ != '"')
            continue;
      else if (in_word(*start))
         while (in->at < in->end && in_word(*in->at))
            in->at++;
      *word = (word_t){start, (size_t)(in->at - start)};
      if (in->line_start && (is(word, ".loc") || is(word, ".file")) && is_place(in)) {
         skip_line(in);
         continue;
      }
      if (in->line_start && is(word, ".section")) {
         const char *close = memchr(in->at, '}', (size_t)(in->end - in->at));
         in->at = close ? close + 1 : in->end;
         continue;
      }
      in->line_start = false;
      return true;
   }
   return false;
}

static name_t *find(const names_t *names, const word_t *word) {
   size_t at = rkb_hash64(word->text, word->length, 0) & (names->room - 1);
   while (names->slots[at].text && (names->slots[at].length != word->length ||
                                    memcmp(names->slots[at].text, word->text, word->length) != 0))
      at = (at + 1) & (names->room - 1);
   return &names->slots[at];
}

static void declare(names_t *names, const word_t *word) {
   name_t *slot;
   if (2 * (names->count + 1) > names->room) {
      names_t larger = {.room = names->room ? names->room * 2 : 256, .count = names->count};
      larger.slots = rkb_allocate(larger.room, sizeof *larger.slots);
      for (size_t i = 0; i < names->room; i++)
         if (names->slots[i].text)
            *find(&larger, &(word_t){names->slots[i].text, names->slots[i].length}) = names->slots[i];
      free(names->slots);
      *names = larger;
   }
   slot = find(names, word);
   if (!slot->text) {
      *slot = (name_t){word->text, (uint32_t)word->length, 0};
      names->count++;
   }
}

/* The declared name follows a type, .entry or .func; a label precedes its colon. */
static bool declares_next(const word_t *word) {
   static const char *const before[] = {".entry", ".func", ".u8",  ".u16", ".u32",  ".u64", ".s8",
                                        ".s16",   ".s32",  ".s64", ".b8",  ".b16",  ".b32", ".b64",
                                        ".b128",  ".f16",  ".f32", ".f64", ".pred", NULL};
   for (uint32_t i = 0; before[i]; i++)
      if (is(word, before[i]))
         return true;
   return false;
}

static void collect(const char *ptx, size_t bytes, names_t *names) {
   scanner_t in = {ptx, ptx + bytes, true};
   word_t word, before = {"", 0};
   uint32_t nested = 0; /* .func (.param .b32 result) name */
   bool function = false;
   while (next(&in, &word)) {
      if (is(&word, ".func"))
         function = true;
      nested += function && is(&word, "(");
      bool after_result = function && before.length && before.text[0] == ')' && nested == 1;
      if (is_name(&word) && (declares_next(&before) || after_result))
         declare(names, &word);
      if (is(&word, ":") && before.length && is_name(&before))
         declare(names, &before);
      if (after_result || is(&word, "{") || is(&word, ";")) {
         function = false;
         nested = 0;
      }
      before = word;
   }
}

void rkb_ptx_identity(const char *ptx, size_t bytes, char out[RKB_HASH_TEXT]) {
   names_t names = {NULL, 0, 0};
   rkb_hasher_t *hasher = rkb_hasher_new();
   scanner_t in = {ptx, ptx + bytes, true};
   uint32_t number = 0;
   word_t word;
   declare(&names, &(word_t){"", 0});
   collect(ptx, bytes, &names);
   while (next(&in, &word)) {
      name_t *name = is_name(&word) ? find(&names, &word) : NULL;
      if (name && name->text) {
         if (!name->number)
            name->number = ++number;
         rkb_hasher_add(hasher, &name->number, sizeof name->number);
      } else
         rkb_hasher_add(hasher, word.text, word.length);
   }
   rkb_hasher_finish(hasher, out);
   free(names.slots);
}

/* Hashes a tensor map without its name and line. */
static void hash_map(rkb_hasher_t *hasher, const rkb_plan_map_t *map) {
   const uint64_t numbers[] = {map->buffer, map->type, map->interleave, map->swizzle,
                               map->fill,   map->rank, map->offset};
   rkb_hasher_add(hasher, numbers, sizeof numbers);
   rkb_hasher_add(hasher, map->dims, sizeof map->dims);
   rkb_hasher_add(hasher, map->strides, sizeof map->strides);
   rkb_hasher_add(hasher, map->box, sizeof map->box);
   rkb_hasher_add(hasher, map->element_strides, sizeof map->element_strides);
   if (!map->im2col)
      return;
   rkb_hasher_add(hasher, map->lower, sizeof map->lower);
   rkb_hasher_add(hasher, map->upper, sizeof map->upper);
   rkb_hasher_add(hasher, &map->channels, sizeof map->channels);
   rkb_hasher_add(hasher, &map->pixels, sizeof map->pixels);
}

void rkb_plan_hash(const rkb_plan_t *plan, char out[RKB_HASH_TEXT]) {
   rkb_hasher_t *hasher = rkb_hasher_new();
   /* Hashes what the plan's byte form has, without names of scratch buffers and without lines.  The entry's name counts, because two candidates with the
    * same PTX may launch different kernels of it.  So a candidate that differs only by a kernel's name may not be recognised as a duplicate, which costs one
    * evaluation. */
   for (uint32_t i = 0; i < plan->buffer_count; i++) {
      const rkb_plan_buffer_t *buffer = &plan->buffers[i];
      const uint64_t numbers[] = {buffer->role,      buffer->dtype, buffer->tensor,
                                  buffer->alignment, buffer->bytes, buffer->fill};
      rkb_hasher_add(hasher, numbers, sizeof numbers);
      rkb_hasher_add(hasher, &buffer->fill_value, sizeof buffer->fill_value);
   }
   for (uint32_t i = 0; i < plan->constant_count; i++) {
      const uint64_t numbers[] = {plan->constants[i].buffer, plan->constants[i].bytes};
      rkb_hasher_add(hasher, numbers, sizeof numbers);
   }
   for (uint32_t i = 0; i < plan->launch_count; i++) {
      const rkb_plan_launch_t *launch = &plan->launches[i];
      const uint32_t numbers[] = {launch->grid[0],
                                  launch->grid[1],
                                  launch->grid[2],
                                  launch->block[0],
                                  launch->block[1],
                                  launch->block[2],
                                  launch->cluster[0],
                                  launch->cluster[1],
                                  launch->cluster[2],
                                  launch->dynamic_shared,
                                  launch->cooperative | launch->dependent << 1,
                                  launch->argument_count};
      rkb_hasher_add_text(hasher, launch->entry);
      rkb_hasher_add(hasher, numbers, sizeof numbers);
      for (uint32_t k = 0; k < launch->argument_count; k++) {
         const uint64_t argument[] = {launch->arguments[k].buffer, launch->arguments[k].offset,
                                      launch->arguments[k].bytes, launch->arguments[k].value};
         rkb_hasher_add(hasher, argument, sizeof argument);
         if (launch->arguments[k].map)
            hash_map(hasher, &plan->maps[launch->arguments[k].map - 1]);
      }
   }
   rkb_hasher_finish(hasher, out);
}
