/* Recognises sums and maxima of a block that go through shuffles inside a warp, and then through one value a warp in shared memory.
 *
 *   for (int distance = 16; distance > 0; distance /= 2)
 *      value += __shfl_xor_sync(0xffffffffu, value, distance);    or value = fmaxf(value, ...), or value = merge(value, other)
 *   if (threadIdx.x % 32 == 0)
 *      of_warp[threadIdx.x / 32] = value;
 *   __syncthreads();
 *   float total = 0.0f;                                            or of_warp[0], and the loop from 1
 *   for (int warp = 0; warp < block / 32; warp++)
 *      total += of_warp[warp];                                     the operation of the shuffles
 *
 * For a warp, the total is the value after the shuffles.  __shfl_down_sync becomes __shfl_xor_sync, so that every lane has it.  Pure; any
 * thread. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "lift/block_to_warp.h"
#include "lift/loops.h"
#include "lift/multiples_of_four.h"

enum { MOST_SHUFFLES = 8, OPERATION = 512 };

typedef struct join {
   uint32_t butterfly, store, start, loop; /* statements; start: what the total begins with */
   uint32_t value, total, array;           /* variables */
   bool from_first;                        /* the total begins with the first warp's value */
   uint32_t barriers[8], barrier_count;
} join_t;

/* The node inside constructions of copies, which the parser gives as calls of the same text. */
static uint32_t copied(const lift_tree_t *tree, uint32_t expression) {
   uint32_t plain = lift_plain(tree, expression);
   while (lift_is_copy(tree, plain))
      plain = lift_plain(tree, lift_child(tree, plain, 0));
   return plain;
}

/* Takes target = value apart, of numbers or of structs; the target, or LIFT_NONE. */
static uint32_t read_assignment(const lift_tree_t *tree, uint32_t statement, uint32_t *value) {
   if (!lift_is_assignment(tree, statement) || !lift_operator_is(tree, statement, "="))
      return LIFT_NONE;
   *value = copied(tree, lift_child(tree, statement, lift_children(tree, statement) - 1));
   return lift_assigned(tree, statement);
}

/* The variable that a statement assigns to by = or as +=; LIFT_NONE when it is something else. */
static uint32_t joined_by(const lift_tree_t *tree, uint32_t statement) {
   uint32_t value;
   const uint32_t target = lift_is(tree, statement, LIFT_COMPOUND_ASSIGNMENT)
                              ? lift_child(tree, statement, 0)
                              : read_assignment(tree, statement, &value);
   return lift_is(tree, target, LIFT_NAME) ? tree->nodes[target].declaration : LIFT_NONE;
}

/* Writes an operation with the joined value as #, and with the value that is joined to it as @, without blanks. */
static void write_operation(const lift_tree_t *tree, uint32_t statement, uint32_t joined,
                            lift_change_t *others, char out[OPERATION]) {
   rkb_text_t text;
   size_t length = 0;
   rkb_text_init(&text, 4 * OPERATION);
   for (uint32_t i = statement; i < tree->nodes[statement].last; i++) {
      bool replaced = false;
      for (uint32_t e = 0; e < others->count; e++)
         replaced = replaced || (tree->nodes[i].start >= others->edits[e].start &&
                                 tree->nodes[i].end <= others->edits[e].end);
      if (!replaced && lift_is(tree, i, LIFT_NAME) && tree->nodes[i].declaration == joined)
         lift_replace_node(others, tree, i, "#");
   }
   const bool compound = lift_is(tree, statement, LIFT_COMPOUND_ASSIGNMENT);
   char operator[4];
   lift_operator(tree, statement, operator);
   if (compound) {
      rkb_text_format(&text, "#=#%c", operator[0]);
      lift_write(&text, tree, others, tree->nodes[lift_child(tree, statement, 1)].start,
                 tree->nodes[lift_child(tree, statement, 1)].end);
   } else {
      lift_write(&text, tree, others, tree->nodes[statement].start, tree->nodes[statement].end);
   }
   for (const char *at = rkb_text_get(&text); *at && length + 1 < OPERATION; at++)
      if (!isspace((unsigned char)*at))
         out[length++] = *at;
   out[length] = '\0';
   rkb_text_free(&text);
}

static bool is_shuffle(const lift_tree_t *tree, uint32_t node) {
   char callee[64];
   if (!lift_is(tree, node, LIFT_CALL) || lift_children(tree, node) != 4)
      return false;
   lift_callee(tree, node, callee, sizeof callee);
   return strcmp(callee, "__shfl_xor_sync") == 0 || strcmp(callee, "__shfl_down_sync") == 0;
}

