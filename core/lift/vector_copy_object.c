/* Reads the structs whose method gives the elements of a copy, for vector_copy: which of them can give four at once. */
#include <string.h>
#include "lift/buffers.h"
#include "lift/multiples_of_four.h"
#include "lift/vector_copy.h"

/* The struct's `static constexpr bool` that chooses the way; false where it has none with a plain value.  A struct in which the name does not
 * occur cannot be copied. */
static bool read_choice(const vector_copy_t *copy, uint32_t holder, bool *value, bool *copied) {
   const lift_tree_t *tree = copy->tree;
   const lift_node_t *choice = &tree->nodes[copy->choice];
   char text[128];
   snprintf(text, sizeof text, "%.*s", (int)(choice->end - choice->start), tree->text + choice->start);
   const char *name = strstr(text, "::") + 2;
   const char *found = strstr(tree->text + tree->nodes[holder].start, name);
   *copied = found && found < tree->text + tree->nodes[holder].end;
   for (uint32_t f = lift_child(tree, holder, 0); f != LIFT_NONE; f = tree->nodes[f].next) {
      const uint32_t initialiser =
         lift_is(tree, f, LIFT_VARIABLE) && lift_named(tree, f, name) ? lift_initialiser(tree, f) : LIFT_NONE;
      if (initialiser == LIFT_NONE || !lift_is(tree, initialiser, LIFT_BOOLEAN) ||
          strcmp(tree->nodes[f].type, "const bool") != 0)
         continue;
      *value = lift_text_is(tree, initialiser, "true");
      return true;
   }
   return false;
}

/* Whether the struct has a base, whose fields and methods are not looked at. */
static bool has_base(const lift_tree_t *tree, uint32_t holder) {
   const char *from = tree->text + tree->nodes[holder].name;
   const size_t head = strcspn(from, "{;");
   return memchr(from, ':', head) != NULL;
}

/* Whether a variable of the method stays the same within four elements: it does not name the value that grows, or it is a bool of a
 * condition that stays the same. */
static bool stays(vector_object_t *object, const lift_tree_t *tree, uint32_t variable, uint32_t grown) {
   const uint32_t initialiser = lift_initialiser(tree, variable);
   if (initialiser == LIFT_NONE || lift_assigns(tree, object->method, variable))
      return false;
   return !lift_uses(tree, initialiser, grown) ||
          (strcmp(tree->nodes[variable].type, "const bool") == 0 &&
           lift_holds_in_fours(&object->guard, tree, initialiser, grown, object->method));
}

/* The value itself; or, of condition ? value : 0 with a condition that stays the same, the value.  LIFT_NONE for any other conditional. */
static uint32_t chosen_value(vector_object_t *object, const lift_tree_t *tree, uint32_t expression, uint32_t grown) {
   const uint32_t plain = lift_plain(tree, expression);
   if (!lift_is(tree, plain, LIFT_CONDITIONAL))
      return plain;
   const bool stays = lift_is_zero(tree, lift_child(tree, plain, 2)) &&
                      lift_holds_in_fours(&object->guard, tree, lift_child(tree, plain, 0), grown, object->method);
   return stays ? lift_plain(tree, lift_child(tree, plain, 1)) : LIFT_NONE;
}

/* Whether the index is a sum that grows with the parameter. */
static bool reads_neighbours(vector_object_t *object, const lift_tree_t *tree, uint32_t index,
                             uint32_t grown) {
   const uint32_t sum = chosen_value(object, tree, index, grown);
   return sum != LIFT_NONE && lift_coefficient(tree, sum, grown) == 1 &&
          lift_in_fours(&object->guard, tree, sum, grown, object->method);
}

/* Whether the value is the load, or a variable that holds it. */
static bool gives_load(vector_object_t *object, const lift_tree_t *tree, uint32_t value, uint32_t load,
                       uint32_t grown) {
   const uint32_t given = chosen_value(object, tree, value, grown);
   return given == load || (lift_is(tree, given, LIFT_NAME) && tree->nodes[given].declaration == load);
}

