/* uniform_exit: threads whose number is past the end stay, compute the last element once more, and store nothing.
 *
 * Before: `const int i = ...threadIdx.x...; if (i >= count) return;`.
 * After: i is at most count - 1, and only threads that were in range store to memory.  All threads of a block then reach
 * the code that follows, so that it may contain a barrier.
 *
 * Holds where
 *   - the exit stands in the kernel's own block;
 *   - count is known before i and is at least 1 (if the launch has a block, it is);
 *   - i is not changed, and threads count by one: i is no multiple of the thread's number;
 *   - nothing is loaded through a pointer that is not const, as the last thread may store there;
 *   - every store is an assignment: no atomics, no assembly, no function of the text that stores. */
#include <string.h>
#include "lift/launches.h"
#include "lift/loops.h"
#include "lift/rewrite.h"

enum { MOST_EFFECTS = 64 };

typedef struct exit_place {
   uint32_t kernel, statement, variable, count;
} exit_place_t;

static bool find_exit(const lift_tree_t *tree, uint32_t kernel, exit_place_t *place) {
   const uint32_t body = lift_body(tree, kernel);
   for (uint32_t s = lift_child(tree, body, 0); s != LIFT_NONE; s = tree->nodes[s].next) {
      if (!lift_is(tree, s, LIFT_IF) || lift_children(tree, s) != 2)
         continue;
      const uint32_t condition = lift_child(tree, s, 0), then = lift_child(tree, s, 1);
      const bool returns = lift_is(tree, then, LIFT_RETURN) || (lift_is(tree, then, LIFT_COMPOUND) && lift_children(tree, then) == 1 &&
                                                               lift_is(tree, lift_child(tree, then, 0), LIFT_RETURN));
      if (!returns || !lift_is(tree, condition, LIFT_BINARY) || !lift_operator_is(tree, condition, ">=") ||
          !lift_is(tree, lift_child(tree, condition, 0), LIFT_NAME))
         continue;
      *place = (exit_place_t){kernel, s, tree->nodes[lift_child(tree, condition, 0)].declaration, lift_child(tree, condition, 1)};
      return true;
   }
   return false;
}

/* Whether the thread's number is a term of the expression and no factor: the last number below the count is one that a thread has, and a thread's
 * accesses begin there. */
static bool counts_by_one(const lift_tree_t *tree, uint32_t expression) {
   for (uint32_t i = expression; i < tree->nodes[expression].last; i++) {
      if (!lift_is(tree, i, LIFT_NAME) || !lift_named(tree, i, "threadIdx"))
         continue;
      for (uint32_t up = i; up != expression; up = tree->nodes[up].parent) {
         const uint32_t around = tree->nodes[up].parent;
         if (lift_is(tree, around, LIFT_BINARY) &&
             (lift_operator_is(tree, around, "*") || lift_operator_is(tree, around, "<<")))
            return false;
      }
   }
   return true;
}

static bool check(const lift_tree_t *tree, const exit_place_t *place, lift_change_t *change) {
   const uint32_t line = lift_line(tree, place->statement);
   const char *type = lift_is(tree, place->variable, LIFT_VARIABLE) ? tree->nodes[place->variable].type : "";
   if (strcmp(type, "const int") != 0 && strcmp(type, "const long long") != 0 && strcmp(type, "int") != 0 && strcmp(type, "long long") != 0)
      return lift_refuse(change, "line %u: what is compared is no int or long long of the kernel", line);
   if (lift_initialiser(tree, place->variable) == LIFT_NONE || lift_assigns(tree, place->kernel, place->variable))
      return lift_refuse(change, "line %u: the thread's number is changed", line);
   if (!counts_by_one(tree, lift_initialiser(tree, place->variable)))
      return lift_refuse(
         change,
         "line %u: the thread's number is multiplied, so the last element may begin none of a thread's",
         line);
   for (uint32_t i = place->count; i < tree->nodes[place->count].last; i++)
      if (lift_is(tree, i, LIFT_CALL) || lift_is(tree, i, LIFT_SUBSCRIPT) ||
          (lift_is(tree, i, LIFT_NAME) && tree->nodes[i].declaration != LIFT_NONE && tree->nodes[i].declaration > place->variable))
         return lift_refuse(change, "line %u: the count is not known before the thread's number", line);
   for (uint32_t i = place->kernel; i < tree->nodes[place->kernel].last; i++)
      if (lift_is(tree, i, LIFT_RETURN) && !lift_inside(tree, i, place->statement))
         return lift_refuse(change, "line %u: another return", lift_line(tree, i));
   return true;
}

/* Whether a use of a pointer only says where an assignment stores, or gives another pointer its value. */
static bool only_stores(const lift_tree_t *tree, uint32_t use) {
   uint32_t top = use, around = tree->nodes[use].parent;
   for (; lift_is(tree, around, LIFT_SUBSCRIPT) || lift_is(tree, around, LIFT_PARENTHESES);
        top = around, around = tree->nodes[around].parent)
      if (lift_is(tree, around, LIFT_SUBSCRIPT) && lift_child(tree, around, 0) != top)
         return false;
   const uint32_t variable = lift_around(tree, use, LIFT_VARIABLE);
   return (top != use && lift_is_assignment(tree, around) && lift_operator_is(tree, around, "=") &&
           lift_assigned(tree, around) == top) ||
          (variable != LIFT_NONE && strchr(tree->nodes[variable].type, '*') &&
           strncmp(tree->nodes[variable].type, "const ", 6) != 0);
}