/* for (int d = 16; d > 0; d /= 2) */
static bool halves_a_warp(const lift_tree_t *tree, uint32_t loop, uint32_t *distance) {
   if (!lift_is(tree, loop, LIFT_FOR) || lift_children(tree, loop) != 4)
      return false;
   *distance = lift_child(tree, lift_child(tree, loop, 0), 0);
   const uint32_t condition = lift_child(tree, loop, 1), step = lift_child(tree, loop, 2);
   return lift_is(tree, *distance, LIFT_VARIABLE) && lift_initialiser(tree, *distance) != LIFT_NONE &&
          block_to_warp_text_is(tree, lift_initialiser(tree, *distance), "16") &&
          lift_is(tree, condition, LIFT_BINARY) && lift_operator_is(tree, condition, ">") &&
          block_to_warp_text_is(tree, lift_child(tree, condition, 1), "0") &&
          lift_is(tree, step, LIFT_COMPOUND_ASSIGNMENT) &&
          lift_base(tree, lift_child(tree, step, 0)) == *distance &&
          ((lift_operator_is(tree, step, "/=") &&
            block_to_warp_text_is(tree, lift_child(tree, step, 1), "2")) ||
           (lift_operator_is(tree, step, ">>=") &&
            block_to_warp_text_is(tree, lift_child(tree, step, 1), "1")));
}

/* The last statement of a loop's body, if it assigns to a variable, or LIFT_NONE. */
static uint32_t joining_statement(const lift_tree_t *tree, uint32_t body) {
   if (!lift_is(tree, body, LIFT_COMPOUND))
      return joined_by(tree, body) != LIFT_NONE ? body : LIFT_NONE;
   uint32_t last = LIFT_NONE;
   for (uint32_t s = lift_child(tree, body, 0); s != LIFT_NONE; s = tree->nodes[s].next)
      last = s;
   return last != LIFT_NONE && joined_by(tree, last) != LIFT_NONE ? last : LIFT_NONE;
}

/* Reads the loop of shuffles: each moves the value, or a member of it into the same member of another variable. */
static bool read_butterfly(const lift_tree_t *tree, uint32_t loop, uint32_t *value,
                           char operation[OPERATION]) {
   uint32_t distance, shuffles = 0, other = LIFT_NONE;
   lift_change_t others = {0};
   if (!halves_a_warp(tree, loop, &distance))
      return false;
   const uint32_t body = lift_child(tree, loop, 3), joining = joining_statement(tree, body);
   *value = joining == LIFT_NONE ? LIFT_NONE : joined_by(tree, joining);
   bool sound =
      *value != LIFT_NONE && !strchr(tree->nodes[*value].type, '*') && !strchr(tree->nodes[*value].type, '&');
   for (uint32_t i = body; sound && i < tree->nodes[body].last; i++) {
      if (lift_is_assignment(tree, i) && i != joining) {
         const uint32_t from = lift_plain(tree, lift_child(tree, i, 1)), target = lift_assigned(tree, i);
         sound =
            lift_operator_is(tree, i, "=") && is_shuffle(tree, from) && lift_is(tree, target, LIFT_MEMBER);
         const uint32_t moved = sound ? lift_plain(tree, lift_child(tree, from, 2)) : LIFT_NONE;
         char member[64];
         if (sound)
            lift_name(tree, target, member, sizeof member);
         sound = sound && lift_is(tree, moved, LIFT_MEMBER) && lift_named(tree, moved, member) &&
                 lift_is(tree, lift_child(tree, moved, 0), LIFT_NAME) &&
                 lift_is(tree, lift_child(tree, target, 0), LIFT_NAME) &&
                 (other == LIFT_NONE || other == lift_base(tree, target));
         other = sound ? lift_base(tree, target) : other;
         sound = sound && other != *value && lift_inside(tree, other, body);
      } else if (lift_is(tree, i, LIFT_CALL) && is_shuffle(tree, i)) {
         const uint32_t moved = lift_plain(tree, lift_child(tree, i, 2));
         sound = lift_base(tree, moved) == *value &&
                 (lift_is(tree, moved, LIFT_NAME) || lift_is(tree, moved, LIFT_MEMBER)) &&
                 lift_base(tree, lift_child(tree, i, 3)) == distance && ++shuffles <= MOST_SHUFFLES;
         const uint32_t around = lift_around(tree, i, LIFT_VARIABLE);
         if (lift_inside(tree, i, joining))
            lift_replace_node(&others, tree, i, "@");
         else if (around != LIFT_NONE && lift_inside(tree, around, body) &&
                  lift_plain(tree, lift_initialiser(tree, around)) == i && other == LIFT_NONE)
            other = around;
      } else if (lift_is(tree, i, LIFT_VARIABLE)) {
         other = other == LIFT_NONE && lift_initialiser(tree, i) == LIFT_NONE ? i : other;
      }
   }
   for (uint32_t i = joining; sound && i < tree->nodes[joining].last; i++)
      if (other != LIFT_NONE && lift_is(tree, i, LIFT_NAME) && tree->nodes[i].declaration == other)
         lift_replace_node(&others, tree, i, "@");
   if (sound && shuffles > 0)
      write_operation(tree, joining, *value, &others, operation);
   lift_change_free(&others);
   return sound && shuffles > 0;
}

