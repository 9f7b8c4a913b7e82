/* select_load: a load that is made only under a condition becomes a load that is always made, from a place that
 * may be read.
 *
 * Before: `inside ? p[i] : 0.0f`; or `if (outside) continue;` before a load whose value is only multiplied and
 * added up; or a function that returns 0 early and otherwise a load.
 * After: where the wanted element is outside, the thread reads element 0 of the tensor and then selects 0.  So no
 * branch stands between loads, and many of them are in flight at once.
 *
 * Holds where
 *   - the pointer is a kernel's parameter to which every launch passes a whole tensor or scratch buffer, or the sum
 *     of such a parameter and an offset: then element 0 exists;
 *   - the condition consists of comparisons and names only, so that evaluating all of it does no harm;
 *   - the selected value is zero otherwise.  After a `continue`, the value is only a factor of products that are
 *     added up with +=, and no other load there depends on the names of the condition.  Adding a zero product then
 *     changes nothing, if the other factor is finite. */
#include <stdlib.h>
#include <string.h>
#include "lift/buffers.h"
#include "lift/launches.h"
#include "lift/multiples_of_four.h"
#include "lift/loops.h"
#include "lift/rewrite.h"

enum { MOST_METHODS = 16 };

typedef struct chooser {
   const lift_subject_t *subject;
   lift_launches_t *launches;
   lift_change_t *change;
   uint32_t made;
   uint32_t methods[MOST_METHODS], method_count; /* rewritten methods, which have one more parameter */
} chooser_t;

/* Whether a condition consists only of comparisons of names, members, numbers and sums of them. */
static bool is_harmless(const lift_tree_t *tree, uint32_t condition) {
   for (uint32_t i = condition; i < tree->nodes[condition].last; i++) {
      const enum lift_kind kind = tree->nodes[i].kind;
      if (kind != LIFT_BINARY && kind != LIFT_NAME && kind != LIFT_MEMBER && kind != LIFT_INTEGER && kind != LIFT_PARENTHESES && kind != LIFT_CAST &&
          kind != LIFT_BOOLEAN && !(kind == LIFT_UNARY && (lift_operator_is(tree, i, "!") || lift_operator_is(tree, i, "-"))))
         return false;
      if (lift_is_assignment(tree, i) || (kind == LIFT_BINARY && (lift_operator_is(tree, i, "/") || lift_operator_is(tree, i, "%"))))
         return false;
   }
   return true;
}

/* Writes the condition with & and | instead of && and ||, so that it has no branch. */
static void write_flat(rkb_text_t *out, const lift_tree_t *tree, uint32_t condition) {
   const uint32_t plain = lift_plain(tree, condition);
   const bool and = lift_is(tree, plain, LIFT_BINARY) && lift_operator_is(tree, plain, "&&"),
              or = lift_is(tree, plain, LIFT_BINARY) && lift_operator_is(tree, plain, "||");
   if (!and && !or) {
      rkb_text_add(out, "(");
      lift_write_node(out, tree, plain);
      rkb_text_add(out, ")");
      return;
   }
   rkb_text_add(out, "(");
   write_flat(out, tree, lift_child(tree, plain, 0));
   rkb_text_add(out, and ? " & " : " | ");
   write_flat(out, tree, lift_child(tree, plain, 1));
   rkb_text_add(out, ")");
}

typedef struct load {
   uint32_t subscript;
   const char *type;       /* type of its pointer */
   rkb_text_t base, index; /* the whole buffer, and the index in it, as expressions */
} load_t;

static void free_load(load_t *load) {
   rkb_text_free(&load->base);
   rkb_text_free(&load->index);
}

