/* Writes the loop of fours and the methods that give four elements, for vector_copy. */
#include <string.h>
#include "lift/multiples_of_four.h"
#include "lift/vector_copy.h"

static void replace_zero(const lift_tree_t *tree, uint32_t conditional, lift_change_t *inside) {
   lift_replace_node(inside, tree, lift_child(tree, conditional, 2), "float4{}");
}

/* Changes the last `float` before a name to float4. */
static void widen_type(const lift_tree_t *tree, uint32_t from, uint32_t name, lift_change_t *inside) {
   for (uint32_t at = name; at-- > from;)
      if (strncmp(tree->text + at, "float", 5) == 0) {
         lift_replace(inside, at, at + 5, "float4");
         return;
      }
}

/* The method again, with one access for the element and the three after it. */
static void write_reading(rkb_text_t *out, const vector_copy_t *copy, const vector_object_t *object) {
   const lift_tree_t *tree = copy->tree;
   const lift_node_t *method = &tree->nodes[object->method];
   lift_change_t inside = {0};
   widen_type(tree, method->start, method->name, &inside);
   lift_replace(&inside, method->name, method->name + (uint32_t)strlen(copy->method), "%s",
                copy->four_method);
   for (uint32_t i = object->method; i < method->last; i++) {
      if (lift_is(tree, i, LIFT_SUBSCRIPT)) {
         lift_replace(&inside, tree->nodes[i].start, tree->nodes[i].start,
                      "*reinterpret_cast<const float4 *>(&");
         lift_replace(&inside, tree->nodes[i].end, tree->nodes[i].end, ")");
         const uint32_t around = tree->nodes[i].parent;
         if (lift_is(tree, around, LIFT_VARIABLE))
            widen_type(tree, tree->nodes[around].start, tree->nodes[around].name, &inside);
      }
      uint32_t up = i;
      while (lift_is(tree, tree->nodes[up].parent, LIFT_PARENTHESES))
         up = tree->nodes[up].parent;
      if (lift_is(tree, i, LIFT_CONDITIONAL) && lift_is(tree, tree->nodes[up].parent, LIFT_RETURN))
         replace_zero(tree, i, &inside);
   }
   lift_write(out, tree, &inside, method->start, method->end);
   lift_change_free(&inside);
}

/* The method four times, for a struct whose elements do not lie side by side. */
static void write_gathering(rkb_text_t *out, const vector_copy_t *copy, const vector_object_t *object) {
   const lift_tree_t *tree = copy->tree;
   const lift_node_t *method = &tree->nodes[object->method];
   lift_change_t inside = {0};
   char name[64];
   widen_type(tree, method->start, method->name, &inside);
   lift_replace(&inside, method->name, method->name + (uint32_t)strlen(copy->method), "%s",
                copy->four_method);
   lift_write(out, tree, &inside, method->start, tree->nodes[lift_body(tree, object->method)].start);
   lift_change_free(&inside);
   rkb_text_add(out, "{\n      return float4{");
   for (int four = 0; four < 4; four++) {
      rkb_text_format(out, "%s%s(", four ? ", " : "", copy->method);
      for (uint32_t p = 0; lift_parameter(tree, object->method, p) != LIFT_NONE; p++) {
         lift_name(tree, lift_parameter(tree, object->method, p), name, sizeof name);
         rkb_text_format(out, "%s%s", p ? ", " : "", name);
         if (four && p == copy->ways[object->second].argument)
            rkb_text_format(out, " + %d", four);
      }
      rkb_text_add(out, ")");
   }
   rkb_text_add(out, "};\n   }");
}

static void write_object(const vector_copy_t *copy, const vector_object_t *object) {
   const lift_tree_t *tree = copy->tree;
   const lift_node_t *method = &tree->nodes[object->method];
   const char *guard = rkb_text_get(&object->guard);
   rkb_text_t out;
   char grown[64];
   rkb_text_init(&out, LIFT_MAX_TEXT);
   lift_name(tree, lift_parameter(tree, object->method, copy->ways[object->second].argument), grown,
             sizeof grown);
   rkb_text_format(
      &out, "\n   /* %s and the three elements after it along %s; one access, which %s allows. */\n   ",
      copy->method, grown, copy->in_fours);
   if (strncmp(tree->text + method->start, "__device__", 10) !=
       0) /* the node does not include attributes that come from macros */
      rkb_text_add(&out, "__device__ ");
   if (object->possible)
      write_reading(&out, copy, object);
   else
      write_gathering(&out, copy, object);
   rkb_text_format(&out, "\n   __device__ bool %s() const { return %s; }", copy->in_fours,
                   !object->possible ? "false"
                   : guard[0]        ? guard
                                     : "true");
   lift_replace(copy->change, method->end, method->end, "%s", rkb_text_get(&out));
   rkb_text_free(&out);
}

