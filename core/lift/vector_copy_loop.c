/* Reads the loop of a copy for vector_copy: which variable grows in which way, and what guards the access. */
#include <string.h>
#include "lift/multiples_of_four.h"
#include "lift/uniform.h"
#include "lift/vector_copy.h"

static bool refuse(vector_copy_t *copy, uint32_t node, const char *why) {
   return lift_refuse(copy->change, "line %u: %s", lift_line(copy->tree, node), why);
}

/* i / divisor or i % divisor: whether it grows within four iterations.  The divisor must be a multiple of four. */
static bool read_part(vector_copy_t *copy, uint32_t expression, vector_way_t *way, bool *grows) {
   const lift_tree_t *tree = copy->tree;
   const uint32_t plain = lift_plain(tree, expression);
   *grows = false;
   if (!lift_uses(tree, plain, copy->loop.variable))
      return true;
   const uint32_t left =
      lift_is(tree, plain, LIFT_BINARY) ? lift_plain(tree, lift_child(tree, plain, 0)) : LIFT_NONE;
   if (!lift_is(tree, left, LIFT_NAME) || tree->nodes[left].declaration != copy->loop.variable ||
       !(lift_operator_is(tree, plain, "/") || lift_operator_is(tree, plain, "%")) ||
       lift_uses(tree, lift_child(tree, plain, 1), copy->loop.variable) ||
       !lift_in_fours(&way->guard, tree, lift_child(tree, plain, 1), copy->loop.variable, copy->loop.node))
      return refuse(copy, plain, "a variable of the copy is no quotient or remainder of the loop's");
   *grows = lift_operator_is(tree, plain, "%");
   return true;
}

static bool keep_growing(vector_copy_t *copy, vector_way_t *way, uint32_t local, bool grows) {
   if (grows && way->local != LIFT_NONE)
      return refuse(copy, local, "two variables of the copy grow");
   way->local = grows ? local : way->local;
   return true;
}

/* A local variable of the loop, in both ways. */
static bool read_local(vector_copy_t *copy, uint32_t local) {
   const lift_tree_t *tree = copy->tree;
   const uint32_t initialiser =
      lift_is(tree, local, LIFT_VARIABLE) ? lift_initialiser(tree, local) : LIFT_NONE;
   const uint32_t plain = initialiser == LIFT_NONE ? LIFT_NONE : lift_plain(tree, initialiser);
   bool grows[2];
   if (plain == LIFT_NONE || strcmp(tree->nodes[local].type, "const int") != 0)
      return refuse(copy, local, "a variable of the copy is not a const int");
   const bool chosen = lift_is(tree, plain, LIFT_CONDITIONAL);
   if (chosen) {
      char one[128], other[128];
      const uint32_t condition = lift_child(tree, plain, 0);
      snprintf(one, sizeof one, "%.*s", (int)(tree->nodes[condition].end - tree->nodes[condition].start),
               tree->text + tree->nodes[condition].start);
      if (copy->choice == LIFT_NONE)
         copy->choice = condition;
      snprintf(other, sizeof other, "%.*s",
               (int)(tree->nodes[copy->choice].end - tree->nodes[copy->choice].start),
               tree->text + tree->nodes[copy->choice].start);
      if (!lift_same_text(one, other) || !strstr(one, "::"))
         return refuse(copy, condition, "no constant of the object chooses between the two ways of the copy");
   }
   for (uint32_t w = 0; w < 2; w++)
      if (!read_part(copy, chosen ? lift_child(tree, plain, w + 1) : plain, &copy->ways[w], &grows[w]) ||
          !keep_growing(copy, &copy->ways[w], local, grows[w]))
         return false;
   return true;
}

/* target = value, where value is object.method(...) or condition ? object.method(...) : 0. */
static bool read_store(vector_copy_t *copy, uint32_t statement) {
   const lift_tree_t *tree = copy->tree;
   if (!lift_is(tree, statement, LIFT_BINARY) || !lift_operator_is(tree, statement, "="))
      return refuse(copy, statement, "the copy does more than one store");
   copy->target = lift_child(tree, statement, 0);
   copy->value = lift_plain(tree, lift_child(tree, statement, 1));
   copy->call = copy->value;
   if (lift_is(tree, copy->value, LIFT_CONDITIONAL)) {
      if (!lift_is_zero(tree, lift_child(tree, copy->value, 2)))
         return refuse(copy, statement, "something else than zero stands where the copy reads nothing");
      copy->call = lift_plain(tree, lift_child(tree, copy->value, 1));
   }
   if (!lift_is(tree, copy->call, LIFT_CALL) || !lift_is(tree, lift_child(tree, copy->call, 0), LIFT_MEMBER))
      return refuse(copy, statement, "what is copied is not given by a method of an object");
   const uint32_t tile = lift_base(tree, copy->target);
   if (tile == LIFT_NONE || !lift_is(tree, lift_plain(tree, copy->target), LIFT_SUBSCRIPT) ||
       lift_uses(tree, copy->value, tile) || lift_uses(tree, copy->target, copy->loop.variable) ||
       lift_uses(tree, copy->value, copy->loop.variable))
      return refuse(copy, statement, "the store is no element of a tile that the copy only writes");
   lift_callee(tree, copy->call, copy->method, sizeof copy->method);
   return true;
}