/* Reads p[i], where p is a whole buffer or a variable that is a whole buffer plus an offset. */
static bool read_load(const chooser_t *chooser, uint32_t node, load_t *load) {
   const lift_tree_t *tree = chooser->subject->tree;
   char name[128];
   load->subscript = lift_plain(tree, node);
   rkb_text_init(&load->base, 1024);
   rkb_text_init(&load->index, 4096);
   if (!lift_is(tree, load->subscript, LIFT_SUBSCRIPT))
      return false;
   const uint32_t base = lift_child(tree, load->subscript, 0), index = lift_child(tree, load->subscript, 1);
   const uint32_t declared = lift_is(tree, base, LIFT_NAME) || lift_is(tree, base, LIFT_MEMBER) ? tree->nodes[base].declaration : LIFT_NONE;
   if (declared == LIFT_NONE)
      return false;
   load->type = tree->nodes[declared].type;
   if (lift_is(tree, declared, LIFT_FIELD) ? lift_field_is_whole_buffer(tree, chooser->launches, declared)
                                           : lift_is_whole_buffer(tree, chooser->launches, declared)) {
      lift_write_node(&load->base, tree, base);
      lift_write_node(&load->index, tree, index);
      return true;
   }
   const uint32_t sum = lift_is(tree, declared, LIFT_VARIABLE) ? lift_initialiser(tree, declared) : LIFT_NONE;
   if (sum == LIFT_NONE || !lift_is(tree, sum, LIFT_BINARY) || !lift_operator_is(tree, sum, "+") || !lift_is(tree, lift_child(tree, sum, 0), LIFT_NAME) ||
       !lift_is_whole_buffer(tree, chooser->launches, tree->nodes[lift_child(tree, sum, 0)].declaration) ||
       lift_assigns(tree, lift_function_of(tree, declared), declared))
      return false;
   const uint32_t offset = lift_child(tree, sum, 1);
   if (lift_changes_names_of(tree, lift_around(tree, declared, LIFT_COMPOUND), offset))
      return false;
   lift_name(tree, lift_child(tree, sum, 0), name, sizeof name);
   rkb_text_add(&load->base, name);
   rkb_text_add(&load->index, "(");
   lift_write_node(&load->index, tree, offset);
   rkb_text_add(&load->index, ") + (");
   lift_write_node(&load->index, tree, index);
   rkb_text_add(&load->index, ")");
   return true;
}

/* "float" of "const float *" */
static void element_type(const char *pointer, char *out, size_t size) {
   snprintf(out, size, "%s", strncmp(pointer, "const ", 6) == 0 ? pointer + 6 : pointer);
   out[strcspn(out, "*")] = '\0';
   while (out[0] && out[strlen(out) - 1] == ' ')
      out[strlen(out) - 1] = '\0';
}

/* functions that return a load or zero -------------------------------------------------------------------- */

static bool is_return_of_zero(const lift_tree_t *tree, uint32_t statement) {
   if (lift_is(tree, statement, LIFT_COMPOUND) && lift_children(tree, statement) == 1)
      statement = lift_child(tree, statement, 0);
   return lift_is(tree, statement, LIFT_RETURN) && lift_children(tree, statement) == 1 && lift_is_zero(tree, lift_child(tree, statement, 0));
}

/* Changes a method that consists of early returns of zero, declarations, and the return of a load; a condition may
 * choose between the load and zero. */
