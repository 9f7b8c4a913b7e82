/* Which values are whole numbers (whole_numbers.h).  Pure functions; any thread. */
#include "reference/operations/whole_numbers.h"

#include <math.h>
#include <string.h>
#include "base/name_table.h"
#include "reference/dtype.h"

#define MOST_STEPS 32u /* nodes that one call looks at */

static bool is_one_of(const char *name, const char *const *names) {
   while (*names && !rkb_same_name(*names, name))
      names++;
   return *names != NULL;
}

static const char *const truths[] = {"greater",
                                     "greater_equal",
                                     "less",
                                     "less_equal",
                                     "equal",
                                     "greater_scalar",
                                     "greater_equal_scalar",
                                     "less_scalar",
                                     "less_equal_scalar",
                                     "equal_scalar",
                                     "inside",
                                     NULL};
static const char *const keeping[] = {"mul", "add", "sub", "cat", "sum", "cumulative_sum", NULL};

static bool is_whole(const rkb_program_t *program, uint32_t value, uint32_t *steps) {
   if (!rkb_dtype_is_float(program->values[value].dtype))
      return true;
   if (program->values[value].node < 0 || ++*steps > MOST_STEPS)
      return false;
   const rkb_program_node_t *node = &program->nodes[program->values[value].node];
   const char *name = node->operation->name;
   if (is_one_of(name, truths))
      return true;
   if (rkb_same_name(name, "arange")) /* also a constant */
      return node->reals[0] == nearbyint(node->reals[0]) && node->reals[1] == nearbyint(node->reals[1]);
   bool whole = node->operation->moves || node->operation->converts || is_one_of(name, keeping);
   for (uint32_t i = 0; i < node->input_count && whole; i++)
      whole = is_whole(program, node->inputs[i], steps);
   return whole && node->input_count > 0;
}

bool rkb_is_whole(const rkb_program_t *program, uint32_t value) {
   uint32_t steps = 0;
   return is_whole(program, value, &steps);
}