/* Writes the target of the iteration that is `four` steps further: adds the steps to the variable that grows. */
static void write_target(rkb_text_t *out, const vector_copy_t *copy, int four) {
   const lift_tree_t *tree = copy->tree;
   lift_change_t inside = {0};
   rkb_text_t choice;
   char name[64];
   rkb_text_init(&choice, 256);
   if (copy->choice != LIFT_NONE)
      lift_write_node(&choice, tree, copy->choice);
   const bool both = copy->choice != LIFT_NONE && copy->ways[0].local != copy->ways[1].local;
   for (uint32_t i = copy->target; four && i < tree->nodes[copy->target].last; i++)
      for (int w = 0; w < (both ? 2 : 1); w++) {
         if (!lift_is(tree, i, LIFT_NAME) || tree->nodes[i].declaration != copy->ways[w].local)
            continue;
         lift_name(tree, i, name, sizeof name);
         if (both)
            lift_replace(&inside, tree->nodes[i].start, tree->nodes[i].end,
                         w == 0 ? "%s + (%s ? %d : 0)" : "%s + (%s ? 0 : %d)", name, rkb_text_get(&choice),
                         four);
         else
            lift_replace(&inside, tree->nodes[i].start, tree->nodes[i].end, "%s + %d", name, four);
      }
   lift_write(out, tree, &inside, tree->nodes[copy->target].start, tree->nodes[copy->target].end);
   lift_change_free(&inside);
   rkb_text_free(&choice);
}

static void write_guard(rkb_text_t *out, const vector_copy_t *copy) {
   const lift_tree_t *tree = copy->tree;
   const char *one = rkb_text_get(&copy->ways[0].guard), *other = rkb_text_get(&copy->ways[1].guard);
   const uint32_t object = lift_child(tree, lift_child(tree, copy->call, 0), 0);
   if (copy->choice != LIFT_NONE) {
      rkb_text_add(out, "(");
      lift_write_node(out, tree, copy->choice);
      rkb_text_format(out, " ? %s : %s) && ", one[0] ? one : "true", other[0] ? other : "true");
   } else if (one[0]) {
      rkb_text_format(out, "%s && ", one);
   }
   lift_write_node(out, tree, object);
   rkb_text_format(out, ".%s()", copy->in_fours);
}

void vector_copy_write(vector_copy_t *copy) {
   const lift_tree_t *tree = copy->tree;
   const lift_loop_t *loop = &copy->loop;
   lift_change_t inside = {0};
   rkb_text_t out;
   char name[64], wanted[80];
   static const char elements[] = "xyzw";
   snprintf(wanted, sizeof wanted, "%s_four", copy->method);
   lift_fresh_name(tree, wanted, copy->four_method, sizeof copy->four_method);
   lift_fresh_name(tree, "in_fours", copy->in_fours, sizeof copy->in_fours);
   for (uint32_t o = 0; o < copy->object_count; o++)
      write_object(copy, &copy->objects[o]);
   rkb_text_init(&out, LIFT_MAX_TEXT);
   lift_name(tree, loop->variable, name, sizeof name);
   rkb_text_add(&out, "if (");
   write_guard(&out, copy);
   rkb_text_format(&out, ") {\n      for (int %s = 4 * threadIdx.x; %s < ", name, name);
   lift_write_node(&out, tree, loop->last);
   rkb_text_format(&out, "; %s += 4 * (", name);
   lift_write_node(&out, tree, loop->step);
   rkb_text_add(&out, ")) {\n");
   const uint32_t member = lift_child(tree, copy->call, 0), store = tree->nodes[copy->target].parent;
   for (uint32_t s = lift_child(tree, loop->body, 0); s != store; s = tree->nodes[s].next) {
      rkb_text_add(&out, "         ");
      lift_write(&out, tree, NULL, tree->nodes[s].start, lift_statement_end(tree, s));
      rkb_text_add(&out, "\n");
   }
   lift_replace(&inside, tree->nodes[member].name, tree->nodes[member].name + (uint32_t)strlen(copy->method),
                "%s", copy->four_method);
   if (lift_is(tree, copy->value, LIFT_CONDITIONAL))
      replace_zero(tree, copy->value, &inside);
   char four[64];
   lift_fresh_name(tree, "four", four, sizeof four);
   rkb_text_format(&out, "         const float4 %s = ", four);
   lift_write(&out, tree, &inside, tree->nodes[copy->value].start, tree->nodes[copy->value].end);
   rkb_text_add(&out, ";\n");
   for (int f = 0; f < 4; f++) {
      rkb_text_add(&out, "         ");
      write_target(&out, copy, f);
      rkb_text_format(&out, " = %s.%c;\n", four, elements[f]);
   }
   rkb_text_add(&out, "      }\n   } else\n   ");
   lift_replace(copy->change, tree->nodes[loop->node].start, tree->nodes[loop->node].start, "%s",
                rkb_text_get(&out));
   lift_change_free(&inside);
   rkb_text_free(&out);
}