/* Which argument grows in this way, and what must hold so that the other arguments and all conditions stay the same. */
static bool read_way(vector_copy_t *copy, vector_way_t *way) {
   const lift_tree_t *tree = copy->tree;
   const uint32_t place = copy->loop.node, condition = lift_is(tree, copy->value, LIFT_CONDITIONAL)
                                                          ? lift_child(tree, copy->value, 0)
                                                          : LIFT_NONE;
   uint32_t grown = 0;
   if (way->local == LIFT_NONE)
      return refuse(copy, place, "no variable of the copy grows by one within four iterations");
   for (uint32_t a = 0; lift_child(tree, copy->call, a + 1) != LIFT_NONE; a++) {
      const uint32_t argument = lift_child(tree, copy->call, a + 1);
      if (lift_coefficient(tree, argument, way->local) == 1) {
         way->argument = a;
         if (grown++ || !lift_in_fours(&way->guard, tree, argument, way->local, place))
            return refuse(copy, argument, "the method's argument does not grow from a multiple of four on");
      } else if (!lift_holds_in_fours(&way->guard, tree, argument, way->local, place)) {
         return refuse(copy, argument, "an argument of the method changes within four iterations");
      }
   }
   if (grown != 1)
      return refuse(copy, copy->call, "no argument of the method grows by one");
   if (!lift_in_fours(&way->guard, tree, copy->loop.last, copy->loop.variable, place))
      return refuse(copy, place, "the number of iterations is not known to be a multiple of four");
   return condition == LIFT_NONE || lift_holds_in_fours(&way->guard, tree, condition, way->local, place) ||
          refuse(copy, condition, "the condition changes within four iterations");
}

/* Whether every outside value that the loop uses, except the tile, is the same for the threads of a block. */
static bool is_begun_alike(vector_copy_t *copy) {
   const lift_tree_t *tree = copy->tree;
   const uint32_t tile = lift_base(tree, copy->target);
   char name[64];
   for (uint32_t i = copy->loop.last; i < tree->nodes[copy->loop.node].last; i++) {
      const uint32_t declared = lift_is(tree, i, LIFT_NAME) ? tree->nodes[i].declaration : LIFT_NONE;
      if (!lift_is(tree, i, LIFT_NAME) ||
          (declared != LIFT_NONE && (lift_inside(tree, declared, copy->loop.node) || declared == tile)))
         continue;
      lift_name(tree, i, name, sizeof name);
      if (!lift_is_uniform_at_calls(tree, i))
         return lift_refuse(copy->change,
                            "line %u: '%s' is not known to be the same for all threads of a block",
                            lift_line(tree, i), name);
   }
   return true;
}

bool vector_copy_read_loop(vector_copy_t *copy) {
   const lift_tree_t *tree = copy->tree;
   const uint32_t body = copy->loop.body;
   copy->ways[0].local = copy->ways[1].local = LIFT_NONE;
   if (!lift_is(tree, body, LIFT_COMPOUND) || lift_leaves(tree, copy->loop.node))
      return refuse(copy, copy->loop.node, "the loop is no copy");
   for (uint32_t s = lift_child(tree, body, 0); s != LIFT_NONE; s = tree->nodes[s].next) {
      if (tree->nodes[s].next == LIFT_NONE) {
         if (!read_store(copy, s))
            return false;
      } else if (!lift_is(tree, s, LIFT_DECLARATIONS)) {
         return refuse(copy, s, "the copy does more than one store");
      }
      for (uint32_t v = lift_is(tree, s, LIFT_DECLARATIONS) ? lift_child(tree, s, 0) : LIFT_NONE;
           v != LIFT_NONE; v = tree->nodes[v].next)
         if (!read_local(copy, v))
            return false;
   }
   if (copy->call == 0)
      return refuse(copy, copy->loop.node, "the loop is no copy");
   char four[80];
   snprintf(four, sizeof four, "%s_four", copy->method);
   if (strstr(copy->method, "_four") || lift_calls(tree, copy->function, four))
      return refuse(copy, copy->call, "the copy reads fours already");
   return read_way(copy, &copy->ways[0]) && (copy->choice == LIFT_NONE || read_way(copy, &copy->ways[1])) &&
          is_begun_alike(copy);
}
