/* Draws the blocks of a sample (block_sample.h). */
#include "block_kinds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ATTEMPTS 8       /* at a block that is not in the list yet */
#define DRAWN_FIRST 8u   /* drawn blocks that come before the classes of positions, which the ends mostly stand for */
#define MOST_OF_KINDS 4u /* counted blocks that are there for their kind */
#define MOST_SAMPLED (1024 + MOST_OF_KINDS + 2 + POSITION_CLASSES + MOST_DRAWN + MOST_CHOSEN_BY_KIND)

/* Positions ---------------------------------------------------------------------------------------------------------- */

enum { FIRST, BETWEEN, LAST };

static uint32_t part_of(uint32_t extent, uint32_t at) {
   return at == 0 ? FIRST : at == extent - 1 ? LAST : BETWEEN;
}

static uint32_t parts_of(uint32_t extent) {
   return extent > 2   ? 1u << FIRST | 1u << BETWEEN | 1u << LAST
          : extent > 1 ? 1u << FIRST | 1u << LAST
                       : 1u << FIRST;
}

uint32_t sample_class(const uint32_t grid[3], uint64_t block) {
   const uint32_t x = (uint32_t)(block % grid[0]), y = (uint32_t)(block / grid[0] % grid[1]),
                  z = (uint32_t)(block / grid[0] / grid[1]);
   return part_of(grid[0], x) + 3 * part_of(grid[1], y) + 9 * part_of(grid[2], z);
}

uint32_t sample_classes(const uint32_t grid[3]) {
   uint32_t classes = 0;
   for (uint32_t c = 0; c < POSITION_CLASSES; c++)
      if ((parts_of(grid[0]) >> c % 3 & 1) && (parts_of(grid[1]) >> c / 3 % 3 & 1) &&
          (parts_of(grid[2]) >> c / 9 & 1))
         classes |= 1u << c;
   return classes;
}

void sample_class_name(const uint32_t grid[3], uint32_t position, char *name, size_t size) {
   static const char *const parts[] = {"first", "between", "last"};
   static const char axes[] = "xyz";
   int used = 0;
   name[0] = '\0';
   for (uint32_t d = 0, left = position; d < 3; d++, left /= 3)
      if (grid[d] > 1 && used < (int)size)
         used += snprintf(name + used, size - (size_t)used, "%s%s in %c", used ? ", " : "", parts[left % 3],
                          axes[d]);
   if (!used)
      snprintf(name, size, "the only one");
}

/* Some block of the class. */
static uint64_t draw_of_class(const struct verifier *me, const uint32_t grid[3], uint32_t position,
                              rkb_random_t *stream) {
   uint64_t at[3];
   for (uint32_t d = 0, left = position; d < 3; d++, left /= 3)
      at[d] = left % 3 == FIRST  ? 0
              : left % 3 == LAST ? grid[d] - 1
                                 : 1 + me->random->below(stream, grid[d] - 2);
   return (at[2] * grid[1] + at[1]) * grid[0] + at[0];
}

/* Lists -------------------------------------------------------------------------------------------------------------- */

static bool has(const struct sampled_launch *list, uint64_t block) {
   for (uint32_t n = 0; n < list->count; n++)
      if (list->numbers[n] == block)
         return true;
   return false;
}

static void add(struct sampled_launch *list, const uint32_t grid[3], uint64_t block, bool drawn) {
   if (has(list, block))
      return;
   list->numbers[list->count] = block;
   list->classes[list->count] = sample_class(grid, block);
   list->drawn[list->count++] = drawn;
}

/* One of each of as many equal parts of the grid, at places that all candidates of the run share; the middle one first, then the ends: a
 * budget cuts off the last ones, which tell least. */
static void add_counted(const struct verifier *me, struct sampled_launch *list, const uint32_t grid[3],
                        uint64_t most, rkb_random_t *stream) {
   const uint64_t count = most < list->total ? most : list->total;
   for (uint64_t n = 0; n < count; n++) {
      const uint64_t middle = count / 2, part = n == 0           ? middle
                                                : n == 1         ? 0
                                                : n == 2         ? count - 1
                                                : n - 2 < middle ? n - 2
                                                                 : n - 1;
      const double place = ((double)part + me->random->real(stream)) / (double)count;
      const uint64_t block = (uint64_t)(place * (double)list->total);
      add(list, grid, block < list->total ? block : list->total - 1, false);
   }
   list->counted = list->spread = list->count;
}

/* One block of each kind that is many and has none yet: a few heavy blocks beside a thousand light ones decide how long a launch takes.  Their places are drawn for the run, as
 * those of the other counted blocks.  The blocks of a
 * cluster are executed together, and their counts are not told apart. */
