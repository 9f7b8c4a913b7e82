/* Copies the candidates that the strategy was told of, and orders them. */
#include "shared/individual.h"
#include <string.h>

static enum standing standing_of(const char *name) {
   if (name && strcmp(name, "accept") == 0)
      return STANDING_ACCEPT;
   if (name && strcmp(name, "suspect") == 0)
      return STANDING_SUSPECT;
   return name && strcmp(name, "reject") == 0 ? STANDING_REJECT : STANDING_UNKNOWN;
}

individual_t individual_of(const rkb_told_t *told) {
   return (individual_t){told->number, standing_of(told->standing), told->has_objective,
                         told->has_objective ? told->objective : 0};
}

bool individual_is_viable(const rkb_told_t *told) {
   return told->duplicate_of == 0 && standing_of(told->standing) != STANDING_REJECT;
}

int individual_compare(const individual_t *left, const individual_t *right) {
   if (left->standing != right->standing)
      return left->standing < right->standing ? -1 : 1;
   if (left->has_objective != right->has_objective)
      return left->has_objective ? -1 : 1;
   if (left->has_objective && left->objective != right->objective)
      return left->objective < right->objective ? -1 : 1;
   if (left->number != right->number)
      return left->number < right->number ? -1 : 1;
   return 0;
}
