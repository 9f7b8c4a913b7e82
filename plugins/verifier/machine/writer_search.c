/* Finds which blocks of a launch write given words of a buffer, from the words that the executed blocks of a sample wrote.  If the first
 * byte that a block writes is an affine function of its index in every executed block, it is taken to be one in all blocks.  The same holds
 * where the first axis stands for two, as where tiles of pixels continue from image to image.  Otherwise there is no answer.  A wrong block
 * in the answer costs its execution.  A missing block leaves its words without a value, and the values that depend on them unjudged.  One
 * worker thread a sample. */
#include "bench_values.h"

#include <math.h>
#include <stdlib.h>

#define UNKNOWNS                                                                                             \
   5 /* the first byte of block 0, a step along each axis, and one for each turn of the first axis */
#define SINGULAR 1e-10         /* of squares of shares of a grid */
#define MOST_BLOCKS (1u << 22) /* looked through */
#define MOST_RUNS 16384u       /* of what a block writes */
#define MOST_KNOWN 128u        /* blocks whose extents are looked at */

struct extents {
   double index[3], low;
};

/* What every block writes: its first byte, and how many bytes at most up to its last.  The first axis may stand for two: x modulo turn, and x / turn. */
#define AXES 4
struct affine {
   double base, step[AXES];
   uint64_t length;
   uint32_t turn;
};

static void split(const double index[3], uint32_t turn, double axes[AXES]) {
   const uint32_t x = (uint32_t)index[0]; /* whole, and made for each block of large grids */
   axes[0] = x % turn;
   axes[1] = index[1];
   axes[2] = index[2];
   axes[3] = x / turn;
}

static double first_byte(const struct affine *affine, const double index[3]) {
   double axes[AXES], low = affine->base;
   split(index, affine->turn, axes);
   for (uint32_t d = 0; d < AXES; d++)
      low += affine->step[d] * axes[d];
   return low;
}

static void index_of(const uint32_t grid[3], uint64_t block, double index[3]) {
   index[0] = (double)(block % grid[0]);
   index[1] = (double)(block / grid[0] % grid[1]);
   index[2] = (double)(block / grid[0] / grid[1]);
}

static bool extent_of(const struct sample *s, uint32_t launch, uint32_t place, uint32_t buffer,
                      struct extents *of, uint64_t *length) {
   rkb_machine_extent_t extent;
   if (!rkb_machine_extent(s->machine, launch, place, buffer, &extent))
      return false;
   index_of(s->plan->launches[launch].grid, s->blocks.launches[launch].numbers[place], of->index);
   of->low = (double)extent.low;
   *length = extent.high - extent.low;
   return true;
}

/* Solves a system of equations; false if it leaves a wanted unknown open. */
static bool solve(double rows[UNKNOWNS][UNKNOWNS + 1], const bool asked[UNKNOWNS],
                  double solution[UNKNOWNS]) {
   bool used[UNKNOWNS] = {false}, solved = true;
   for (uint32_t c = 0; c < UNKNOWNS; c++)
      solution[c] = 0;
   uint32_t pivot_row[UNKNOWNS];
   for (uint32_t c = 0; c < UNKNOWNS; c++) {
      uint32_t best = UNKNOWNS;
      for (uint32_t r = 0; r < UNKNOWNS; r++)
         if (!used[r] && (best == UNKNOWNS || fabs(rows[r][c]) > fabs(rows[best][c])))
            best = r;
      pivot_row[c] = UNKNOWNS;
      if (best == UNKNOWNS || fabs(rows[best][c]) < SINGULAR) {
         solved &= !asked[c];
         continue;
      }
      used[best] = true;
      pivot_row[c] = best;
      for (uint32_t r = 0; r < UNKNOWNS; r++) {
         const double times = r == best ? 0 : rows[r][c] / rows[best][c];
         for (uint32_t k = 0; times != 0 && k <= UNKNOWNS; k++)
            rows[r][k] -= times * rows[best][k];
      }
   }
   for (uint32_t c = 0; c < UNKNOWNS; c++)
      solution[c] = pivot_row[c] < UNKNOWNS ? rows[pivot_row[c]][UNKNOWNS] / rows[pivot_row[c]][c] : 0;
   return solved;
}

