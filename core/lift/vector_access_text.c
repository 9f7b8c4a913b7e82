/* Writes the kernel in which a thread computes four elements (vector_access.h). */
#include <string.h>
#include "lift/buffers.h"
#include "lift/vector_access.h"

/* &pointer[index of the first of four] */
static void write_address(const vector_access_t *access, const vector_group_t *group, rkb_text_t *out) {
   const lift_tree_t *tree = access->tree;
   lift_change_t first = {0};
   char name[64];
   lift_name(tree, group->pointer, name, sizeof name);
   for (uint32_t i = group->index; i < tree->nodes[group->index].last; i++)
      if (lift_is(tree, i, LIFT_NAME) && tree->nodes[i].declaration == access->element)
         lift_replace_node(&first, tree, i, access->first);
   rkb_text_format(out, "%s + ", name);
   const bool sum = !lift_is(tree, group->index, LIFT_NAME);
   rkb_text_add(out, sum ? "(" : "");
   lift_write(out, tree, &first, tree->nodes[group->index].start, tree->nodes[group->index].end);
   rkb_text_add(out, sum ? ")" : "");
   lift_change_free(&first);
}

static void write_loads(const vector_access_t *access, rkb_text_t *out) {
   for (uint32_t g = 0; g < access->group_count; g++) {
      const vector_group_t *group = &access->groups[g];
      if (!group->whole)
         continue;
      rkb_text_t type;
      rkb_text_init(&type, 1024);
      lift_write_pointee(access->tree->nodes[group->pointer].type, &type);
      rkb_text_format(out, "   %s%s<%s> %s", group->stored ? "" : "const ", access->four_type,
                      rkb_text_get(&type), group->four);
      if (group->loaded) {
         rkb_text_format(out, " = *reinterpret_cast<const %s<%s> *>(", access->four_type,
                         rkb_text_get(&type));
         write_address(access, group, out);
         rkb_text_add(out, ")");
      }
      rkb_text_add(out, ";\n");
      rkb_text_free(&type);
   }
}

static void write_stores(const vector_access_t *access, rkb_text_t *out) {
   for (uint32_t p = 0; p < access->place_count; p++) {
      const vector_group_t *group = &access->groups[access->place_groups[p]];
      bool first = group->whole && group->stored;
      for (uint32_t q = 0; q < p; q++)
         first = first && access->place_groups[q] != access->place_groups[p];
      if (!first)
         continue;
      rkb_text_format(out, "   *reinterpret_cast<%s<", access->four_type);
      lift_write_pointee(access->tree->nodes[group->pointer].type, out);
      rkb_text_add(out, "> *>(");
      write_address(access, group, out);
      rkb_text_format(out, ") = %s;\n", group->four);
   }
}

/* The body: what comes before the guard, the guard, the loads, the rest for each element, the stores. */
static bool write_body(const vector_access_t *access, rkb_text_t *out) {
   const lift_tree_t *tree = access->tree;
   const uint32_t declaration = tree->nodes[access->element].parent,
                  initialiser = lift_initialiser(tree, access->element);
   char element[64], count[64], index[64];
   lift_change_t places = {0};
   lift_name(tree, access->element, element, sizeof element);
   lift_name(tree, access->count, count, sizeof count);
   lift_fresh_name(tree, "of_four", index, sizeof index);
   for (uint32_t p = 0; p < access->place_count; p++)
      if (access->groups[access->place_groups[p]].whole) {
         char text[160];
         snprintf(text, sizeof text, "%s.at[%s]", access->groups[access->place_groups[p]].four, index);
         lift_replace_node(&places, tree, access->places[p], text);
      }
   const bool is_const = strncmp(tree->nodes[access->element].type, "const ", 6) == 0;
   const char *type = tree->nodes[access->element].type + (is_const ? 6 : 0);
   rkb_text_append(out, tree->text + tree->nodes[access->body].start,
                   tree->nodes[declaration].start - tree->nodes[access->body].start);
   rkb_text_format(out, "const %s %s = 4 * (%s)(", type, access->first, type);
   lift_write_node(out, tree, initialiser);
   rkb_text_add(out, ");");
   rkb_text_append(out, tree->text + lift_statement_end(tree, declaration),
                   tree->nodes[access->guard].start - lift_statement_end(tree, declaration));
   rkb_text_format(out, "if (%s >= %s)\n      return;\n", access->first, count);
   write_loads(access, out);
   rkb_text_format(out, "#pragma unroll\n   for (int %s = 0; %s < 4; %s++) {\n      const %s %s = %s + %s;\n",
                   index, index, index, type, element, access->first, index);
   const bool compound = access->in_branch && lift_is(tree, access->rest, LIFT_COMPOUND);
   const uint32_t start = compound            ? tree->nodes[access->rest].start + 1
                          : access->in_branch ? tree->nodes[access->rest].start
                                              : lift_statement_end(tree, lift_child(tree, access->guard, 1)),
                  end = compound            ? tree->nodes[access->rest].end - 1
                        : access->in_branch ? lift_statement_end(tree, access->rest)
                                            : tree->nodes[access->body].end - 1;
   const bool sound = lift_write(out, tree, &places, start, end);
   rkb_text_add(out, "\n   }\n");
   write_stores(access, out);
   rkb_text_add(out, "}");
   lift_change_free(&places);
   return sound;
}

bool vector_access_write(vector_access_t *access) {
   const lift_tree_t *tree = access->tree;
   const uint32_t start = lift_function_start(tree, access->kernel), name = tree->nodes[access->kernel].name;
   char own[100];
   rkb_text_t body;
   rkb_text_init(&body, LIFT_MAX_TEXT);
   lift_name(tree, access->kernel, own, sizeof own);
   bool sound = write_body(access, &body) && !body.cut;
   if (sound) {
      lift_indent_lines(&body);
      rkb_text_t head;
      rkb_text_init(&head, LIFT_MAX_TEXT);
      rkb_text_append(&head, tree->text + start, name - start);
      rkb_text_add(&head, access->name);
      rkb_text_append(&head, tree->text + name + strlen(own),
                      tree->nodes[access->body].start - name - strlen(own));
      lift_replace(
         access->change, tree->nodes[access->kernel].end, tree->nodes[access->kernel].end,
         "\n\n/* Four neighbouring elements, which lie together in memory. */\ntemplate <class Number> struct alignas(4 * sizeof(Number)) %s {\n   Number at[4];\n};\n\n"
         "/* The same, where the number of elements is a multiple of four: a thread has four of them. */\n%s%s",
         access->four_type, rkb_text_get(&head), rkb_text_get(&body));
      rkb_text_free(&head);
   }
   rkb_text_free(&body);
   return sound || lift_refuse(access->change, "the text is not understood, or becomes too long");
}