static bool choose_in_method(chooser_t *chooser, uint32_t method) {
   const lift_tree_t *tree = chooser->subject->tree;
   const uint32_t body = lift_body(tree, method);
   lift_change_t inside = {0};
   rkb_text_t condition;
   load_t load;
   char type[128];
   uint32_t last = LIFT_NONE, parameter = LIFT_NONE;
   bool sound = body != LIFT_NONE && chooser->method_count < MOST_METHODS;
   for (uint32_t p = 0; lift_parameter(tree, method, p) != LIFT_NONE; p++)
      parameter = lift_parameter(tree, method, p);
   rkb_text_init(&condition, 4096);
   rkb_text_add(&condition, "inside");
   for (uint32_t s = sound ? lift_child(tree, body, 0) : LIFT_NONE; sound && s != LIFT_NONE; s = tree->nodes[s].next) {
      const bool early = lift_is(tree, s, LIFT_IF) && lift_children(tree, s) == 2 && is_return_of_zero(tree, lift_child(tree, s, 1));
      last = s;
      if (early && is_harmless(tree, lift_child(tree, s, 0))) {
         rkb_text_t flat;
         rkb_text_init(&flat, 2048);
         write_flat(&flat, tree, lift_child(tree, s, 0));
         lift_replace(&inside, tree->nodes[s].start, lift_statement_end(tree, lift_child(tree, s, 1)), "inside = inside & !%s;", rkb_text_get(&flat));
         rkb_text_free(&flat);
      } else {
         sound = lift_is(tree, s, LIFT_DECLARATIONS) || (lift_is(tree, s, LIFT_RETURN) && tree->nodes[s].next == LIFT_NONE);
      }
   }
   sound = sound && parameter != LIFT_NONE && last != LIFT_NONE && lift_is(tree, last, LIFT_RETURN) && lift_children(tree, last) == 1;
   uint32_t value = sound ? lift_plain(tree, lift_child(tree, last, 0)) : LIFT_NONE;
   if (sound && lift_is(tree, value, LIFT_CONDITIONAL)) {
      sound = is_harmless(tree, lift_child(tree, value, 0)) && lift_is_zero(tree, lift_child(tree, value, 2));
      rkb_text_add(&condition, " & ");
      write_flat(&condition, tree, lift_child(tree, value, 0));
      value = lift_child(tree, value, 1);
   } else if (inside.count == 0) {
      sound = false; /* the method has no condition that selects a value */
   }
   if (sound) {
      sound = read_load(chooser, value, &load);
      if (sound) {
         element_type(load.type, type, sizeof type);
         lift_replace(chooser->change, tree->nodes[parameter].end, tree->nodes[parameter].end, ", bool inside = true");
         lift_replace(&inside, tree->nodes[last].start, lift_statement_end(tree, last),
                      "const bool chosen = %s;\n      const %s value = %s[chosen ? %s : 0];\n      return chosen ? value : 0.0f;",
                      rkb_text_get(&condition), type, rkb_text_get(&load.base), rkb_text_get(&load.index));
         for (uint32_t e = 0; e < inside.count; e++)
            lift_replace(chooser->change, inside.edits[e].start, inside.edits[e].end, "%s", inside.edits[e].text);
         chooser->methods[chooser->method_count++] = method;
         chooser->made++;
      }
      free_load(&load);
   }
   rkb_text_free(&condition);
   lift_change_free(&inside);
   return sound;
}

/* expressions and statements ------------------------------------------------------------------------------- */

/* Changes inside ? object.method(...) : 0 so that the method selects. */
static bool pass_condition(chooser_t *chooser, uint32_t node) {
   const lift_tree_t *tree = chooser->subject->tree;
   const uint32_t call = lift_plain(tree, lift_child(tree, node, 1));
   char name[128];
   uint32_t methods = 0, rewritten = 0;
   if (!lift_is(tree, call, LIFT_CALL) || lift_children(tree, call) < 2 || !lift_is(tree, lift_child(tree, call, 0), LIFT_MEMBER))
      return false;
   lift_callee(tree, call, name, sizeof name);
   for (uint32_t i = 0; i < tree->count; i++)
      methods += lift_is(tree, i, LIFT_METHOD) && lift_named(tree, i, name);
   for (uint32_t m = 0; m < chooser->method_count; m++)
      rewritten += lift_named(tree, chooser->methods[m], name);
   if (methods == 0 || methods != rewritten)
      return false;
   rkb_text_t text;
   rkb_text_init(&text, 8192);
   rkb_text_append(&text, tree->text + tree->nodes[call].start, tree->nodes[call].end - 1 - tree->nodes[call].start);
   rkb_text_add(&text, ", ");
   write_flat(&text, tree, lift_child(tree, node, 0));
   rkb_text_add(&text, ")");
   lift_replace_node(chooser->change, tree, node, rkb_text_get(&text));
   rkb_text_free(&text);
   chooser->made++;
   return true;
}

