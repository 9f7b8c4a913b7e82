/* Finds statements that execute instructions (instruction_calls.h).  Stateless; any thread. */
#include "tools/faults/operators/instruction_calls.h"

#include <string.h>

#define MOST_DEPTH 3u /* most functions that call one another in a chain */

bool instruction_says(const source_t *s, uint32_t token, const char *words, const char *without) {
   const size_t bytes = source_length(s, token);
   return *source_at(s, token) == '"' && memmem(source_at(s, token), bytes, words, strlen(words)) &&
          !(without && memmem(source_at(s, token), bytes, without, strlen(without)));
}

bool instruction_begins_statement(const source_t *s, uint32_t token) {
   static const char *const ends[] = {";", "{", "}", ")", "else", "do", NULL};
   return token && source_is_any(s, token - 1, ends);
}

static void add(const source_t *s, instruction_calls_t *calls, instruction_call_t call) {
   if (call.close == NO_TOKEN || !source_is(s, call.close + 1, ";") ||
       !instruction_begins_statement(s, call.first) || calls->count == MOST_CALLS)
      return;
   for (uint32_t n = 0; n < calls->count; n++)
      if (calls->list[n].first == call.first)
         return;
   calls->list[calls->count++] = call;
}

/* Adds the places where kernels call a function, or call functions that call it. */
static void add_calls(const source_t *s, const function_t *f, uint32_t depth, instruction_calls_t *calls) {
   for (uint32_t i = 0; i + 1 < s->count && depth < MOST_DEPTH; i++) {
      const function_t *from = source_same(s, i, f->name) && i != f->name ? source_function_of(s, i) : NULL;
      uint32_t open = i + 1;
      if (!from || from == f)
         continue;
      while (source_is(s, i + 1, "<") && open < from->end && !source_is(s, open, "("))
         open++;
      if (!source_is(s, open, "("))
         continue;
      if (from->global)
         add(s, calls, (instruction_call_t){.first = i, .open = open, .close = source_match(s, open)});
      else
         add_calls(s, from, depth + 1, calls);
   }
}

void instruction_calls_find(const source_t *s, const char *words, const char *without,
                            instruction_calls_t *calls) {
   calls->count = 0;
   for (uint32_t i = 0; i < s->count; i++) {
      const function_t *f = instruction_says(s, i, words, without) ? source_function_of(s, i) : NULL;
      uint32_t first = i;
      if (!f)
         continue;
      if (!f->global) {
         add_calls(s, f, 0, calls);
         continue;
      }
      while (first > f->body && !source_is(s, first, "asm"))
         first--;
      const uint32_t open = source_is(s, first + 1, "volatile") ? first + 2 : first + 1;
      add(s, calls,
          (instruction_call_t){
             .first = first, .open = open, .close = source_match(s, open), .assembly = true});
   }
}

bool instruction_last_operand(const source_t *s, const instruction_call_t *call, uint32_t *first,
                              uint32_t *last) {
   *last = call->close - 1;
   if (call->assembly) {
      while (*last > call->open && !source_is(s, *last, ")"))
         --*last;
      *first = *last > call->open ? source_match_back(s, *last) + 1 : NO_TOKEN;
      --*last;
      return *first != NO_TOKEN && *first <= *last;
   }
   for (*first = *last; *first > call->open && !source_is(s, *first, ","); --*first)
      if (source_is(s, *first, ")") || source_is(s, *first, "]"))
         *first = source_match_back(s, *first);
   ++*first;
   return *first > call->open + 1 && *first <= *last; /* the first operand is the mbarrier */
}

bool instruction_is_called(const source_t *s, const function_t *f) {
   instruction_calls_t calls = {.count = 0};
   if (!f->global)
      add_calls(s, f, 0, &calls);
   return f->global || calls.count;
}
