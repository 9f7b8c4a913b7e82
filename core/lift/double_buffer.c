/* double_buffer: the copy of the next tile into shared memory begins before the present tile is computed with, and there is one barrier a turn.
 *
 * Before: `for (k = first; k < last; k += depth) { copy tile k; __syncthreads(); compute with the tile; __syncthreads(); }`, or the same with the
 * last barrier at the beginning.
 * After: two buffers.  The first tile is copied before the loop; a turn waits at a barrier, copies the next tile into the buffer that nobody reads
 * any more, and computes with the other one.  Where the tiles are so large that two do not fit into 48 KB, which the compiler decides, there is
 * one buffer, and the loop does what it did.
 *
 * Holds where
 *   - the loop counts up and is left at its end alone, and the two barriers are statements of its body;
 *   - the copy changes only arrays in shared memory, which are used nowhere outside of the loop, and reads none of them;
 *   - it writes the same elements in every turn, so that no turn reads what an earlier one left;
 *   - the computation changes neither memory nor shared memory, nor what the copy reads;
 *   - nothing that the copy declares is used by the computation; neither part has another barrier, and the copy no shuffle.
 * All threads meet the new barriers, because they met the old ones as often. */
#include "lift/double_buffer.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_EFFECTS = 64, MOST_PLACES = 64 };

/* Takes the body apart into the copy and the computation. */
static bool read_parts(double_buffer_t *buffer) {
   const lift_tree_t *tree = buffer->tree;
   const uint32_t body = buffer->loop.body,
                  first = lift_is(tree, body, LIFT_COMPOUND) ? lift_child(tree, body, 0) : LIFT_NONE;
   uint32_t count = 0, last = LIFT_NONE;
   for (uint32_t s = first; s != LIFT_NONE; s = tree->nodes[s].next) {
      if (lift_is_barrier(tree, s)) {
         if (count == 2)
            return false;
         buffer->barriers[count++] = s;
      }
      last = s;
   }
   if (count != 2)
      return false;
   buffer->barrier_first = buffer->barriers[0] == first;
   if (!buffer->barrier_first && buffer->barriers[1] != last)
      return false;
   buffer->copy = buffer->barrier_first ? tree->nodes[first].next : first;
   buffer->copy_end = buffer->barriers[buffer->barrier_first ? 1 : 0];
   buffer->compute = tree->nodes[buffer->copy_end].next;
   buffer->compute_end = buffer->barrier_first ? LIFT_NONE : last;
   return buffer->copy != buffer->copy_end && buffer->compute != LIFT_NONE &&
          buffer->compute != buffer->compute_end;
}

/* Whether a subtree, or a function of the text that it calls, calls a function whose name has the word: "sync" for an act of several threads. */
static bool meets_others(const lift_tree_t *tree, uint32_t subtree, const char *word, int depth) {
   char callee[128];
   for (uint32_t i = subtree; i < tree->nodes[subtree].last; i++) {
      if (!lift_is(tree, i, LIFT_CALL))
         continue;
      lift_callee(tree, i, callee, sizeof callee);
      if (strstr(callee, word))
         return true;
      const uint32_t function = lift_function_named(tree, callee);
      if (function != LIFT_NONE && (depth == 0 || meets_others(tree, function, word, depth - 1)))
         return true;
   }
   return false;
}

static bool add_tile(double_buffer_t *buffer, uint32_t tile) {
   for (uint32_t t = 0; t < buffer->tile_count; t++)
      if (buffer->tiles[t] == tile)
         return true;
   if (buffer->tile_count == DOUBLE_BUFFER_TILES)
      return false;
   buffer->tiles[buffer->tile_count++] = tile;
   return true;
}

