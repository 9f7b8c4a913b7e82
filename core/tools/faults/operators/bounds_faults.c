/* Checks and loop limits: dropped, or off by one.  Stateless; any thread. */
#include <string.h>
#include "tools/faults/operators/operator.h"

static const char *const comparisons[] = {"<", ">=", ">", "<=", NULL};

static bool is_comparison(const source_t *s, uint32_t i) {
   for (uint32_t k = 0; comparisons[k]; k++)
      if (source_is_operator(s, i, comparisons[k]))
         return true;
   return false;
}

/* Returns the token if, for or while before the bracket "(" around a token; NO_TOKEN: there is none. */
static uint32_t condition_of(const source_t *s, uint32_t token) {
   uint32_t depth = 0;
   for (uint32_t i = token; i > 1 && !source_is(s, i, "{") && !source_is(s, i, "}"); i--) {
      if (source_is(s, i, ")"))
         depth++;
      else if (source_is(s, i, "(") && depth > 0)
         depth--;
      else if (source_is(s, i, "(") &&
               (source_is(s, i - 1, "if") || source_is(s, i - 1, "for") || source_is(s, i - 1, "while")))
         return i - 1;
   }
   return NO_TOKEN;
}

/* A comparison in the condition of an if, or of a ?:, becomes one that lets the access through. */
void find_drop_bounds_check(const source_t *s, sites_t *sites) {
   for (uint32_t i = 1; i < s->count; i++) {
      if (!is_comparison(s, i) || !source_function_of(s, i))
         continue;
      uint32_t word = condition_of(s, i), left = source_left(s, i), right = source_right(s, i), stop = i;
      if (left == NO_TOKEN || right == NO_TOKEN || source_is(s, word, "for") || source_is(s, word, "while"))
         continue;
      bool leaves = false;
      if (word != NO_TOKEN) {
         uint32_t body = source_match(s, word + 1) + 1;
         leaves =
            source_is(s, body, "return") || source_is(s, body, "continue") || source_is(s, body, "break");
      } else {
         while (stop < s->count && !source_is(s, stop, ";") && !source_is(s, stop, "?"))
            stop++;
         if (!source_is(s, stop, "?"))
            continue;
      }
      sites_begin(sites);
      sites_replace(sites, source_start(s, left), source_end(s, right), leaves ? "false" : "true");
   }
}

void find_less_to_less_equal(const source_t *s, sites_t *sites) {
   for (uint32_t i = 1; i < s->count; i++) {
      uint32_t word = source_function_of(s, i) ? condition_of(s, i) : NO_TOKEN;
      const char *change = source_is_operator(s, i, "<")                                ? "<="
                           : source_is_operator(s, i, ">=") && source_is(s, word, "if") ? ">"
                                                                                        : NULL;
      if (!change || source_is(s, i + 1, "0"))
         continue;
      sites_begin(sites);
      sites_replace(sites, source_start(s, i), source_end(s, i), "%s", change);
   }
}

/* The tokens of the parts of for (int i = first; i < last; i += step). */
typedef struct loop {
   uint32_t first, first_end, last, last_end, step,
      step_end; /* expressions, with their first and last tokens; step is NO_TOKEN for ++ */
} loop_t;

static bool read_loop(const source_t *s, uint32_t i, loop_t *loop) {
   uint32_t close = source_is(s, i, "for") ? source_match(s, i + 1) : NO_TOKEN, k = i + 2;
   if (close == NO_TOKEN || !(source_is(s, k, "int") || source_is(s, k, "long")))
      return false;
   while (k < close && !source_is(s, k, "="))
      k++;
   loop->first = k + 1;
   while (k < close && !source_is(s, k, ";"))
      k++;
   loop->first_end = k - 1;
   while (k < close && !source_is_operator(s, k, "<"))
      k++;
   loop->last = k + 1;
   while (k < close && !source_is(s, k, ";"))
      k++;
   loop->last_end = k - 1;
   if (k >= close || loop->last > loop->last_end)
      return false;
   bool strides = source_is(s, k + 2, "+=");
   loop->step = strides ? k + 3 : NO_TOKEN;
   loop->step_end = close - 1;
   return true;
}

void find_loop_starts_late(const source_t *s, sites_t *sites) {
   loop_t loop;
   for (uint32_t i = 0; i < s->count; i++)
      if (read_loop(s, i, &loop) && source_is(s, loop.first, "0") && loop.first == loop.first_end) {
         sites_begin(sites);
         sites_replace(sites, source_start(s, loop.first), source_end(s, loop.first), "1");
      }
}

void find_loop_ends_early(const source_t *s, sites_t *sites) {
   loop_t loop;
   for (uint32_t i = 0; i < s->count; i++)
      if (read_loop(s, i, &loop)) {
         sites_begin(sites);
         sites_replace(sites, source_end(s, loop.last_end), source_end(s, loop.last_end), " - 1");
      }
}

void find_wrong_loop_stride(const source_t *s, sites_t *sites) {
   loop_t loop;
   for (uint32_t i = 0; i < s->count; i++)
      if (read_loop(s, i, &loop) && loop.step != NO_TOKEN) {
         sites_begin(sites);
         sites_replace(sites, source_end(s, loop.step_end), source_end(s, loop.step_end), " + 1");
         sites_begin(sites);
         sites_replace(sites, source_start(s, loop.step), source_end(s, loop.step_end), "2 * (%.*s)",
                       (int)(source_end(s, loop.step_end) - source_start(s, loop.step)),
                       source_at(s, loop.step));
      }
}

/* A division that rounds up, (a + b - 1) / b in code or ceildiv(a, b) in the manifest, becomes one that rounds down. */
void find_floor_for_ceiling(const source_t *s, sites_t *sites) {
   for (uint32_t i = 3; i + 2 < s->count; i++)
      if (source_is(s, i, ")") && source_is(s, i + 1, "/") && source_is(s, i - 1, "1") &&
          source_is(s, i - 2, "-") && source_same(s, i - 3, i + 2) && source_is(s, i - 4, "+")) {
         sites_begin(sites);
         sites_replace(sites, source_start(s, i - 4), source_end(s, i - 1), " ");
      }
   const char *end = s->text + s->manifest_end;
   for (const char *at = s->text + s->manifest; (at = strstr(at, "ceildiv(")) != NULL && at < end; at += 8) {
      int depth = 0;
      const char *comma = NULL, *close = at + 7;
      for (; close < end; close++) {
         depth += *close == '(';
         comma = *close == ',' && depth == 1 && !comma ? close : comma;
         if (*close == ')' && --depth == 0)
            break;
      }
      if (!comma || close == end)
         continue;
      sites_begin(sites);
      sites_replace(sites, (uint32_t)(at - s->text), (uint32_t)(close + 1 - s->text), "(%.*s) / (%.*s)",
                    (int)(comma - at - 8), at + 8, (int)(close - comma - 1), comma + 1);
   }
}
