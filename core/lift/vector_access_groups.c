/* Finds the accesses that four neighbouring elements can make at once (vector_access.h). */
#include <string.h>
#include "lift/buffers.h"
#include "lift/loops.h"
#include "lift/multiples_of_four.h"
#include "lift/vector_access.h"

/* The expression of an index: that of a constant variable which the rest declares, or the index itself. */
static uint32_t index_of(const vector_access_t *access, uint32_t place) {
   const lift_tree_t *tree = access->tree;
   const uint32_t index = lift_plain(tree, lift_child(tree, place, 1));
   const uint32_t variable = lift_is(tree, index, LIFT_NAME) ? tree->nodes[index].declaration : LIFT_NONE;
   if (variable == LIFT_NONE || variable < access->rest || variable >= access->rest_end ||
       !lift_is(tree, variable, LIFT_VARIABLE) || lift_initialiser(tree, variable) == LIFT_NONE ||
       lift_assigns(tree, access->kernel, variable))
      return index;
   return lift_plain(tree, lift_initialiser(tree, variable));
}

/* Whether the index can be written before the rest: it names only the element and what comes before the guard, and reads no memory. */
static bool is_known_before(const vector_access_t *access, uint32_t index) {
   const lift_tree_t *tree = access->tree;
   for (uint32_t i = index; i < tree->nodes[index].last; i++) {
      if (lift_is(tree, i, LIFT_CALL) || lift_is(tree, i, LIFT_SUBSCRIPT) || lift_is(tree, i, LIFT_UNARY) ||
          lift_is_assignment(tree, i))
         return false;
      const uint32_t declaration = lift_is(tree, i, LIFT_NAME) ? tree->nodes[i].declaration : LIFT_NONE;
      if (declaration != LIFT_NONE &&
          (declaration >= access->rest || lift_assigns(tree, access->kernel, declaration)))
         return false;
   }
   return true;
}

/* Whether the index is a multiple of four at each fourth element if the count is one. */
static bool is_in_fours(const vector_access_t *access, uint32_t index) {
   rkb_text_t conditions;
   char count[64];
   rkb_text_init(&conditions, 4096);
   lift_name(access->tree, access->count, count, sizeof count);
   rkb_text_format(&conditions, "%s %% 4 == 0", count);
   const size_t known = conditions.length;
   const bool sound = lift_coefficient(access->tree, index, access->element) == 1 &&
                      lift_in_fours(&conditions, access->tree, index, access->element, access->rest) &&
                      conditions.length == known;
   rkb_text_free(&conditions);
   return sound;
}

/* Whether numbers of this pointer's type can be moved four at once. */
static bool is_of_numbers(const char *type) {
   static const char *const numbers[] = {"float", "int", "unsigned int", "__half", "__nv_bfloat16", NULL};
   const char *from = strncmp(type, "const ", 6) == 0 ? type + 6 : type;
   const size_t length =
      strcspn(from, " *") < strlen(from) && strncmp(from, "unsigned int", 12) == 0 ? 12 : strcspn(from, " *");
   if (from[length] == '\0' || strchr(from, '*') != strrchr(from, '*') || strstr(type, "volatile"))
      return false;
   for (int i = 0; numbers[i]; i++)
      if (strlen(numbers[i]) == length && strncmp(from, numbers[i], length) == 0)
         return true;
   return false;
}

/* Whether every element makes the access: nothing between it and the rest decides. */
static bool is_sure(const vector_access_t *access, uint32_t place) {
   const lift_tree_t *tree = access->tree;
   for (uint32_t up = tree->nodes[place].parent; up >= access->rest && up < access->rest_end;
        up = tree->nodes[up].parent) {
      const enum lift_kind kind = tree->nodes[up].kind;
      if (kind == LIFT_IF || kind == LIFT_FOR || kind == LIFT_WHILE || kind == LIFT_DO ||
          kind == LIFT_SWITCH || kind == LIFT_CONDITIONAL || kind == LIFT_LAMBDA ||
          (kind == LIFT_BINARY && (lift_operator_is(tree, up, "&&") || lift_operator_is(tree, up, "||"))))
         return false;
   }
   return true;
}