/* The copy changes arrays in shared memory alone: the tiles. */
static bool read_copy(double_buffer_t *buffer) {
   const lift_tree_t *tree = buffer->tree;
   lift_effect_t effects[MOST_EFFECTS];
   for (uint32_t s = buffer->copy; s != buffer->copy_end; s = tree->nodes[s].next) {
      const uint32_t count = lift_effects(tree, s, effects, MOST_EFFECTS, buffer->change);
      if (count == LIFT_NONE)
         return false;
      if (meets_others(tree, s, "sync", 3))
         return lift_refuse(buffer->change,
                            "line %u: a barrier, or another act of several threads, in the copy",
                            lift_line(tree, s));
      for (uint32_t e = 0; e < count; e++) {
         const uint32_t tile = effects[e].variable;
         uint32_t lengths[4];
         const bool own = tile != LIFT_NONE && lift_inside(tree, tile, buffer->loop.body);
         if (own && lift_is(tree, tile, LIFT_VARIABLE))
            continue;
         if (!lift_is(tree, tile, LIFT_SHARED) || own || lift_function_of(tree, tile) != buffer->function ||
             lift_lengths(tree, tile, lengths, 4) == 0)
            return lift_refuse(buffer->change, "line %u: the copy changes more than arrays in shared memory",
                               lift_line(tree, effects[e].node));
         if (!add_tile(buffer, tile))
            return lift_refuse(buffer->change, "line %u: more than %d tiles", lift_line(tree, s),
                               DOUBLE_BUFFER_TILES);
      }
   }
   return buffer->tile_count > 0 ||
          lift_refuse(buffer->change, "line %u: nothing is copied into shared memory",
                      lift_line(tree, buffer->loop.node));
}

/* Whether the copy uses a declaration. */
static bool copy_uses(const double_buffer_t *buffer, uint32_t declaration) {
   for (uint32_t s = buffer->copy; s != buffer->copy_end; s = buffer->tree->nodes[s].next)
      if (lift_uses(buffer->tree, s, declaration))
         return true;
   return false;
}

static bool check_computation(const double_buffer_t *buffer) {
   const lift_tree_t *tree = buffer->tree;
   lift_effect_t effects[MOST_EFFECTS];
   for (uint32_t s = buffer->compute; s != buffer->compute_end; s = tree->nodes[s].next) {
      const uint32_t count = lift_effects(tree, s, effects, MOST_EFFECTS, buffer->change);
      if (count == LIFT_NONE)
         return false;
      if (meets_others(tree, s, "__syncthreads", 3))
         return lift_refuse(buffer->change, "line %u: a barrier in the computation", lift_line(tree, s));
      for (uint32_t e = 0; e < count; e++) {
         const uint32_t variable = effects[e].variable;
         const bool local =
            lift_is(tree, variable, LIFT_VARIABLE) ||
            (lift_is(tree, variable, LIFT_PARAMETER) && strstr(tree->nodes[variable].type, "(&)"));
         if (!local || strchr(tree->nodes[variable].type, '*'))
            return lift_refuse(buffer->change, "line %u: the computation changes memory",
                               lift_line(tree, effects[e].node));
         if (copy_uses(buffer, variable))
            return lift_refuse(buffer->change, "line %u: the computation changes what the copy reads",
                               lift_line(tree, effects[e].node));
      }
   }
   return true;
}

/* Whether what the copy declares stays in the copy, and the tiles in the loop. */
static bool check_names(const double_buffer_t *buffer) {
   const lift_tree_t *tree = buffer->tree;
   for (uint32_t i = buffer->function; i < tree->nodes[buffer->function].last; i++) {
      const uint32_t declaration = lift_is(tree, i, LIFT_NAME) ? tree->nodes[i].declaration : LIFT_NONE;
      if (declaration == LIFT_NONE)
         continue;
      if (declaration >= buffer->copy && declaration < buffer->copy_end && i >= buffer->copy_end)
         return lift_refuse(buffer->change, "line %u: the computation uses what the copy declares",
                            lift_line(tree, i));
      for (uint32_t t = 0; t < buffer->tile_count; t++)
         if (declaration == buffer->tiles[t] && !lift_inside(tree, i, buffer->loop.body))
            return lift_refuse(buffer->change, "line %u: a tile is used outside of the loop",
                               lift_line(tree, i));
   }
   return true;
}

/* Whether an expression can be written a second time. */
static bool is_repeatable(const lift_tree_t *tree, uint32_t expression) {
   for (uint32_t i = expression; i < tree->nodes[expression].last; i++) {
      char callee[64];
      if (lift_is(tree, i, LIFT_CALL)) {
         lift_callee(tree, i, callee, sizeof callee);
         if (strcmp(callee, "min") != 0 && strcmp(callee, "max") != 0)
            return false;
      }
      if (lift_is_assignment(tree, i) || lift_is(tree, i, LIFT_LAMBDA))
         return false;
   }
   return true;
}