/* Whether nothing is loaded through a pointer through which the kernel stores: the threads past the end would load what the last one stores. */
static bool check_loads(const lift_tree_t *tree, const exit_place_t *place, lift_change_t *change) {
   const uint32_t kernel = place->kernel;
   for (uint32_t i = lift_body(tree, kernel); i < tree->nodes[kernel].last; i++) {
      const uint32_t pointer = lift_is(tree, i, LIFT_NAME) ? tree->nodes[i].declaration : LIFT_NONE;
      if (pointer == LIFT_NONE || !lift_inside(tree, pointer, kernel) ||
          !strchr(tree->nodes[pointer].type, '*') || strncmp(tree->nodes[pointer].type, "const ", 6) == 0 ||
          only_stores(tree, i))
         continue;
      return lift_refuse(change, "line %u: this may load what another thread stores", lift_line(tree, i));
   }
   return true;
}

/* Guards each assignment that reaches memory, so that only live threads make it. */
static bool guard_stores(const lift_tree_t *tree, const exit_place_t *place, const char *live, lift_change_t *change) {
   lift_effect_t effects[MOST_EFFECTS];
   for (uint32_t s = tree->nodes[place->statement].next; s != LIFT_NONE; s = tree->nodes[s].next) {
      const uint32_t count = lift_effects(tree, s, effects, MOST_EFFECTS, change);
      if (count == LIFT_NONE)
         return false;
      for (uint32_t i = 0; i < count; i++) {
         const uint32_t node = effects[i].node, variable = effects[i].variable;
         if (variable == LIFT_NONE)
            return lift_refuse(change, "line %u: it is not known what this changes", lift_line(tree, node));
         if (!strchr(tree->nodes[variable].type, '*'))
            continue;
         const enum lift_kind around = tree->nodes[tree->nodes[node].parent].kind;
         if (!lift_is_assignment(tree, node) || (around != LIFT_COMPOUND && around != LIFT_IF && around != LIFT_FOR))
            return lift_refuse(change, "line %u: a store that is not a statement", lift_line(tree, node));
         if (lift_assigned(tree, node) != LIFT_NONE && lift_is(tree, lift_plain(tree, lift_assigned(tree, node)), LIFT_NAME))
            continue; /* the assignment changes only the pointer itself */
         lift_replace(change, tree->nodes[node].start, tree->nodes[node].start, "{ if (%s) ", live);
         lift_replace(change, lift_statement_end(tree, node), lift_statement_end(tree, node), " }");
      }
   }
   return true;
}

bool lift_uniform_exit(const lift_subject_t *subject, lift_change_t *change) {
   const lift_tree_t *tree = subject->tree;
   uint32_t kernels[32];
   const uint32_t count = lift_kernels(tree, kernels, 32), first = lift_draw(subject, count);
   for (uint32_t k = 0; k < count; k++) {
      lift_change_t attempt = {0};
      exit_place_t place;
      char live[64], name[64];
      if (!find_exit(tree, kernels[(first + k) % count], &place))
         continue;
      lift_fresh_name(tree, "live", live, sizeof live);
      if (!check(tree, &place, &attempt) || !check_loads(tree, &place, &attempt) ||
          !guard_stores(tree, &place, live, &attempt)) {
         lift_refuse(change, "%s", attempt.refusal);
         lift_change_free(&attempt);
         continue;
      }
      rkb_text_t own, limit;
      rkb_text_init(&own, 4096);
      rkb_text_init(&limit, 4096);
      lift_write_node(&own, tree, lift_initialiser(tree, place.variable));
      lift_write_node(&limit, tree, place.count);
      const char *type = strstr(tree->nodes[place.variable].type, "long long") ? "long long" : "int";
      lift_replace(&attempt, tree->nodes[lift_initialiser(tree, place.variable)].start, tree->nodes[lift_initialiser(tree, place.variable)].end,
                   "min((%s)(%s), (%s)(%s) - 1)", type, rkb_text_get(&own), type, rkb_text_get(&limit));
      lift_replace(&attempt, tree->nodes[place.statement].start, lift_statement_end(tree, lift_child(tree, place.statement, 1)),
                   "const bool %s = (%s)(%s) < (%s)(%s); /* the others compute the last element once more */", live, type, rkb_text_get(&own), type,
                   rkb_text_get(&limit));
      rkb_text_free(&own);
      rkb_text_free(&limit);
      lift_name(tree, kernels[(first + k) % count], name, sizeof name);
      snprintf(attempt.note, sizeof attempt.note, "all threads of %s stay to its end", name);
      lift_change_free(change);
      *change = attempt;
      return true;
   }
   return lift_refuse(change, "no kernel begins with if (i >= count) return");
}
