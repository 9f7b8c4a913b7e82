/* The drawn shapes that are also executed on the family "peaks" (task/families.c).
 *
 * A search for the largest element of a row that leaves elements out goes wrong only in a row whose largest element is one of those, which may be one row in
 * 257.  The check cases have few long rows, and each drawn shape is executed on one family that is drawn for it.  So two shapes are executed on this family
 * too: the shape that shows most of loops by which a warp goes through a row, and the shape that shows most of loops of a block.  If a shape has few rows, it
 * is executed on several seeds of the family.  One thread. */
#include "verifier.h"

#include <string.h>

#define ENOUGH_ROWS 64u
#define MOST_SEEDS 4u
#define OF_A_WARP 32u
#define OF_A_BLOCK 256u

static bool has_peaks(const struct verifier *me, const rkb_case_t *the_case) {
   const rkb_family_t *family;
   bool has = false;
   for (uint32_t n = 0;
        !has && n < MOST_FAMILIES && (family = me->task->family_at(me->host, the_case, n)) != NULL; n++)
      has = strcmp(family->name, "peaks") == 0;
   return has;
}

/* How many rows an input has at most whose rows have more elements than that; *length: the elements of a row there. */
static uint64_t rows_of(const rkb_case_t *the_case, uint64_t longer_than, uint64_t *length) {
   uint64_t most = 0;
   for (uint32_t n = 0; n < the_case->tensor_count; n++) {
      const rkb_tensor_t *tensor = &the_case->tensors[n];
      const uint64_t elements = tensor->rank ? (uint64_t)tensor->shape[tensor->rank - 1] : 1;
      if (tensor->role == RKB_OUT || elements <= longer_than || tensor->elements / elements <= most)
         continue;
      most = tensor->elements / elements;
      *length = elements;
   }
   return most;
}

/* Peaks lie at powers of two, so the more of these a row has, the fewer lie at one of them. */
static uint32_t best_of(rkb_case_t *const *drawn, uint32_t count, uint64_t longer_than) {
   uint32_t best = UINT32_MAX;
   double most = 0;
   for (uint32_t n = 0; n < count; n++) {
      uint64_t length = 2;
      const uint64_t rows = rows_of(drawn[n], longer_than, &length);
      const double shows =
         (double)(rows < ENOUGH_ROWS ? rows : ENOUGH_ROWS) / (64 - __builtin_clzll(length - 1));
      if (rows && shows > most) {
         most = shows;
         best = n;
      }
   }
   return best;
}

void peaks_choose(const struct verifier *me, rkb_case_t *const *drawn, uint32_t count, uint32_t *seeds) {
   memset(seeds, 0, count * sizeof *seeds);
   if (!count || !has_peaks(me, drawn[0]))
      return;
   for (uint32_t loop = OF_A_WARP; loop <= OF_A_BLOCK; loop *= OF_A_BLOCK / OF_A_WARP) {
      uint64_t length;
      const uint32_t best = best_of(drawn, count, loop);
      const uint64_t rows = best < count ? rows_of(drawn[best], loop, &length) : 0;
      if (rows)
         seeds[best] = rows * MOST_SEEDS <= ENOUGH_ROWS ? MOST_SEEDS
                       : rows >= ENOUGH_ROWS            ? 1
                                                        : (uint32_t)(ENOUGH_ROWS / rows);
   }
}
