/* Any bytes as an expression and as a list of them: parsed and evaluated, or one problem with a place inside
 * the text. */
#include <stdlib.h>
#include <string.h>

#include "base/expression.h"

static bool look_up(void *seed, const char *name, rkb_value_t *value) {
   uint8_t mixed = *(const uint8_t *)seed;
   for (; *name; name++)
      mixed = (uint8_t)(mixed * 31u + (uint8_t)*name);
   *value = (rkb_value_t){
      .is_real = mixed % 4 == 0, .real = mixed - 100.5, .integer = mixed % 5 ? mixed - 7 : INT64_MIN};
   return mixed % 9 != 0;
}

static void count(void *counter, const char *name) {
   *(size_t *)counter += strlen(name);
}

static void use(const rkb_expression_t *expression, uint8_t seed) {
   char message[64]; /* small, so that messages are cut */
   rkb_value_t value;
   size_t names = 0;
   int64_t integer;
   enum rkb_fault fault =
      rkb_expression_evaluate(expression, look_up, &seed, &value, message, sizeof message);
   if ((fault == RKB_FAULT_NONE) != (message[0] == '\0'))
      abort();
   rkb_expression_integer(expression, look_up, &seed, &integer, message, sizeof message);
   rkb_expression_names(expression, count, &names);
   if (names > 4096 || !rkb_expression_text(expression))
      abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
   const rkb_place_t place = {"f", 1, 1};
   rkb_arena_t *arena = rkb_arena_new(64u << 20);
   rkb_problems_t problems;
   rkb_expression_t **list;
   uint32_t parts;
   rkb_problems_init(&problems);
   rkb_expression_t *expression = rkb_expression_parse(arena, (const char *)data, size, place, &problems);
   if ((expression == NULL) != (problems.errors == 1) || (!expression && problems.list[0].column > size + 1))
      abort();
   if (expression)
      use(expression, (uint8_t)size);
   uint32_t errors = problems.errors;
   bool good = rkb_expression_list(arena, (const char *)data, size, place, &list, &parts, &problems);
   if (good != (problems.errors == errors))
      abort();
   for (uint32_t i = 0; good && i < parts; i++)
      use(list[i], (uint8_t)i);
   rkb_problems_free(&problems);
   rkb_arena_free(arena);
   return 0;
}