/* if (lane == 0) array[warp] = value; */
static bool read_store(const block_to_warp_t *to, join_t *join) {
   const lift_tree_t *tree = to->tree;
   if (!lift_is(tree, join->store, LIFT_IF) || lift_children(tree, join->store) != 2)
      return false;
   const uint32_t condition = lift_plain(tree, lift_child(tree, join->store, 0));
   uint32_t store = lift_child(tree, join->store, 1);
   if (lift_is(tree, store, LIFT_COMPOUND) && lift_children(tree, store) == 1)
      store = lift_child(tree, store, 0);
   if (!lift_is(tree, condition, LIFT_BINARY) || !lift_operator_is(tree, condition, "==") ||
       !block_to_warp_is_lane(to, lift_child(tree, condition, 0)) ||
       !block_to_warp_text_is(tree, lift_child(tree, condition, 1), "0") || store == LIFT_NONE)
      return false;
   uint32_t value = LIFT_NONE;
   const uint32_t target = read_assignment(tree, store, &value);
   if (!lift_is(tree, target, LIFT_SUBSCRIPT) || !lift_is(tree, lift_child(tree, target, 0), LIFT_NAME) ||
       !lift_is(tree, value, LIFT_NAME))
      return false;
   join->array = lift_base(tree, target);
   return (lift_is(tree, join->array, LIFT_SHARED) || lift_is(tree, join->array, LIFT_PARAMETER)) &&
          block_to_warp_is_warp(to, lift_child(tree, target, 1)) &&
          tree->nodes[value].declaration == join->value;
}

static bool is_element(const lift_tree_t *tree, uint32_t expression, uint32_t array, const char *index,
                       uint32_t variable) {
   const uint32_t plain = copied(tree, expression);
   if (!lift_is(tree, plain, LIFT_SUBSCRIPT) || !lift_is(tree, lift_child(tree, plain, 0), LIFT_NAME) ||
       lift_base(tree, plain) != array)
      return false;
   const uint32_t at = lift_plain(tree, lift_child(tree, plain, 1));
   return index ? block_to_warp_text_is(tree, at, index)
                : lift_is(tree, at, LIFT_NAME) && tree->nodes[at].declaration == variable;
}

/* float total = 0.0f, or of_warp[0]; or an assignment of these. */
static bool read_start(const lift_tree_t *tree, join_t *join) {
   uint32_t value = LIFT_NONE;
   if (lift_is(tree, join->start, LIFT_DECLARATIONS) && lift_children(tree, join->start) == 1) {
      join->total = lift_child(tree, join->start, 0);
      value = lift_is(tree, join->total, LIFT_VARIABLE) ? lift_initialiser(tree, join->total) : LIFT_NONE;
   } else {
      join->total =
         lift_is(tree, join->start, LIFT_COMPOUND_ASSIGNMENT) ? LIFT_NONE : joined_by(tree, join->start);
      if (join->total != LIFT_NONE)
         read_assignment(tree, join->start, &value);
   }
   if (value == LIFT_NONE || join->total == LIFT_NONE)
      return false;
   join->from_first = is_element(tree, value, join->array, "0", LIFT_NONE);
   return join->from_first || lift_is_zero(tree, value);
}

/* Adds the warps' values by the shuffles' operation. */
static bool read_loop(const block_to_warp_t *to, join_t *join, const char *operation) {
   const lift_tree_t *tree = to->tree;
   lift_loop_t loop;
   lift_change_t others = {0};
   char own[OPERATION] = "";
   if (!lift_loop_read(tree, join->loop, &loop) || loop.step != LIFT_NONE ||
       !block_to_warp_text_is(tree, loop.first, join->from_first ? "1" : "0"))
      return false;
   const uint32_t joining = joining_statement(tree, loop.body);
   if (!block_to_warp_counts_warps(to, loop.last) || joining == LIFT_NONE ||
       (lift_is(tree, loop.body, LIFT_COMPOUND) && lift_children(tree, loop.body) != 1) ||
       joined_by(tree, joining) != join->total)
      return false;
   for (uint32_t i = joining; i < tree->nodes[joining].last; i++)
      if (is_element(tree, i, join->array, NULL, loop.variable) && lift_is(tree, i, LIFT_SUBSCRIPT))
         lift_replace_node(&others, tree, i, "@");
   write_operation(tree, joining, join->total, &others, own);
   lift_change_free(&others);
   return strcmp(own, operation) == 0 && strchr(own, '@') && !strpbrk(own, "-/%") &&
          (join->from_first || strcmp(own, "#=#+@") == 0 || strcmp(own, "#=@+#") == 0);
}

