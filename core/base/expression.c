/* The public face of expressions: parses a whole text or a list.  Trees and texts lie in the caller's arena.  One thread at a
 * time while parsing; afterwards any thread may read them. */
#include "base/expression.h"

#include <string.h>

#include "base/expression_node.h"
#include "base/memory.h"

#define LONGEST_TEXT 4096u

static bool is_space(char c) {
   return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Trims [*start, *end). */
static void trim(const char *text, size_t *start, size_t *end) {
   while (*start < *end && is_space(text[*start]))
      ++*start;
   while (*end > *start && is_space(text[*end - 1]))
      --*end;
}

rkb_expression_t *rkb_expression_parse(rkb_arena_t *arena, const char *text, size_t length, rkb_place_t place,
                                       rkb_problems_t *problems) {
   const char *names[MOST_NODES];
   size_t start = 0;
   trim(text, &start, &length);
   place.column += (uint32_t)start;
   parser_t parser = {.arena = arena, .problems = problems, .place = place, .names = names};
   if (memchr(text + start, '\0', length - start)) {
      rkb_problem(problems, place, "an expression holds no NUL byte");
      return NULL;
   }
   if (length - start > LONGEST_TEXT) {
      rkb_problem(problems, place, "an expression has at most %u bytes; name a part of it in a 'let'",
                  LONGEST_TEXT);
      return NULL;
   }
   rkb_expression_t *expression = rkb_arena_alloc(arena, sizeof *expression);
   parser.text = rkb_arena_text(arena, text + start, length - start);
   expression->text = parser.text;
   expression->place = place;
   expression->root = rkb_expression_parse_tree(&parser);
   if (!expression->root)
      return NULL;
   expression->name_count = parser.name_count;
   expression->names = rkb_arena_array(arena, parser.name_count, sizeof *names);
   memcpy((void *)expression->names, names, parser.name_count * sizeof *names);
   return expression;
}

/* The end of the part that begins at start: the next comma outside parentheses, or length. */
static size_t part_end(const char *text, size_t start, size_t length) {
   size_t depth = 0, end = start;
   for (; end < length && (depth > 0 || text[end] != ','); end++) {
      if (text[end] == '(')
         depth++;
      else if (text[end] == ')' && depth > 0)
         depth--;
   }
   return end;
}

bool rkb_expression_list(rkb_arena_t *arena, const char *text, size_t length, rkb_place_t place,
                         rkb_expression_t ***list, uint32_t *count, rkb_problems_t *problems) {
   rkb_expression_t *parts[MOST_PARTS];
   uint32_t found = 0;
   bool good = true;
   size_t first = 0, last = length;
   trim(text, &first, &last);
   *list = NULL;
   *count = 0;
   if (first == last)
      return true;
   for (size_t start = 0, end; start <= length; start = end + 1) {
      rkb_place_t at = place;
      at.column += (uint32_t)start;
      end = part_end(text, start, length);
      if (found == MOST_PARTS) {
         rkb_problem(problems, at, "a list has at most %u parts", MOST_PARTS);
         return false;
      }
      size_t part_first = start, part_last = end;
      trim(text, &part_first, &part_last);
      if (part_first == part_last) {
         rkb_problem(problems, at, "an expression is missing %s",
                     end < length ? "before this comma" : "after the comma");
         parts[found] = NULL;
      } else {
         parts[found] = rkb_expression_parse(arena, text + start, end - start, at, problems);
      }
      good = good && parts[found];
      found++;
   }
   if (!good)
      return false;
   *list = rkb_arena_array(arena, found, sizeof **list);
   memcpy(*list, parts, found * sizeof *parts);
   *count = found;
   return true;
}

void rkb_expression_names(const rkb_expression_t *expression, void (*visit)(void *argument, const char *name),
                          void *argument) {
   for (uint32_t i = 0; i < expression->name_count; i++)
      visit(argument, expression->names[i]);
}

const char *rkb_expression_text(const rkb_expression_t *expression) {
   return expression->text;
}

rkb_place_t rkb_expression_place(const rkb_expression_t *expression) {
   return expression->place;
}