/* What is known of the extents: of the sample, then of the probe. */
struct known {
   struct extents of[MOST_KNOWN];
   uint32_t count;
   uint64_t length;
};

static void gather(const struct sample *s, uint32_t launch, uint32_t buffer, struct known *known) {
   uint64_t length;
   for (uint32_t place = 0; s && place < s->blocks.launches[launch].count && known->count < MOST_KNOWN;
        place++)
      if (extent_of(s, launch, place, buffer, &known->of[known->count], &length)) {
         known->length = length > known->length ? length : known->length;
         known->count++;
      }
}

/* Least squares over indices from 0 to 1 and bytes from the first block's, for the sake of rounding; then rounded to whole bytes. */
static bool fit_turn(const uint32_t grid[3], const struct known *known, uint32_t turn,
                     struct affine *affine) {
   double rows[UNKNOWNS][UNKNOWNS + 1] = {{0}}, solution[UNKNOWNS], axes[AXES], scale[AXES];
   const bool asked[UNKNOWNS] = {false, turn > 1, grid[1] > 1, grid[2] > 1, turn < grid[0]};
   split((const double[3]){grid[0], grid[1], grid[2]}, turn, scale);
   scale[0] = turn;
   scale[3] = fmax(scale[3], 1);
   for (uint32_t n = 0; n < known->count; n++) {
      double terms[UNKNOWNS + 1] = {1};
      split(known->of[n].index, turn, axes);
      for (uint32_t d = 0; d < AXES; d++)
         terms[1 + d] = axes[d] / scale[d];
      terms[UNKNOWNS] = known->of[n].low - known->of[0].low;
      for (uint32_t r = 0; r < UNKNOWNS; r++)
         for (uint32_t c = 0; c <= UNKNOWNS; c++)
            rows[r][c] += terms[r] * terms[c];
   }
   if (!solve(rows, asked, solution))
      return false;
   *affine = (struct affine){.length = known->length, .turn = turn};
   for (uint32_t d = 0; d < AXES; d++)
      affine->step[d] = round(solution[1 + d] / scale[d]);
   affine->base = known->of[0].low - first_byte(affine, known->of[0].index);
   for (uint32_t n = 0; n < known->count; n++)
      if (first_byte(affine, known->of[n].index) != known->of[n].low)
         return false;
   return true;
}

/* With a turn, more blocks than unknowns have to agree. */
static bool fit(const uint32_t grid[3], const struct known *known, struct affine *affine) {
   if (!known->count)
      return false;
   bool found = fit_turn(grid, known, grid[0], affine);
   for (uint32_t turn = 2; !found && known->count > UNKNOWNS && turn <= grid[0] / 2; turn++)
      if (grid[0] % turn == 0)
         found = fit_turn(grid, known, turn, affine);
   return found;
}

/* Whether a run of words has a byte from low on, below end. */
static bool meets(const struct word_runs *words, double low, double end) {
   uint32_t from = 0, to = words->count;
   while (from < to) { /* the first run that ends behind low */
      const uint32_t middle = (from + to) / 2;
      if ((double)words->runs[middle][1] > low)
         to = middle;
      else
         from = middle + 1;
   }
   return from < words->count && (double)words->runs[from][0] < end;
}

/* What a block writes, from its first byte on, as far as it is kept: blocks of a tile lie between each other's rows. */
struct pattern {
   uint64_t (*runs)[2];
   uint32_t count;
   double low;
   bool full;
};

static void add_run(void *argument, uint64_t first, uint64_t bytes) {
   struct pattern *pattern = argument;
   if (pattern->count && pattern->runs[pattern->count - 1][1] == first)
      pattern->runs[pattern->count - 1][1] = first + bytes;
   else if (pattern->count < MOST_RUNS) {
      pattern->runs[pattern->count][0] = first;
      pattern->runs[pattern->count++][1] = first + bytes;
   } else {
      pattern->full = true;
   }
   pattern->low = fmin(pattern->low, (double)first);
}

static bool meets_pattern(const struct word_runs *words, const struct pattern *pattern, double low) {
   bool met = !pattern->count || pattern->full;
   for (uint32_t n = 0; n < pattern->count && !met; n++)
      met = meets(words, low + (double)pattern->runs[n][0] - pattern->low,
                  low + (double)pattern->runs[n][1] - pattern->low);
   return met;
}

