/* Blocks that the candidate itself tells apart by their places in the grid (telling_blocks.h). */
#include "telling_blocks.h"

#include <stdlib.h>
#include <string.h>

#define MOST_STEPS                                                                                           \
   UINT64_C(131072) /* instructions that are followed for a launch: about a millisecond; half for threads */
#define MOST_NAMED 24u     /* numbers in the kernel at which blocks are looked at first */
#define ROOM 256u          /* outcomes that are told apart, a power of two */
#define MOST_OF_THREADS 4u /* blocks that are taken for what some of their threads do */
#define SELDOM 64u /* and then for what is seen in fewer than one of so many: drawn blocks have the rest */

struct kind {
   uint64_t outcomes, block;
   uint32_t count; /* blocks that were seen with it; 0: an empty place */
   bool taken;     /* the sample has one, or it was chosen */
};

struct search {
   const rkb_plan_launch_t *launch;
   rkb_machine_conditions_t *conditions;
   struct kind *seen; /* by hash, ROOM places */
   uint32_t used;
   bool of_threads; /* what threads of a block do not decide alike */
};

static struct kind *look_at(struct search *search, uint64_t block) {
   const uint32_t *grid = search->launch->grid;
   const uint64_t outcomes = rkb_machine_block_outcomes(search->conditions, search->launch,
                                                        (uint32_t[]){(uint32_t)(block % grid[0]),
                                                                     (uint32_t)(block / grid[0] % grid[1]),
                                                                     (uint32_t)(block / grid[0] / grid[1])},
                                                        search->of_threads);
   uint32_t place = (uint32_t)outcomes % ROOM;
   while (search->seen[place].count && search->seen[place].outcomes != outcomes)
      place = (place + 1) % ROOM;
   struct kind *found = &search->seen[place];
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
static uint64_t look_at_named(struct search *search, uint64_t total) {
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
static void look_around(struct search *search, uint64_t total, uint64_t most, uint64_t first, uint64_t step) {
   while (common_divisor(step, total) != 1)
      step++;
   for (uint64_t n = 0, block = first % total; n < most && n < total; n++, block = (block + step) % total)
      (void)look_at(search, block);
}

/* The rarest of those without a block in the sample: what most blocks decide a drawn one decides too. */
static struct kind *rarest(struct search *search, uint64_t most) {
   struct kind *best = NULL;
   for (uint32_t n = 0; n < ROOM; n++) {
      struct kind *seen = &search->seen[n];
      if (seen->count && seen->count <= most && !seen->taken &&
          (!best || seen->count < best->count || (seen->count == best->count && seen->block < best->block)))
         best = seen;
   }
   return best;
}

/* Adds to the blocks until there are so many. */
static uint32_t search_kinds(const struct verifier *me, struct search *search,
                             const struct sampled_launch *list, rkb_random_t *stream, uint64_t *blocks,
                             uint32_t found, uint32_t until) {
   const uint32_t steps =
      rkb_machine_block_conditions_launch(search->conditions, search->launch, search->of_threads);
   if (steps == 0)
      return found;
   const uint64_t budget = MOST_STEPS / (search->of_threads ? 2 : 1) / steps,
                  looked = look_at_named(search, list->total), more = budget > looked ? budget - looked : 0;
   look_around(search, list->total, more, me->random->below(stream, list->total),
               1 + me->random->below(stream, list->total));
   for (uint32_t n = 0; n < list->count + found; n++) {
      struct kind *own = look_at(search, n < list->count ? list->numbers[n] : blocks[n - list->count]);
      if (own)
         own->taken = true;
   }
   const uint64_t seen = more < list->total ? more : list->total,
                  most = search->of_threads ? seen / SELDOM + 1 : UINT64_MAX;
   for (struct kind *next; found < until && (next = rarest(search, most)) != NULL; found++) {
      next->taken = true;
      blocks[found] = next->block;
   }
   return found;
}

uint32_t telling_blocks(const struct verifier *me, const struct candidate *candidate,
                        const rkb_plan_launch_t *launch, const struct sampled_launch *list,
                        rkb_random_t *stream, uint64_t blocks[MOST_TELLING], uint32_t *of_threads) {
   struct search search = {.launch = launch,
                           .conditions = rkb_machine_block_conditions_new(candidate->module, launch->entry),
                           .seen = calloc(ROOM, sizeof *search.seen)};
   uint32_t found = *of_threads = 0;
   if (search.conditions && search.seen) {
      found = search_kinds(me, &search, list, stream, blocks, 0, MOST_TELLING - MOST_OF_THREADS);
      *of_threads = found;
      memset(search.seen, 0, ROOM * sizeof *search.seen);
      search.used = 0;
      search.of_threads = true;
      found = search_kinds(me, &search, list, stream, blocks, found, found + MOST_OF_THREADS);
   }
   free(search.seen);
   rkb_machine_conditions_free(search.conditions);
   return found;
}