/* The next statement that is no barrier. */
static uint32_t after_barriers(const lift_tree_t *tree, uint32_t statement, join_t *join) {
   uint32_t next = tree->nodes[statement].next;
   for (; next != LIFT_NONE && lift_is_barrier(tree, next) && join->barrier_count < 8;
        next = tree->nodes[next].next)
      join->barriers[join->barrier_count++] = next;
   return next;
}

/* Whether the array is used by this join alone, and the value of a warp is not used behind it. */
static bool is_closed(const lift_tree_t *tree, uint32_t block, const join_t *join) {
   for (uint32_t i = tree->nodes[join->loop].last; join->total != join->value && i < tree->nodes[block].last;
        i++)
      if (lift_is(tree, i, LIFT_NAME) && tree->nodes[i].declaration == join->value)
         return false;
   for (uint32_t i = block; i < tree->nodes[block].last; i++)
      if (lift_is(tree, i, LIFT_NAME) && tree->nodes[i].declaration == join->array &&
          !lift_inside(tree, i, join->store) && !lift_inside(tree, i, join->start) &&
          !lift_inside(tree, i, join->loop))
         return false;
   return !lift_is(tree, join->array, LIFT_SHARED) ||
          lift_children(tree, tree->nodes[join->array].parent) == 1;
}

static void remove_statement(lift_change_t *edits, const lift_tree_t *tree, uint32_t statement) {
   uint32_t end = lift_statement_end(tree, statement);
   const uint32_t start = lift_pragma_start(tree, statement);
   if (start == 0 || tree->text[start - 1] == '\n')
      end += tree->text[end] == '\n';
   lift_replace(edits, start, end, "%s", "");
}

static void write_join(const lift_tree_t *tree, const join_t *join, lift_change_t *edits) {
   char value[64], total[64];
   lift_name(tree, join->value, value, sizeof value);
   lift_name(tree, join->total, total, sizeof total);
   for (uint32_t i = join->butterfly; i < tree->nodes[join->butterfly].last; i++)
      if (is_shuffle(tree, i) && lift_calls(tree, i, "__shfl_down_sync"))
         lift_replace_node(edits, tree, lift_child(tree, i, 0), "__shfl_xor_sync");
   remove_statement(edits, tree, join->store);
   remove_statement(edits, tree, join->loop);
   for (uint32_t b = 0; b < join->barrier_count; b++)
      if (b + 1 == join->barrier_count)
         lift_replace_node(edits, tree, join->barriers[b], "__syncwarp()");
      else
         remove_statement(edits, tree, join->barriers[b]);
   if (join->total == join->value)
      remove_statement(edits, tree, join->start);
   else if (lift_is(tree, join->start, LIFT_DECLARATIONS))
      lift_replace_node(edits, tree, lift_initialiser(tree, join->total), value);
   else
      lift_replace_node(edits, tree, lift_child(tree, join->start, lift_children(tree, join->start) - 1),
                        value);
   if (lift_is(tree, join->array, LIFT_SHARED))
      remove_statement(edits, tree, tree->nodes[join->array].parent);
}

void block_to_warp_joins(block_to_warp_t *to, uint32_t block, lift_change_t *edits) {
   const lift_tree_t *tree = to->tree;
   for (uint32_t s = lift_child(tree, block, 0); s != LIFT_NONE; s = tree->nodes[s].next) {
      join_t join = {.butterfly = s};
      char operation[OPERATION];
      if (!read_butterfly(tree, s, &join.value, operation))
         continue;
      join.store = after_barriers(tree, s, &join);
      const uint32_t before = join.barrier_count;
      if (join.store == LIFT_NONE || !read_store(to, &join))
         continue;
      join.start = after_barriers(tree, join.store, &join);
      if (join.start == LIFT_NONE || join.barrier_count == before || !read_start(tree, &join))
         continue;
      join.loop = tree->nodes[join.start].next;
      if (join.loop == LIFT_NONE || !read_loop(to, &join, operation) || !is_closed(tree, block, &join))
         continue;
      bool owned = block_to_warp_own(to, join.butterfly) && block_to_warp_own(to, join.store) &&
                   block_to_warp_own(to, join.start) && block_to_warp_own(to, join.loop);
      for (uint32_t b = 0; owned && b < join.barrier_count; b++)
         owned = block_to_warp_own(to, join.barriers[b]);
      if (!owned)
         return;
      write_join(tree, &join, edits);
      to->found++;
   }
}
