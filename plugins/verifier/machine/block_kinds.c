/* Blocks that the candidate itself tells apart by their places in the grid (block_kinds.h). */
#include "block_kinds.h"

#include <stdlib.h>
#include <string.h>

#define MOST_STEPS                                                                                           \
   UINT64_C(131072) /* instructions that are followed for a launch: about a millisecond; half for threads */
#define MOST_NAMED 24u     /* numbers in the kernel at which blocks are looked at first */
#define ROOM 256u          /* outcomes that are told apart, a power of two */
#define MOST_OF_THREADS 4u /* blocks that are added for what only some of their threads do */
#define SELDOM 64u   /* and only if fewer than one block of so many does it: drawn blocks have the rest */
#define MOST_TRIED 64u /* blocks that are looked at to find one of a kind inside its range */
#define UNKNOWN 0.09 /* share of a grid's blocks: if more are of uncounted kinds, kinds are not weighed */

struct kind {
   uint64_t outcomes, block;
   uint32_t count; /* blocks that were seen with it; 0: an empty place */
   uint32_t
      around; /* of these, blocks that were looked at one after the other through the grid; they tell the kind's share of the grid */
   uint64_t least, greatest; /* numbers of these blocks */
   bool taken;               /* the sample has one, or it was chosen */
};

struct block_kinds {
   const struct verifier *me;
   rkb_random_t *stream;
   const rkb_plan_launch_t *launch;
   rkb_machine_conditions_t *conditions;
   uint64_t total, looked; /* blocks of the grid, and how many were looked at one after the other */
   struct kind seen[ROOM]; /* by hash */
   uint32_t used, steps;
   bool of_threads; /* what threads of a block do not decide alike */
};

/* The place of the block's kind, which may be empty. */
static struct kind *place_of(block_kinds_t *search, uint64_t block, uint64_t *outcomes) {
   const uint32_t *grid = search->launch->grid;
   *outcomes = rkb_machine_block_outcomes(search->conditions, search->launch,
                                          (uint32_t[]){(uint32_t)(block % grid[0]),
                                                       (uint32_t)(block / grid[0] % grid[1]),
                                                       (uint32_t)(block / grid[0] / grid[1])},
                                          search->of_threads);
   uint32_t place = (uint32_t)*outcomes % ROOM;
   while (search->seen[place].count && search->seen[place].outcomes != *outcomes)
      place = (place + 1) % ROOM;
   return &search->seen[place];
}

static struct kind *look_at(block_kinds_t *search, uint64_t block) {
   uint64_t outcomes;
   struct kind *found = place_of(search, block, &outcomes);
   if (!found->count && search->used == ROOM / 2)
      return NULL;
   if (!found->count) {
      *found = (struct kind){.outcomes = outcomes, .block = block};
      search->used++;
   }
   found->count++;
   return found;
}

/* Conditions compare with numbers: block 5,000,000 of a large grid is found at the number that the kernel names. */
static uint64_t look_at_named(block_kinds_t *search, uint64_t total) {
   uint64_t number, looked = 0;
   for (uint32_t n = 0; n < MOST_NAMED && rkb_machine_block_conditions_number(search->conditions, n, &number);
        n++)
      for (uint64_t block = number - 1; block != number + 2; block++)
         if (block < total) {
            (void)look_at(search, block);
            looked++;
         }
   uint32_t at[3];
   for (uint32_t n = 0; search->of_threads && n < MOST_NAMED &&
                        rkb_machine_block_conditions_meet(search->conditions, search->launch, n, at);
        n++) {
      const uint64_t middle =
         ((uint64_t)at[2] * search->launch->grid[1] + at[1]) * search->launch->grid[0] + at[0];
      for (uint64_t block = middle - 1; block != middle + 2; block++)
         if (block < total) {
            (void)look_at(search, block);
            looked++;
         }
   }
   return looked;
}

static uint64_t common_divisor(uint64_t a, uint64_t b) {
   while (b) {
      const uint64_t rest = a % b;
      a = b;
      b = rest;
   }
   return a;
}

/* All blocks of a small grid; of a large one as many as the budget allows, in a step that has no divisor with it. */
static void look_around(block_kinds_t *search, uint64_t total, uint64_t most, uint64_t first, uint64_t step) {
   while (common_divisor(step, total) != 1)
      step++;
   for (uint64_t n = 0, block = first % total; n < most && n < total; n++, block = (block + step) % total) {
      struct kind *seen = look_at(search, block);
      if (!seen)
         continue;
      seen->least = seen->around && seen->least < block ? seen->least : block;
      seen->greatest = seen->greatest > block ? seen->greatest : block;
      seen->around++;
   }
   search->looked = most < total ? most : total;
}

/* The rarest kinds without a block in the sample.  A drawn block decides what most blocks decide, so frequent kinds need no block of their own. */
static struct kind *rarest(block_kinds_t *search, uint64_t most) {
   struct kind *best = NULL;
   for (uint32_t n = 0; n < ROOM; n++) {
      struct kind *seen = &search->seen[n];
      if (seen->count && seen->count <= most && !seen->taken &&
          (!best || seen->count < best->count || (seen->count == best->count && seen->block < best->block)))
         best = seen;
   }
   return best;
}