/* Whether the method is declarations and one return, which gives one load of a whole buffer of floats. */
static bool reads_in_fours(const vector_copy_t *copy, vector_object_t *object, uint32_t grown) {
   const lift_tree_t *tree = copy->tree;
   const uint32_t body = lift_body(tree, object->method);
   uint32_t load = LIFT_NONE, value = LIFT_NONE;
   for (uint32_t i = object->method; i < tree->nodes[object->method].last; i++) {
      if (lift_is(tree, i, LIFT_SUBSCRIPT) && load != LIFT_NONE)
         return false;
      if (lift_is(tree, i, LIFT_SUBSCRIPT))
         load = i;
      if (lift_is(tree, i, LIFT_CALL) || lift_is(tree, i, LIFT_ASSEMBLY) || lift_is(tree, i, LIFT_LAMBDA))
         return false;
   }
   const uint32_t base = load == LIFT_NONE ? LIFT_NONE : lift_child(tree, load, 0);
   const uint32_t field = lift_is(tree, base, LIFT_MEMBER) || lift_is(tree, base, LIFT_NAME)
                             ? tree->nodes[base].declaration
                             : LIFT_NONE;
   if (body == LIFT_NONE || !lift_is(tree, field, LIFT_FIELD) ||
       strcmp(tree->nodes[field].type, "const float *") != 0 ||
       !lift_field_is_whole_buffer(tree, copy->launches, field) ||
       !reads_neighbours(object, tree, lift_child(tree, load, 1), grown))
      return false;
   uint32_t given = load;
   for (uint32_t s = lift_child(tree, body, 0); s != LIFT_NONE; s = tree->nodes[s].next) {
      if (lift_is(tree, s, LIFT_RETURN) && tree->nodes[s].next == LIFT_NONE) {
         value = lift_child(tree, s, 0);
         continue;
      }
      if (!lift_is(tree, s, LIFT_DECLARATIONS) || lift_children(tree, s) != 1)
         return false;
      const uint32_t variable = lift_child(tree, s, 0);
      if (lift_is(tree, variable, LIFT_VARIABLE) && lift_initialiser(tree, variable) != LIFT_NONE &&
          lift_plain(tree, lift_initialiser(tree, variable)) == load &&
          strcmp(tree->nodes[variable].type, "const float") == 0)
         given = variable;
      else if (!lift_is(tree, variable, LIFT_VARIABLE) || lift_inside(tree, load, variable) ||
               !stays(object, tree, variable, grown))
         return false;
   }
   return value != LIFT_NONE && gives_load(object, tree, value, given, grown);
}

static bool add_object(vector_copy_t *copy, uint32_t holder, uint32_t method) {
   const lift_tree_t *tree = copy->tree;
   char name[64];
   bool choice = true, copied = true;
   lift_name(tree, holder, name, sizeof name);
   for (uint32_t o = 0; o < copy->object_count; o++)
      if (copy->objects[o].holder == holder)
         return lift_refuse(copy->change, "%s has several methods %s", name, copy->method);
   if (copy->object_count == VECTOR_COPY_OBJECTS)
      return lift_refuse(copy->change, "more than %d structs have a method %s", VECTOR_COPY_OBJECTS,
                         copy->method);
   const bool sound = lift_is(tree, holder, LIFT_STRUCT) && !has_base(tree, holder);
   if (sound && copy->choice != LIFT_NONE && !read_choice(copy, holder, &choice, &copied) && !copied)
      return true;
   if (!sound || (copy->choice != LIFT_NONE && !read_choice(copy, holder, &choice, &copied)))
      return lift_refuse(copy->change, "line %u: %s has a base, or does not say which way it is copied",
                         lift_line(tree, holder), name);
   vector_object_t *object = &copy->objects[copy->object_count++];
   *object = (vector_object_t){.holder = holder, .method = method, .second = !choice};
   rkb_text_init(&object->guard, 4096);
   const uint32_t grown = lift_parameter(tree, method, copy->ways[object->second].argument);
   if (grown == LIFT_NONE || strcmp(tree->nodes[grown].type, "int") != 0 || lift_assigns(tree, method, grown))
      return lift_refuse(copy->change, "line %u: what grows is no int that the method leaves alone",
                         lift_line(tree, method));
   object->possible = reads_in_fours(copy, object, grown);
   return true;
}

/* If all structs are copied in the same way, there is only this way. */
static void keep_one_way(vector_copy_t *copy) {
   for (uint32_t o = 1; o < copy->object_count; o++)
      if (copy->objects[o].second != copy->objects[0].second)
         return;
   if (copy->choice != LIFT_NONE && copy->objects[0].second) {
      const vector_way_t kept = copy->ways[0];
      copy->ways[0] = copy->ways[1];
      copy->ways[1] = kept;
      for (uint32_t o = 0; o < copy->object_count; o++)
         copy->objects[o].second = false;
   }
   copy->choice = LIFT_NONE;
}

bool vector_copy_read_objects(vector_copy_t *copy) {
   const lift_tree_t *tree = copy->tree;
   uint32_t possible = 0;
   for (uint32_t i = 0; i < tree->count; i++)
      if (lift_is(tree, i, LIFT_METHOD) && lift_named(tree, i, copy->method) &&
          !add_object(copy, tree->nodes[i].parent, i))
         return false;
   keep_one_way(copy);
   for (uint32_t o = 0; o < copy->object_count; o++)
      possible += copy->objects[o].possible;
   return possible > 0 ||
          lift_refuse(copy->change,
                      "line %u: no struct's %s reads a whole buffer of floats at an index that grows by one",
                      lift_line(tree, copy->call), copy->method);
}