/* The statement of a block that contains the node; LIFT_NONE when the node is elsewhere (a loop's header, a body without braces). */
static uint32_t block_statement(const lift_tree_t *tree, uint32_t node) {
   uint32_t up = node;
   while (tree->nodes[up].parent != LIFT_NONE && !lift_is(tree, tree->nodes[up].parent, LIFT_COMPOUND)) {
      up = tree->nodes[up].parent;
      if (lift_is(tree, up, LIFT_FOR) || lift_is(tree, up, LIFT_IF) || lift_is(tree, up, LIFT_WHILE) || lift_is(tree, up, LIFT_CONDITIONAL))
         return LIFT_NONE;
   }
   return up;
}

/* Changes inside ? p[i] : 0. */
static bool choose_expression(chooser_t *chooser, uint32_t node) {
   const lift_tree_t *tree = chooser->subject->tree;
   const uint32_t statement = block_statement(tree, node);
   char type[128], name[32];
   load_t load;
   if (statement == LIFT_NONE || !lift_is_zero(tree, lift_child(tree, node, 2)) || !is_harmless(tree, lift_child(tree, node, 0)))
      return false;
   const bool sound = read_load(chooser, lift_child(tree, node, 1), &load);
   if (sound) {
      rkb_text_t flat;
      rkb_text_init(&flat, 4096);
      write_flat(&flat, tree, lift_child(tree, node, 0));
      element_type(load.type, type, sizeof type);
      snprintf(name, sizeof name, "%u", chooser->made);
      lift_replace(chooser->change, tree->nodes[statement].start, tree->nodes[statement].start,
                   "const bool chosen_%s = %s;\n      const %s read_%s = %s[chosen_%s ? %s : 0];\n      ", name, rkb_text_get(&flat), type, name,
                   rkb_text_get(&load.base), name, rkb_text_get(&load.index));
      lift_replace(chooser->change, tree->nodes[node].start, tree->nodes[node].end, "(chosen_%s ? read_%s : 0.0f)", name, name);
      rkb_text_free(&flat);
      chooser->made++;
   }
   free_load(&load);
   return sound;
}

static bool is_factor(const lift_tree_t *tree, uint32_t product, uint32_t variable) {
   const uint32_t plain = lift_plain(tree, product);
   if (lift_is(tree, plain, LIFT_NAME))
      return tree->nodes[plain].declaration == variable;
   return lift_is(tree, plain, LIFT_BINARY) && lift_operator_is(tree, plain, "*") &&
          (is_factor(tree, lift_child(tree, plain, 0), variable) || is_factor(tree, lift_child(tree, plain, 1), variable));
}

/* Whether, from this statement on, the value is used only as a factor of a sum's terms, and no load depends on the
 * condition's names. */
static bool only_products(const lift_tree_t *tree, uint32_t from, uint32_t variable, uint32_t condition) {
   for (uint32_t s = from; s != LIFT_NONE; s = tree->nodes[s].next)
      for (uint32_t i = s; i < tree->nodes[s].last; i++) {
         if (lift_is(tree, i, LIFT_CALL) || lift_is(tree, i, LIFT_CONTINUE) || lift_is(tree, i, LIFT_RETURN) || lift_is(tree, i, LIFT_BREAK))
            return false;
         const uint32_t target = lift_is_assignment(tree, i) ? lift_base(tree, lift_assigned(tree, i)) : LIFT_NONE;
         const bool own = target != LIFT_NONE && lift_inside(tree, target, s);
         if (lift_is_assignment(tree, i) && !own &&
             (!lift_operator_is(tree, i, "+=") || !is_factor(tree, lift_child(tree, i, 1), variable) || !lift_is(tree, target, LIFT_VARIABLE)))
            return false;
         if (lift_is(tree, i, LIFT_SUBSCRIPT))
            for (uint32_t n = condition; n < tree->nodes[condition].last; n++)
               if (lift_is(tree, n, LIFT_NAME) && lift_is(tree, tree->nodes[n].declaration, LIFT_VARIABLE) &&
                   lift_uses(tree, lift_child(tree, i, 1), tree->nodes[n].declaration))
                  return false;
      }
   return true;
}

