/* Which places are right (judged_places.h).  Pure functions of the inputs' elements; any thread. */
#include "task/judged_places.h"

#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "reference/dtype.h"
#include "reference/judge.h"
#include "reference/operations/layout.h"
#include "reference/operations/rank.h"
#include "reference/operations/reduce.h"
#include "task/task_parts.h"

#define MOST_READ (1u << 16) /* elements of rows that are evaluated together, or one row */

/* One judged element: its number in the list, and which turn of which row it is. */
typedef struct turn {
   uint64_t row, turn, at;
} turn_t;

typedef struct chosen {
   const rkb_program_node_t *node; /* that chooses the places */
   rkb_row_order_t order;
   rkb_rows_t rows; /* of its operand */
   uint64_t mask, turns_of_row;
   turn_t *turns; /* in order */
   uint64_t count;
} chosen_t;

/* The node that chooses places, behind operations that move or convert them.  index: the value's elements, which become those of
 * the node's output. */
static const rkb_program_node_t *choosing_node(const rkb_program_t *program, uint32_t value, uint64_t count,
                                               int64_t *index, rkb_row_order_t *order, uint64_t *mask) {
   while (program->values[value].node >= 0) {
      const rkb_program_node_t *node = &program->nodes[program->values[value].node];
      if (rkb_chooses_places(node, order, mask))
         return node;
      if (!node->operation->converts && !rkb_move_back(program, node, count, index))
         return NULL;
      value = node->inputs[0];
   }
   return NULL;
}

static int turn_order(const void *a, const void *b) {
   const turn_t *left = a, *right = b;
   if (left->row != right->row)
      return left->row < right->row ? -1 : 1;
   return (left->turn > right->turn) - (left->turn < right->turn);
}

static void find_turns(const rkb_program_t *program, chosen_t *chosen, const int64_t *index) {
   const rkb_shape_t *shape = rkb_program_shape(program, chosen->node->output);
   const bool ranked = strcmp(chosen->node->operation->name, "ranked_places") == 0;
   chosen->turns_of_row = ranked ? (uint64_t)shape->size[chosen->node->integers[0]] : 1;
   for (uint64_t i = 0; i < chosen->count; i++) {
      turn_t *turn = &chosen->turns[i];
      *turn = (turn_t){.row = (uint64_t)index[i], .at = i}; /* of argmax: an element is a row */
      if (ranked)
         rkb_rows_split(shape, chosen->mask, (uint64_t)index[i], &turn->row, &turn->turn);
   }
   qsort(chosen->turns, chosen->count, sizeof *chosen->turns, turn_order);
}

/* The results of a row's turns so far. */
typedef struct walk {
   uint8_t *taken;                  /* by place */
   double least;                    /* no element so far is certainly above it: the least upper end */
   uint64_t turns;                  /* without a gap from the first one on */
   const rkb_ranked_entry_t *exact; /* the last exact number */
} walk_t;

/* Whether the element at this place must come before one that an earlier turn has. */
static bool comes_too_late(const rkb_ranked_row_t *row, const walk_t *walk, const rkb_ranked_entry_t *entry) {
   return (!entry->side && entry->value - entry->hard > walk->least) ||
          (row->order.first_of_equals && walk->exact && rkb_ranked_entries_equal(walk->exact, entry) &&
           entry->place < walk->exact->place);
}

static bool is_wrong(const rkb_ranked_row_t *row, walk_t *walk, double got, uint64_t turn) {
   if (!(got >= 0 && got < (double)row->length) || got != (double)(uint64_t)got)
      return true;
   const uint64_t place = (uint64_t)got, number = row->turns[place];
   const rkb_ranked_entry_t *entry = &row->entries[number];
   const bool wrong =
      walk->taken[place] || comes_too_late(row, walk, entry) || !rkb_ranked_row_admits(row, number, turn);
   walk->taken[place] = 1;
   walk->turns += walk->turns == turn;
   if (entry->side == 0) {
      walk->least = fmin(walk->least, entry->value + entry->hard);
      walk->exact = entry->hard == 0 ? entry : walk->exact;
   }
   return wrong;
}

/* Whether an element that no turn has is certainly above one that a turn has. */
static bool misses_one(const rkb_ranked_row_t *row, const walk_t *walk) {
   for (uint64_t i = 0; i < row->length; i++) {
      const rkb_ranked_entry_t *entry = &row->entries[i];
      if (!entry->side && !walk->taken[entry->place] && entry->value - entry->hard > walk->least)
         return true;
   }
   return false;
}

/* Whether more than half of the row may stand at this turn. */
static bool is_open(const rkb_ranked_row_t *row, uint64_t turn) {
   uint64_t admitted = 0;
   for (uint64_t i = 0; i < row->length; i++)
      admitted += rkb_ranked_row_admits(row, i, turn);
   return 2 * admitted > row->length;
}

/* Judges the turns of one row.  usual: the family has the task's usual numbers; with these, an open place tells nothing. */
static void judge_row(const chosen_t *chosen, const rkb_ranked_row_t *row, const turn_t *turns,
                      uint64_t count, bool usual, uint32_t dtype, const void *data,
                      const rkb_points_t *points, uint8_t *taken, uint8_t *places) {
   walk_t walk = {.taken = taken, .least = INFINITY};
   memset(taken, 0, row->length);
   for (uint64_t i = 0; i < count; i++) {
      const uint64_t at = turns[i].at;
      const bool wrong = is_wrong(row, &walk, rkb_dtype_load(dtype, data, at), turns[i].turn);
      const bool ambiguous = points->flags[at] & RKB_POINT_AMBIGUOUS;
      if (wrong || points->hard[at] > 0)
         places[at] = wrong                                               ? RKB_PLACE_WRONG
                      : usual && ambiguous && is_open(row, turns[i].turn) ? RKB_PLACE_OPEN
                                                                          : RKB_PLACE_RIGHT;
   }
   if (walk.turns == chosen->turns_of_row && misses_one(row, &walk))
      places[turns[count - 1].at] = RKB_PLACE_WRONG;
}