/* Looks for what is decided by blocks, or by some threads of a block. */
static void look(block_kinds_t *search, bool of_threads) {
   memset(search->seen, 0, sizeof search->seen);
   search->used = 0;
   search->of_threads = of_threads;
   search->steps = rkb_machine_block_conditions_launch(search->conditions, search->launch, of_threads);
   if (search->steps == 0)
      return;
   const uint64_t budget = MOST_STEPS / (of_threads ? 2 : 1) / search->steps,
                  looked = look_at_named(search, search->total), more = budget > looked ? budget - looked : 0;
   const uint64_t step = 1 + search->me->random->below(search->stream, search->total),
                  first = search->me->random->below(search->stream, search->total);
   look_around(search, search->total, more, first, step);
}

/* Adds to the blocks until there are so many. */
static uint32_t choose(block_kinds_t *search, const struct sampled_launch *list, uint64_t *blocks,
                       uint32_t found, uint32_t until) {
   if (search->steps == 0)
      return found;
   for (uint32_t n = 0; n < list->count + found; n++) {
      struct kind *own = look_at(search, n < list->count ? list->numbers[n] : blocks[n - list->count]);
      if (own)
         own->taken = true;
   }
   const uint64_t most = search->of_threads ? search->looked / SELDOM + 1 : UINT64_MAX;
   for (struct kind *next; found < until && (next = rarest(search, most)) != NULL; found++) {
      next->taken = true;
      blocks[found] = next->block;
   }
   return found;
}

block_kinds_t *block_kinds_open(const struct verifier *me, const struct candidate *candidate,
                                const rkb_plan_launch_t *launch, rkb_random_t *stream) {
   block_kinds_t *search = calloc(1, sizeof *search);
   if (!search)
      return NULL;
   search->me = me;
   search->stream = stream;
   search->launch = launch;
   search->total = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
   search->conditions = rkb_machine_block_conditions_new(candidate->module, launch->entry);
   if (search->conditions)
      look(search, false);
   return search;
}

void block_kinds_close(block_kinds_t *search) {
   if (search)
      rkb_machine_conditions_free(search->conditions);
   free(search);
}

/* A block of the kind in the middle half of its range, as `place` from 0 to 1 says.  It is the same for all candidates whose grids are alike, so that their
 * predictions can be compared.  The last parts of a split sum may be empty, and an empty block tells nothing about the time of the others. */
static uint64_t middle_of(block_kinds_t *search, const struct kind *kind, double place) {
   const uint64_t middle =
      kind->least + (uint64_t)((0.25 + place / 2) * (double)(kind->greatest - kind->least));
   uint64_t outcomes;
   for (uint64_t n = 0; n < MOST_TRIED && middle + n <= kind->greatest; n++)
      if (place_of(search, middle + n, &outcomes) == kind)
         return middle + n;
   return kind->block;
}

bool block_kinds_lacks_kind(block_kinds_t *search, const struct sampled_launch *list, double place,
                            uint64_t *block) {
   const struct kind *most = NULL;
   uint64_t outcomes;
   if (!search->conditions || search->steps == 0)
      return false;
   for (uint32_t n = 0; n < ROOM; n++) {
      const struct kind *seen = &search->seen[n];
      if (!seen->count || !seen->around || (most && seen->around <= most->around))
         continue;
      bool has = false;
      for (uint32_t l = 0; l < list->count && !has; l++)
         has = place_of(search, list->numbers[l], &outcomes) == seen;
      if (!has)
         most = seen;
   }
   if (most)
      *block = middle_of(search, most, place);
   return most != NULL;
}

uint32_t block_kinds_count(block_kinds_t *search, const struct sampled_launch *list, uint8_t *kinds,
                           uint64_t *kind_blocks) {
   const struct kind *known[MOST_KINDS];
   uint64_t outcomes, others = 0;
   uint32_t count = 0;
   if (!search->conditions || search->steps == 0 || !search->looked)
      return 0;
   for (uint32_t n = 0; n < list->counted; n++) {
      const struct kind *own = place_of(search, list->numbers[n], &outcomes);
      uint32_t k = 0;
      while (k < count && known[k] != own)
         k++;
      if (k == MOST_KINDS || !own->around)
         return 0;
      known[k] = own;
      count = k == count ? count + 1 : count;
      kinds[n] = (uint8_t)k;
   }
   for (uint32_t n = 0; n < ROOM; n++)
      others += search->seen[n].around;
   for (uint32_t k = 0; k < count; k++) {
      kind_blocks[k] =
         (uint64_t)((double)known[k]->around / (double)search->looked * (double)search->total + 0.5);
      others -= known[k]->around;
   }
   /* Blocks that were not counted, or had no place: their weight is unknown. */
   return count > 1 && (double)others < UNKNOWN * (double)search->looked ? count : 0;
}

uint32_t block_kinds_choose(block_kinds_t *search, const struct sampled_launch *list,
                            uint64_t blocks[MOST_CHOSEN_BY_KIND], uint32_t *of_threads) {
   if (!search->conditions)
      return *of_threads = 0;
   uint32_t found = *of_threads = choose(search, list, blocks, 0, MOST_CHOSEN_BY_KIND - MOST_OF_THREADS);
   look(search, true);
   return choose(search, list, blocks, found, found + MOST_OF_THREADS);
}
