/* Shows for vector_copy that barriers stand around the copy, so that any thread may write any element of the tile. */
#include <string.h>
#include "lift/vector_copy.h"

/* Whether the statement is a call of the copying function, which only writes the tile. */
static bool is_copy(const vector_copy_t *copy, uint32_t statement) {
   char callee[128], name[128];
   if (!lift_is(copy->tree, copy->function, LIFT_FUNCTION) || !lift_is(copy->tree, statement, LIFT_CALL))
      return false;
   lift_callee(copy->tree, statement, callee, sizeof callee);
   lift_name(copy->tree, copy->function, name, sizeof name);
   return strcmp(callee, name) == 0;
}

enum found { NOTHING, BARRIER, USE };

/* What comes first after a statement of a block, up to another statement or to the block's end: a barrier, or a use of
 * the tile. */
static enum found look_after(const vector_copy_t *copy, uint32_t statement, uint32_t end, uint32_t tile) {
   for (uint32_t s = statement; s != LIFT_NONE && s != end; s = copy->tree->nodes[s].next) {
      if (lift_is_barrier(copy->tree, s))
         return BARRIER;
      if (!is_copy(copy, s) && lift_uses(copy->tree, s, tile))
         return USE;
   }
   return NOTHING;
}

/* What comes last between two statements. */
static enum found look_before(const vector_copy_t *copy, uint32_t statement, uint32_t end, uint32_t tile) {
   enum found last = NOTHING;
   for (uint32_t s = statement; s != LIFT_NONE && s != end; s = copy->tree->nodes[s].next)
      last = lift_is_barrier(copy->tree, s)                        ? BARRIER
             : !is_copy(copy, s) && lift_uses(copy->tree, s, tile) ? USE
                                                                   : last;
   return last;
}

/* A barrier must follow the statement before the tile is used, and precede it after the last use. */
static bool stands_between(const vector_copy_t *copy, uint32_t statement, uint32_t tile) {
   const lift_tree_t *tree = copy->tree;
   const uint32_t block = tree->nodes[statement].parent, loop = tree->nodes[block].parent;
   if (!lift_is(tree, block, LIFT_COMPOUND) ||
       look_after(copy, tree->nodes[statement].next, LIFT_NONE, tile) != BARRIER)
      return false;
   enum found before = look_before(copy, lift_child(tree, block, 0), statement, tile);
   uint32_t first = statement;
   if (before == NOTHING && lift_is(tree, loop, LIFT_FOR)) {
      before = look_before(copy, tree->nodes[statement].next, LIFT_NONE, tile);
      first = loop;
   }
   for (uint32_t i = tile + 1; before != USE && i < first; i++)
      if (lift_is(tree, i, LIFT_NAME) && tree->nodes[i].declaration == tile && before != BARRIER)
         before = USE;
   return before != USE;
}

bool vector_copy_has_barriers(vector_copy_t *copy) {
   const lift_tree_t *tree = copy->tree;
   const uint32_t tile = lift_base(tree, copy->target);
   uint32_t index = 0;
   if (lift_is(tree, tile, LIFT_SHARED))
      return stands_between(copy, copy->loop.node, tile) ||
             lift_refuse(copy->change, "line %u: no barriers around the copy",
                         lift_line(tree, copy->loop.node));
   while (lift_parameter(tree, copy->function, index) != LIFT_NONE &&
          lift_parameter(tree, copy->function, index) != tile)
      index++;
   for (uint32_t i = 0; i < tree->count; i++) {
      if (!is_copy(copy, i))
         continue;
      const uint32_t argument = lift_child(tree, i, index + 1),
                     shared = argument == LIFT_NONE ? LIFT_NONE : lift_base(tree, argument);
      if (!lift_is(tree, shared, LIFT_SHARED) || !stands_between(copy, i, shared))
         return lift_refuse(copy->change,
                            "line %u: no barriers around the copy, or it does not go into shared memory",
                            lift_line(tree, i));
   }
   return true;
}