/* Adds an access to its group.  False: there are too many. */
static bool add_place(vector_access_t *access, uint32_t place, uint32_t pointer, uint32_t index) {
   const lift_tree_t *tree = access->tree;
   uint32_t g = 0;
   while (g < access->group_count &&
          (access->groups[g].pointer != pointer || !lift_same_source(tree, access->groups[g].index, index)))
      g++;
   if (g == VECTOR_ACCESS_GROUPS || access->place_count == VECTOR_ACCESS_PLACES)
      return false;
   if (g == access->group_count)
      access->groups[access->group_count++] = (vector_group_t){.pointer = pointer, .index = index};
   const uint32_t around = tree->nodes[place].parent;
   const bool stores = lift_is_assignment(tree, around) && lift_assigned(tree, around) == place,
              only = stores && lift_operator_is(tree, around, "=");
   access->groups[g].loaded = access->groups[g].loaded || !only;
   access->groups[g].stored = access->groups[g].stored || stores;
   access->groups[g].sure = access->groups[g].sure || is_sure(access, place);
   access->places[access->place_count] = place;
   access->place_groups[access->place_count++] = g;
   return true;
}

/* Whether each use of a pointer that may be stored to is a place of ours: of one group, or of several that are each only stored to, or only loaded. */
static bool check_uses(const vector_access_t *access, uint32_t pointer) {
   const lift_tree_t *tree = access->tree;
   uint32_t groups = 0, loaded = 0, stored = 0, uses = 0, places = 0;
   for (uint32_t g = 0; g < access->group_count; g++) {
      if (access->groups[g].pointer != pointer)
         continue;
      groups++;
      loaded += access->groups[g].loaded;
      stored += access->groups[g].stored;
      if (!access->groups[g].whole)
         return false;
   }
   for (uint32_t p = 0; p < access->place_count; p++) {
      const uint32_t around = tree->nodes[access->places[p]].parent;
      if (access->groups[access->place_groups[p]].pointer != pointer)
         continue;
      places++;
      if (lift_is_assignment(tree, around) && lift_assigned(tree, around) == access->places[p] &&
          !is_sure(access, access->places[p]))
         return false;
   }
   for (uint32_t i = access->body; i < tree->nodes[access->body].last; i++)
      uses += lift_is(tree, i, LIFT_NAME) && tree->nodes[i].declaration == pointer;
   return uses == places && (groups == 1 || loaded == 0 || stored == 0);
}

/* The name of a group's variable: four_of_x, or four_2_of_x for a second index of x. */
static void name_group(vector_access_t *access, uint32_t g) {
   char name[64], wanted[80];
   uint32_t same = 1;
   lift_name(access->tree, access->groups[g].pointer, name, sizeof name);
   for (uint32_t h = 0; h < g; h++)
      same += access->groups[h].pointer == access->groups[g].pointer;
   if (same == 1)
      snprintf(wanted, sizeof wanted, "four_of_%s", name);
   else
      snprintf(wanted, sizeof wanted, "four_%u_of_%s", same, name);
   lift_fresh_name(access->tree, wanted, access->groups[g].four, sizeof access->groups[g].four);
}

bool vector_access_groups(vector_access_t *access) {
   const lift_tree_t *tree = access->tree;
   for (uint32_t i = access->rest; i < access->rest_end; i++) {
      const uint32_t base =
         lift_is(tree, i, LIFT_SUBSCRIPT) ? lift_plain(tree, lift_child(tree, i, 0)) : LIFT_NONE;
      const uint32_t pointer = lift_is(tree, base, LIFT_NAME) ? tree->nodes[base].declaration : LIFT_NONE;
      if (!lift_is(tree, pointer, LIFT_PARAMETER) || lift_children(tree, i) != 2 ||
          !strchr(tree->nodes[pointer].type, '*'))
         continue;
      const uint32_t index = index_of(access, i);
      if (is_known_before(access, index) && is_in_fours(access, index) &&
          !add_place(access, i, pointer, index))
         return lift_refuse(access->change, "line %u: more than %d accesses", lift_line(tree, i),
                            VECTOR_ACCESS_PLACES);
   }
   uint32_t loads = 0, stores = 0;
   for (uint32_t g = 0; g < access->group_count; g++) {
      vector_group_t *group = &access->groups[g];
      group->whole = group->sure && is_of_numbers(tree->nodes[group->pointer].type) &&
                     lift_begins_buffer(tree, access->launches, group->pointer);
   }
   for (uint32_t g = 0; g < access->group_count; g++) {
      const vector_group_t *group = &access->groups[g];
      char name[64];
      name_group(access, g);
      if (!group->whole)
         continue;
      loads += group->loaded;
      stores += group->stored;
      lift_name(tree, group->pointer, name, sizeof name);
      if ((strncmp(tree->nodes[group->pointer].type, "const ", 6) != 0 || group->stored) &&
          !check_uses(access, group->pointer))
         return lift_refuse(access->change, "'%s' may be stored to, and is accessed in another way too",
                            name);
   }
   return (loads > 0 && stores > 0) ||
          lift_refuse(
             access->change,
             "no load and store whose index grows by one from element to element, and which every element makes");
}