static void take_pattern(const struct sample *s, uint32_t launch, uint32_t buffer, struct pattern *pattern) {
   uint32_t place;
   pattern->low = INFINITY;
   if (s && pattern->runs)
      rkb_machine_pattern(s->machine, launch, buffer, &place, add_run, pattern);
}

/* Of the blocks of a row, which starts at the first one.  Bytes are whole numbers, so that sums of steps are what first_byte() gives. */
static void choose_in_row(const uint32_t grid[3], uint64_t first, const struct affine *affine,
                          const struct word_runs *words, const struct pattern *pattern, uint64_t *chosen) {
   const double behind = (double)words->runs[words->count - 1][1],
                ahead = (double)words->runs[0][0] - (double)affine->length;
   double index[3];
   index_of(grid, first, index);
   double turn_low = first_byte(affine, index), low = turn_low;
   for (uint32_t x = 0, at = 0; x < grid[0]; x++) {
      if (low > ahead && low < behind && meets(words, low, low + (double)affine->length) &&
          meets_pattern(words, pattern, low))
         chosen[(first + x) / 64] |= UINT64_C(1) << ((first + x) % 64);
      low += affine->step[0];
      if (++at == affine->turn) {
         turn_low += affine->step[3];
         low = turn_low;
         at = 0;
      }
   }
}

static void choose_meeting(const uint32_t grid[3], const struct affine *affine, const struct word_runs *words,
                           const struct pattern *pattern, uint64_t *chosen) {
   const uint64_t total = (uint64_t)grid[0] * grid[1] * grid[2];
   for (uint64_t first = 0; words->count && first < total; first += grid[0])
      choose_in_row(grid, first, affine, words, pattern, chosen);
}

bool sample_find_writers(const struct sample *s, uint32_t launch, uint32_t buffer,
                         const struct word_runs *words, uint64_t *chosen) {
   const uint32_t *grid = s->plan->launches[launch].grid;
   struct affine affine;
   struct known known = {.count = 0};
   gather(s, launch, buffer, &known);
   gather(s->probe, launch, buffer, &known);
   if (s->blocks.launches[launch].total > MOST_BLOCKS || !fit(grid, &known, &affine))
      return false;
   struct pattern pattern = {.runs = malloc(MOST_RUNS * sizeof *pattern.runs)};
   take_pattern(s, launch, buffer, &pattern);
   if (!pattern.count)
      take_pattern(s->probe, launch, buffer, &pattern);
   choose_meeting(grid, &affine, words, &pattern, chosen);
   free(pattern.runs);
   return true;
}

/* Of a function without a turn. */
static uint32_t unknowns_of(const uint32_t grid[3]) {
   return 1u + (grid[0] > 1) + (grid[1] > 1) + (grid[2] > 1);
}

bool sample_would_begin(const struct sample *s, uint32_t launch, uint32_t buffer, uint64_t block, double *byte) {
   const uint32_t *grid = s->plan->launches[launch].grid;
   struct affine affine;
   struct known known = {.count = 0};
   double index[3];
   gather(s, launch, buffer, &known);
   if (known.count <= unknowns_of(grid) || !fit(grid, &known, &affine))
      return false;
   index_of(grid, block, index);
   *byte = first_byte(&affine, index);
   return true;
}

bool sample_starts_told(const struct sample *s, uint32_t launch, uint32_t buffer, uint64_t meeting[2]) {
   const uint32_t *grid = s->plan->launches[launch].grid;
   struct affine affine;
   struct known known = {.count = 0};
   gather(s, launch, buffer, &known);
   meeting[0] = meeting[1] = 0;
   if (known.count <= unknowns_of(grid) || !fit(grid, &known, &affine))
      return false;
   const uint64_t apart[AXES] = {1, grid[0], (uint64_t)grid[0] * grid[1], affine.turn};
   const uint32_t extent[AXES] = {affine.turn, grid[1], grid[2], grid[0] / affine.turn};
   for (uint32_t d = 0; d < AXES; d++)
      if (extent[d] > 1 && affine.step[d] == 0)
         meeting[1] = apart[d];
   return true;
}
