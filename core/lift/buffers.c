/* Finds out which pointers are the beginning of a tensor or of scratch. */
#include "lift/buffers.h"

#include <string.h>
#include "lift/loops.h"

/* Whether the function gives the pointer itself another value. */
static bool moves(const lift_tree_t *tree, uint32_t function, uint32_t pointer) {
   for (uint32_t i = function; i < tree->nodes[function].last; i++)
      if (lift_is_assignment(tree, i) && lift_is(tree, lift_plain(tree, lift_assigned(tree, i)), LIFT_NAME) &&
          lift_base(tree, lift_assigned(tree, i)) == pointer)
         return true;
   return false;
}

void lift_write_pointee(const char *pointer, rkb_text_t *out) {
   const char *from = strncmp(pointer, "const ", 6) == 0 ? pointer + 6 : pointer;
   size_t length = strcspn(from, "*");
   while (length > 0 && from[length - 1] == ' ')
      length--;
   rkb_text_append(out, from, length);
}

bool lift_is_whole_buffer(const lift_tree_t *tree, const lift_launches_t *launches, uint32_t parameter) {
   return lift_begins_buffer(tree, launches, parameter) &&
          !lift_assigns(tree, tree->nodes[parameter].parent, parameter);
}

bool lift_begins_buffer(const lift_tree_t *tree, const lift_launches_t *launches, uint32_t parameter) {
   const uint32_t kernel = tree->nodes[parameter].parent;
   lift_list_t arguments, values;
   uint32_t index = 0, found = 0;
   if (!lift_is(tree, parameter, LIFT_PARAMETER) || !lift_is(tree, kernel, LIFT_KERNEL) ||
       !strchr(tree->nodes[parameter].type, '*') || moves(tree, kernel, parameter))
      return false;
   while (lift_parameter(tree, kernel, index) != parameter)
      index++;
   for (uint32_t l = 0; l < launches->count; l++) {
      if (!lift_launch_runs(&launches->list[l], tree, kernel, &arguments))
         continue;
      found++;
      if (!lift_list_split(launches->list[l].args, &values) || index >= values.count ||
          strpbrk(values.entries[index], "+ ") || strcmp(values.entries[index], "null") == 0)
         return false;
   }
   return found > 0;
}

bool lift_field_is_whole_buffer(const lift_tree_t *tree, const lift_launches_t *launches, uint32_t field) {
   const uint32_t holder = tree->nodes[field].parent;
   char name[64];
   uint32_t index = 0, found = 0;
   if (!lift_is(tree, holder, LIFT_STRUCT))
      return false;
   lift_name(tree, holder, name, sizeof name);
   for (uint32_t f = lift_child(tree, holder, 0); f != field && f != LIFT_NONE; f = tree->nodes[f].next)
      index += lift_is(tree, f, LIFT_FIELD);
   for (uint32_t m = lift_child(tree, holder, 0); m != LIFT_NONE; m = tree->nodes[m].next)
      if (lift_is(tree, m, LIFT_METHOD) && (lift_named(tree, m, name) || lift_assigns(tree, m, field)))
         return false;
   for (uint32_t i = 0; i < tree->count; i++) {
      if (tree->nodes[i].kind != LIFT_BRACES)
         continue;
      uint32_t before = tree->nodes[i].start;
      if (before > 0 && tree->text[before - 1] == '>')
         while (before > 0 && tree->text[before - 1] != '<')
            before--;
      before -= before > 0 && tree->text[before - 1] == '<';
      if (before < strlen(name) || strncmp(tree->text + before - strlen(name), name, strlen(name)) != 0)
         continue;
      const uint32_t value = lift_child(tree, i, index);
      if (value == LIFT_NONE || !lift_is(tree, value, LIFT_NAME) ||
          !lift_is_whole_buffer(tree, launches, tree->nodes[value].declaration))
         return false;
      found++;
   }
   return found > 0;
}