static void add_kinds(const struct verifier *me, block_kinds_t *kinds_of_grid,
                      const rkb_plan_launch_t *launch, struct sampled_launch *list, rkb_random_t *stream) {
   uint64_t block;
   if (launch->cluster[0] * launch->cluster[1] * launch->cluster[2] != 1)
      return;
   for (uint32_t n = 0;
        n < MOST_OF_KINDS && block_kinds_lacks_kind(kinds_of_grid, list, me->random->real(stream), &block);
        n++)
      add(list, launch->grid, block, false);
   list->counted = list->count;
   list->kind_count = block_kinds_count(kinds_of_grid, list, list->kinds, list->kind_blocks);
}

/* The first block and the last one, whatever the budget: in them is each axis's first and last part. */
static void add_ends(struct sampled_launch *list, const uint32_t grid[3]) {
   add(list, grid, 0, false);
   add(list, grid, list->total - 1, false);
   list->sure = list->count - list->counted;
}

static uint32_t classes_in(const struct sampled_launch *list) {
   uint32_t classes = 0;
   for (uint32_t n = 0; n < list->count; n++)
      classes |= 1u << list->classes[n];
   return classes;
}

/* One of each class that has none yet, in an order of the candidate's own. */
static void add_classes(const struct verifier *me, struct sampled_launch *list, const uint32_t grid[3],
                        rkb_random_t *stream) {
   uint32_t order[POSITION_CLASSES], count = 0;
   for (uint32_t left = sample_classes(grid) & ~classes_in(list); left; left &= left - 1)
      order[count++] = (uint32_t)__builtin_ctz(left);
   for (; count; count--) {
      const uint32_t n = (uint32_t)me->random->below(stream, count);
      add(list, grid, draw_of_class(me, grid, order[n], stream), false);
      order[n] = order[count - 1];
   }
}

/* One of each kind of blocks that the kernel tells apart and the list has none of. */
static void add_chosen_by_kind(block_kinds_t *kinds_of_grid, const rkb_plan_launch_t *launch,
                               struct sampled_launch *list) {
   uint64_t blocks[MOST_CHOSEN_BY_KIND];
   uint32_t of_threads;
   const uint32_t count = block_kinds_choose(kinds_of_grid, list, blocks, &of_threads);
   for (uint32_t n = 0; n < count; n++) {
      add(list, launch->grid, blocks[n], false);
      list->told[list->count - 1] = n >= of_threads && list->numbers[list->count - 1] == blocks[n];
   }
}

/* Any block that is not in the list, each as likely. */
static void add_drawn(const struct verifier *me, struct sampled_launch *list, const uint32_t grid[3],
                      uint32_t most, rkb_random_t *stream) {
   for (uint32_t n = 0; n < most; n++) {
      uint64_t block = me->random->below(stream, list->total);
      for (int attempt = 0; has(list, block) && attempt < ATTEMPTS; attempt++)
         block = me->random->below(stream, list->total);
      add(list, grid, block, true);
   }
}

static bool draw_launch(const struct verifier *me, const struct candidate *candidate,
                        const rkb_plan_launch_t *launch, uint32_t number, uint32_t case_index, uint32_t drawn,
                        struct sampled_launch *list) {
   const uint32_t *grid = launch->grid;
   rkb_random_t shared =
                   me->random->for_job(me->host, candidate->job,
                                       RKB_RANDOM_OF_RUN | STREAM_COUNTED | number << 8 | case_index << 16),
                own = me->random->for_job(me->host, candidate->job,
                                          STREAM_BLOCKS | number << 8 | case_index << 16),
                told = me->random->for_job(me->host, candidate->job,
                                           STREAM_KINDS | number << 8 | case_index << 16);
   list->total = (uint64_t)grid[0] * grid[1] * grid[2];
   list->numbers = calloc(MOST_SAMPLED, sizeof *list->numbers);
   list->classes = calloc(MOST_SAMPLED, sizeof *list->classes);
   list->drawn = calloc(MOST_SAMPLED, sizeof *list->drawn);
   list->told = calloc(MOST_SAMPLED, sizeof *list->told);
   list->kinds = calloc(MOST_SAMPLED, sizeof *list->kinds);
   if (!list->numbers || !list->classes || !list->drawn || !list->told || !list->kinds)
      return false;
   if (list->total == 0)
      return true;
   block_kinds_t *kinds_of_grid = block_kinds_open(me, candidate, launch, &told);
   if (!kinds_of_grid)
      return false;
   add_counted(me, list, grid, (uint64_t)me->config->bench_blocks, &shared);
   add_kinds(me, kinds_of_grid, launch, list, &shared);
   add_drawn(me, list, grid, 1, &own); /* one whatever the budget */
   add_ends(list, grid);
   add_chosen_by_kind(kinds_of_grid, launch, list);
   add_drawn(me, list, grid, drawn < DRAWN_FIRST ? drawn - 1 : DRAWN_FIRST - 1, &own);
   add_classes(me, list, grid, &own);
   add_drawn(me, list, grid, drawn < DRAWN_FIRST ? 0 : drawn - DRAWN_FIRST, &own);
   block_kinds_close(kinds_of_grid);
   return true;
}