static bool check_loop(const double_buffer_t *buffer) {
   const lift_tree_t *tree = buffer->tree;
   const uint32_t loop = buffer->loop.node, line = lift_line(tree, loop);
   bool continues = false;
   for (uint32_t i = loop; i < tree->nodes[loop].last; i++) {
      uint32_t up = tree->nodes[i].parent;
      while (lift_is(tree, i, LIFT_CONTINUE) && up != loop && !lift_is(tree, up, LIFT_FOR) &&
             !lift_is(tree, up, LIFT_WHILE) && !lift_is(tree, up, LIFT_DO))
         up = tree->nodes[up].parent;
      continues = continues || (lift_is(tree, i, LIFT_CONTINUE) && up == loop);
   }
   if (continues || lift_leaves(tree, loop))
      return lift_refuse(buffer->change, "line %u: a turn of the loop is left before its end", line);
   return (is_repeatable(tree, buffer->loop.first) && is_repeatable(tree, buffer->loop.last) &&
           (buffer->loop.step == LIFT_NONE || is_repeatable(tree, buffer->loop.step)) &&
           lift_is(tree, tree->nodes[loop].parent, LIFT_COMPOUND)) ||
          lift_refuse(buffer->change, "line %u: the loop's bounds or place cannot be written again", line);
}

static bool apply_to(const lift_subject_t *subject, uint32_t loop, lift_change_t *change) {
   const lift_tree_t *tree = subject->tree;
   double_buffer_t buffer = {.tree = tree, .change = change, .function = lift_function_of(tree, loop)};
   const uint32_t line = lift_line(tree, loop);
   if (buffer.function == LIFT_NONE || tree->nodes[buffer.function].last - buffer.function > LIFT_MAX_KERNEL)
      return lift_refuse(change, "line %u: the function is too long", line);
   if (!lift_loop_read(tree, loop, &buffer.loop) || !read_parts(&buffer))
      return lift_refuse(
         change, "line %u: no loop that counts up over a copy, a barrier, a computation and a barrier", line);
   if (!check_loop(&buffer) || !read_copy(&buffer) || !check_computation(&buffer) || !check_names(&buffer))
      return false;
   if (!double_buffer_has_no_views(&buffer))
      return lift_refuse(change, "line %u: the loop has pointers, or views of shared memory", line);
   for (uint32_t t = 0; t < buffer.tile_count; t++)
      if (!double_buffer_writes(&buffer, buffer.tiles[t])) {
         char name[64];
         lift_name(tree, buffer.tiles[t], name, sizeof name);
         return lift_refuse(
            change,
            "line %u: the copy is not known to write the same elements of '%s' in every turn and to read none",
            line, name);
      }
   if (!double_buffer_write(&buffer))
      return false;
   snprintf(change->note, sizeof change->note,
            "two buffers for the tiles of the loop in line %u, and one barrier a turn", line);
   return true;
}

bool lift_double_buffer(const lift_subject_t *subject, lift_change_t *change) {
   const lift_tree_t *tree = subject->tree;
   uint32_t places[MOST_PLACES], count = 0;
   for (uint32_t i = 0; i < tree->count && count < MOST_PLACES; i++)
      if (lift_is(tree, i, LIFT_CALL) && lift_is_barrier(tree, i)) {
         const uint32_t loop = lift_around(tree, i, LIFT_FOR);
         bool known = loop == LIFT_NONE || lift_function_of(tree, loop) != lift_function_of(tree, i);
         for (uint32_t p = 0; p < count; p++)
            known = known || places[p] == loop;
         if (!known)
            places[count++] = loop;
      }
   const uint32_t first = lift_draw(subject, count);
   for (uint32_t i = 0; i < count; i++) {
      lift_change_t attempt = {0};
      if (lift_attempted(change, &attempt, apply_to(subject, places[(first + i) % count], &attempt)))
         return true;
   }
   return lift_refuse(change, "no loop with barriers");
}