/* Changes if (outside) continue; const float value = p[i]; ... */
static bool choose_after_continue(chooser_t *chooser, uint32_t statement) {
   const lift_tree_t *tree = chooser->subject->tree;
   const uint32_t condition = lift_child(tree, statement, 0), declarations = tree->nodes[statement].next;
   char type[128], name[64];
   load_t load;
   if (lift_children(tree, statement) != 2 || !lift_is(tree, lift_child(tree, statement, 1), LIFT_CONTINUE) || !is_harmless(tree, condition) ||
       declarations == LIFT_NONE || !lift_is(tree, declarations, LIFT_DECLARATIONS) || lift_children(tree, declarations) != 1 ||
       !lift_is(tree, tree->nodes[statement].parent, LIFT_COMPOUND))
      return false;
   const uint32_t variable = lift_child(tree, declarations, 0), value = lift_initialiser(tree, variable);
   if (value == LIFT_NONE || !only_products(tree, tree->nodes[declarations].next, variable, condition))
      return false;
   const bool sound = read_load(chooser, value, &load);
   if (sound) {
      rkb_text_t flat;
      rkb_text_init(&flat, 4096);
      write_flat(&flat, tree, condition);
      element_type(load.type, type, sizeof type);
      lift_name(tree, variable, name, sizeof name);
      lift_replace(chooser->change, tree->nodes[statement].start, lift_statement_end(tree, declarations),
                   "const bool %s_inside = !%s;\n         const %s %s_read = %s[%s_inside ? %s : 0];\n         const %s %s = %s_inside ? %s_read : 0.0f;",
                   name, rkb_text_get(&flat), type, name, rkb_text_get(&load.base), name, rkb_text_get(&load.index), type, name, name, name);
      rkb_text_free(&flat);
      chooser->made++;
   }
   free_load(&load);
   return sound;
}

bool lift_select_load(const lift_subject_t *subject, lift_change_t *change) {
   const lift_tree_t *tree = subject->tree;
   lift_launches_t *launches = rkb_allocate(1, sizeof *launches);
   chooser_t chooser = {.subject = subject, .launches = launches, .change = change};
   if (lift_launches_read(subject->manifest, launches, change)) {
      for (uint32_t i = 0; i < tree->count; i++)
         if (lift_is(tree, i, LIFT_METHOD))
            choose_in_method(&chooser, i);
      for (uint32_t i = 0; i < tree->count; i++) {
         const uint32_t function = lift_function_of(tree, i);
         bool done = false;
         for (uint32_t m = 0; m < chooser.method_count; m++)
            done = done || chooser.methods[m] == function;
         if (!done && lift_is(tree, i, LIFT_CONDITIONAL) && lift_children(tree, i) == 3) {
            if (!(lift_is_zero(tree, lift_child(tree, i, 2)) && is_harmless(tree, lift_child(tree, i, 0)) && pass_condition(&chooser, i)))
               choose_expression(&chooser, i);
         } else if (!done && lift_is(tree, i, LIFT_IF)) {
            choose_after_continue(&chooser, i);
         }
      }
   }
   free(launches);
   snprintf(change->note, sizeof change->note, "%u loads are made always, and chosen afterwards", chooser.made);
   return chooser.made > 0 || lift_refuse(change, "no load from a whole buffer that is zero where a comparison fails");
}
