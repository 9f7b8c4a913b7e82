/* Takes sums apart into their terms (multiples_of_four.h). */
#include "lift/multiples_of_four.h"

#include <stdlib.h>
#include <string.h>

int64_t lift_coefficient(const lift_tree_t *tree, uint32_t index, uint32_t variable) {
   const uint32_t plain = lift_plain(tree, index);
   if (!lift_uses(tree, plain, variable))
      return 0;
   if (lift_is(tree, plain, LIFT_NAME))
      return 1;
   if (!lift_is(tree, plain, LIFT_BINARY))
      return -1;
   const uint32_t left = lift_child(tree, plain, 0), right = lift_child(tree, plain, 1);
   const int64_t a = lift_coefficient(tree, left, variable), b = lift_coefficient(tree, right, variable);
   if (lift_operator_is(tree, plain, "+"))
      return a && b ? -1 : a + b;
   if (!lift_operator_is(tree, plain, "*") || (a && b))
      return -1;
   const uint32_t other = lift_plain(tree, a ? right : left);
   return lift_is(tree, other, LIFT_INTEGER) && a + b > 0
             ? (a + b) * atoll(tree->text + tree->nodes[other].start)
             : -1;
}

bool lift_is_zero(const lift_tree_t *tree, uint32_t expression) {
   const uint32_t plain = lift_plain(tree, expression);
   return lift_text_is(tree, plain, "0.0f") || lift_text_is(tree, plain, "0.f") ||
          lift_text_is(tree, plain, "0");
}

/* fours ------------------------------------------------------------------------------------------------------- */

/* Whether everything that the expression names is declared outside of the place. */
static bool is_fixed(const lift_tree_t *tree, uint32_t expression, uint32_t place) {
   for (uint32_t i = expression; i < tree->nodes[expression].last; i++) {
      const lift_node_t *n = &tree->nodes[i];
      if (n->kind == LIFT_CALL || n->kind == LIFT_SUBSCRIPT || n->kind == LIFT_UNARY ||
          lift_is_assignment(tree, i) ||
          (n->kind == LIFT_NAME && (n->declaration == LIFT_NONE || lift_inside(tree, n->declaration, place))))
         return false;
   }
   return true;
}

static void write_question(rkb_text_t *out, const lift_tree_t *tree, uint32_t plain) {
   const bool sum = lift_is(tree, plain, LIFT_BINARY);
   rkb_text_add(out, sum ? "(" : "");
   lift_write_node(out, tree, plain);
   rkb_text_add(out, sum ? ") % 4 == 0" : " % 4 == 0");
}

/* Whether out already has the condition that this is a multiple of four. */
static bool is_asked(const rkb_text_t *out, const lift_tree_t *tree, uint32_t factor) {
   rkb_text_t question;
   rkb_text_init(&question, 1024);
   write_question(&question, tree, lift_plain(tree, factor));
   const char *found = strstr(rkb_text_get(out), rkb_text_get(&question));
   const bool asked = found && (found == rkb_text_get(out) || found[-1] == ' ');
   rkb_text_free(&question);
   return asked;
}

/* Whether a term is a multiple of four, perhaps under a condition that this function adds. */
static bool add_term(rkb_text_t *out, const lift_tree_t *tree, uint32_t term, uint32_t place) {
   const uint32_t plain = lift_plain(tree, term);
   if (lift_is(tree, plain, LIFT_INTEGER))
      return atoll(tree->text + tree->nodes[plain].start) % 4 == 0;
   if (lift_is(tree, plain, LIFT_BINARY) && lift_operator_is(tree, plain, "*")) {
      const uint32_t left = lift_child(tree, plain, 0), right = lift_child(tree, plain, 1);
      return is_asked(out, tree, left) || is_asked(out, tree, right) || add_term(out, tree, left, place) ||
             add_term(out, tree, right, place);
   }
   if (!is_fixed(tree, plain, place))
      return false;
   if (!is_asked(out, tree, plain)) {
      rkb_text_add(out, rkb_text_get(out)[0] ? " && " : "");
      write_question(out, tree, plain);
   }
   return true;
}

bool lift_in_fours(rkb_text_t *out, const lift_tree_t *tree, uint32_t expression, uint32_t variable,
                   uint32_t place) {
   const uint32_t plain = lift_plain(tree, expression);
   if (lift_is(tree, plain, LIFT_BINARY) && lift_operator_is(tree, plain, "+"))
      return lift_in_fours(out, tree, lift_child(tree, plain, 0), variable, place) &&
             lift_in_fours(out, tree, lift_child(tree, plain, 1), variable, place);
   if (lift_is(tree, plain, LIFT_NAME) && tree->nodes[plain].declaration == variable)
      return true;
   return !lift_uses(tree, plain, variable) && add_term(out, tree, plain, place);
}

bool lift_holds_in_fours(rkb_text_t *out, const lift_tree_t *tree, uint32_t condition, uint32_t variable,
                         uint32_t place) {
   const uint32_t plain = lift_plain(tree, condition);
   if (!lift_uses(tree, plain, variable))
      return true;
   if (lift_is(tree, plain, LIFT_UNARY) && lift_operator_is(tree, plain, "!"))
      return lift_holds_in_fours(out, tree, lift_child(tree, plain, 0), variable, place);
   if (!lift_is(tree, plain, LIFT_BINARY))
      return false;
   const uint32_t left = lift_child(tree, plain, 0), right = lift_child(tree, plain, 1);
   if (lift_operator_is(tree, plain, "&&") || lift_operator_is(tree, plain, "||") ||
       lift_operator_is(tree, plain, "&") || lift_operator_is(tree, plain, "|"))
      return lift_holds_in_fours(out, tree, left, variable, place) &&
             lift_holds_in_fours(out, tree, right, variable, place);
   return lift_operator_is(tree, plain, "<") && lift_coefficient(tree, left, variable) == 1 &&
          lift_in_fours(out, tree, left, variable, place) && !lift_uses(tree, right, variable) &&
          lift_in_fours(out, tree, right, variable, place);
}
