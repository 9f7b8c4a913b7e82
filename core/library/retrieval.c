/* Nearness of elites (retrieval.h). */
#include "library/retrieval.h"

#include <string.h>

double rkb_elite_likeness(const rkb_elite_t *one, const rkb_elite_t *other) {
   uint32_t i = 0, j = 0, both = 0, either = 0;
   while (i < one->operation_count || j < other->operation_count) {
      const int order = i == one->operation_count     ? 1
                        : j == other->operation_count ? -1
                                                      : strcmp(one->operations[i], other->operations[j]);
      both += order == 0;
      either++;
      i += order <= 0;
      j += order >= 0;
   }
   const double alike = either ? (double)both / either : 0;
   return strcmp(one->direction, other->direction) == 0 ? alike : alike / 2;
}

/* Negative when the first of two entries has what was wanted and the second has not. */
static int has_first(const char *wanted, const char *first, const char *second) {
   return wanted[0] ? (strcmp(wanted, second) == 0) - (strcmp(wanted, first) == 0) : 0;
}

int rkb_elite_compare(const rkb_elite_t *like, const rkb_elite_t *first, const rkb_elite_t *second) {
   const double near = rkb_elite_likeness(like, first), far = rkb_elite_likeness(like, second);
   int order = (near < far) - (near > far);
   if (!order)
      order = has_first(like->limiter, first->limiter, second->limiter);
   if (!order)
      order = has_first(like->device, first->device, second->device);
   if (!order)
      order = has_first(like->task_hash, first->task_hash, second->task_hash);
   if (!order && strcmp(first->task_hash, second->task_hash) == 0 && strcmp(first->objective, second->objective) == 0)
      order = (first->score > second->score) - (first->score < second->score);
   return order ? order : strcmp(first->identity, second->identity);
}