int block_sample_draw(const struct verifier *me, const struct candidate *candidate, const rkb_plan_t *plan,
                      uint32_t case_index, uint32_t drawn, struct block_sample *sample, rkb_error_t *err) {
   const uint32_t count = plan->launch_count;
   *sample = (struct block_sample){.launches = calloc(count + 1, sizeof *sample->launches),
                                   .counted = calloc(count + 1, sizeof *sample->counted),
                                   .judged = calloc(count + 1, sizeof *sample->judged),
                                   .launch_count = count};
   bool made = sample->launches && sample->counted && sample->judged;
   for (uint32_t n = 0; made && n < count; n++) {
      struct sampled_launch *list = &sample->launches[n];
      made = draw_launch(me, candidate, &plan->launches[n], n, case_index, drawn, list);
      sample->counted[n] = (rkb_machine_blocks_t){.numbers = list->numbers,
                                                  .count = list->counted,
                                                  .kinds = list->kinds,
                                                  .kind_blocks = list->kind_blocks,
                                                  .kind_count = list->kind_count};
      sample->judged[n] = sample->counted[n];
      sample->judged[n].count = list->count;
      sample->judged[n].least = list->counted + list->sure;
   }
   return made ? RKB_OK : rkb_fail(err, RKB_ERR_NOMEM, "no memory for the list of sampled blocks");
}

void block_sample_keep(struct block_sample *sample, const rkb_plan_t *plan,
                       const rkb_machine_report_t *counted) {
   for (uint32_t n = 0; n < counted->launch_count && n < sample->launch_count; n++) {
      const rkb_launch_counters_t *c = &counted->launches[n];
      if (c->launch >= sample->launch_count)
         continue;
      struct sampled_launch *list = &sample->launches[c->launch];
      const uint32_t places = sample_executed_places(plan, c),
                     kept = places < list->counted ? places : list->counted, left_out = list->counted - kept;
      /* Counted blocks that the budget cut off are as good as any others: they leave the list, and the drawn ones move up. */
      memmove(list->numbers + kept, list->numbers + list->counted,
              (list->count - list->counted) * sizeof *list->numbers);
      memmove(list->classes + kept, list->classes + list->counted,
              (list->count - list->counted) * sizeof *list->classes);
      memmove(list->drawn + kept, list->drawn + list->counted,
              (list->count - list->counted) * sizeof *list->drawn);
      memmove(list->told + kept, list->told + list->counted,
              (list->count - list->counted) * sizeof *list->told);
      list->counted = kept;
      list->spread = kept < list->spread ? kept : list->spread;
      list->count -= left_out;
      sample->judged[c->launch] =
         (rkb_machine_blocks_t){.numbers = list->numbers, .count = list->count, .least = kept + list->sure};
   }
}

void block_sample_keep_drawn(struct block_sample *sample, uint32_t launch) {
   struct sampled_launch *list = &sample->launches[launch];
   uint32_t kept = 0;
   for (uint32_t n = 0; n < list->count; n++)
      if (list->drawn[n]) {
         list->numbers[kept] = list->numbers[n];
         list->classes[kept] = list->classes[n];
         list->told[kept] = list->told[n];
         list->drawn[kept++] = true;
      }
   list->count = kept;
   list->counted = list->sure = list->spread = 0;
   sample->judged[launch] = (rkb_machine_blocks_t){.numbers = list->numbers, .count = kept, .none = kept == 0};
}

void block_sample_free(struct block_sample *sample) {
   for (uint32_t n = 0; sample->launches && n < sample->launch_count; n++) {
      free(sample->launches[n].numbers);
      free(sample->launches[n].classes);
      free(sample->launches[n].drawn);
      free(sample->launches[n].told);
      free(sample->launches[n].kinds);
   }
   free(sample->launches);
   free(sample->counted);
   free(sample->judged);
   *sample = (struct block_sample){.launches = NULL};
}

/* (1 - wrong / blocks)^drawn < MISSED; drawing without repetition finds more. */
uint64_t sample_missed(uint64_t blocks, uint64_t drawn) {
   if (drawn == 0)
      return blocks;
   const double wrong = ceil((double)blocks * (1 - pow(MISSED, 1.0 / (double)drawn)));
   return wrong < (double)blocks ? (uint64_t)wrong : blocks;
}