/* The end of the turns of the row that begins at `first`, and whether one of them is in doubt; rows of which something is don't-care
 * are left to their bounds. */
static uint64_t row_end(const chosen_t *chosen, const rkb_points_t *points, uint64_t first, bool *in_doubt) {
   bool doubt = false, dont_care = false;
   uint64_t end = first;
   for (; end < chosen->count && chosen->turns[end].row == chosen->turns[first].row; end++) {
      doubt |= points->hard[chosen->turns[end].at] > 0;
      dont_care |= (points->flags[chosen->turns[end].at] & RKB_POINT_DONT_CARE) != 0;
   }
   *in_doubt = doubt && !dont_care;
   return end;
}

/* Evaluates the elements of some rows, one after another. */
static int read_rows(const rkb_inputs_t *inputs, const chosen_t *chosen, const uint64_t *list, uint64_t count,
                     uint64_t *elements, const rkb_block_t *block, rkb_error_t *err) {
   const uint64_t length = chosen->rows.length;
   for (uint64_t i = 0; i < count; i++)
      rkb_rows_index(&chosen->rows, list[i], 0, length, (int64_t *)elements + i * length);
   return rkb_task_value_points(inputs, chosen->node->inputs[0], elements, count * length, block->value,
                                block->hard, block->variance, block->flags, err);
}

static int judge_rows(const rkb_inputs_t *inputs, const chosen_t *chosen, uint32_t dtype, const void *data,
                      const rkb_points_t *points, uint8_t *places, rkb_error_t *err) {
   const uint64_t length = chosen->rows.length, most = length < MOST_READ ? MOST_READ / length : 1;
   const bool usual = strcmp(inputs->family->view.name, "normal") == 0;
   uint64_t *elements = rkb_try_uncleared(most * length + 1, sizeof *elements, NULL);
   uint64_t *list = rkb_try_uncleared(3 * most, sizeof *list, NULL), *begin = list + most,
            *end = begin + most;
   uint8_t *taken = rkb_try_uncleared(length + 1, 1, NULL);
   rkb_block_t block = {0};
   rkb_ranked_row_t row = {0};
   int status =
      elements && list && taken && rkb_block_new(&block, most * length) && rkb_ranked_row_new(&row, length)
         ? RKB_OK
         : rkb_fail_memory(err, most * length);
   for (uint64_t next = 0; status == RKB_OK && next < chosen->count;) {
      uint64_t found = 0;
      while (found < most && next < chosen->count) {
         bool in_doubt;
         const uint64_t first = next;
         next = row_end(chosen, points, first, &in_doubt);
         if (!in_doubt)
            continue;
         list[found] = chosen->turns[first].row;
         begin[found] = first;
         end[found++] = next;
      }
      if (found)
         status = read_rows(inputs, chosen, list, found, elements, &block, err);
      for (uint64_t i = 0; status == RKB_OK && i < found; i++) {
         for (uint64_t j = 0; j < length; j++)
            rkb_block_put(&row.points, j, rkb_block_get(&block, i * length + j));
         rkb_ranked_row_sort(&row, chosen->order);
         rkb_ranked_row_count(&row);
         judge_row(chosen, &row, chosen->turns + begin[i], end[i] - begin[i], usual, dtype, data, points,
                   taken, places);
      }
   }
   rkb_ranked_row_free(&row);
   rkb_block_free(&block);
   free(taken);
   free(list);
   free(elements);
   return status;
}

int rkb_judge_places(const rkb_inputs_t *inputs, uint32_t value, uint32_t dtype, const void *data,
                     const rkb_points_t *points, const uint64_t *elements, uint8_t **places,
                     rkb_error_t *err) {
   const rkb_program_t *program = rkb_inputs_program(inputs);
   chosen_t chosen = {.count = points->count};
   bool in_doubt = false;
   *places = NULL;
   for (uint64_t i = 0; i < points->count && !in_doubt; i++)
      in_doubt = points->hard[i] > 0;
   if (!in_doubt || value == RKB_NO_VALUE)
      return RKB_OK;
   int64_t *index = rkb_try_uncleared(points->count + 1, sizeof *index, NULL);
   int status = index ? RKB_OK : rkb_fail_memory(err, points->count * sizeof *index);
   for (uint64_t i = 0; status == RKB_OK && i < points->count; i++)
      index[i] = (int64_t)(elements ? elements[i] : i);
   if (status == RKB_OK)
      chosen.node = choosing_node(program, value, points->count, index, &chosen.order, &chosen.mask);
   if (chosen.node) {
      chosen.rows = rkb_rows_of(rkb_program_shape(program, chosen.node->inputs[0]), chosen.mask);
      chosen.turns = rkb_try_uncleared(points->count + 1, sizeof *chosen.turns, NULL);
      *places = rkb_try_allocate(points->count + 1, 1, err);
      status = chosen.turns && *places ? RKB_OK : rkb_fail_memory(err, points->count * sizeof *chosen.turns);
   }
   if (chosen.node && status == RKB_OK) {
      find_turns(program, &chosen, index);
      status = judge_rows(inputs, &chosen, dtype, data, points, *places, err);
   }
   if (status != RKB_OK) {
      free(*places);
      *places = NULL;
   }
   free(chosen.turns);
   free(index);
   return status == RKB_ERR_LIMIT ? RKB_OK : status;
}
