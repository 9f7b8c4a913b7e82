/* join_launches: two launches that follow each other become one, and what the second reads of the first stays in a register.
 *
 * Before: a launch in which a thread stores an element, and one in which a thread of the same number loads it.
 * After: one kernel that makes the statements of both.  The store is left out where it goes to scratch that nobody else reads.
 *
 * Holds where
 *   - both launches have the same grid of one dimension, the same block and the same condition, and a launch behind them does not depend on that;
 *   - in both kernels a thread computes one element, `blockIdx.x * threads + threadIdx.x`, below the same count (vector_access_kernel.c);
 *   - a buffer that both kernels use, and one of them stores to, is accessed by both at the thread's element alone.  So a thread meets what it
 *     met before;
 *   - the first stores the element once, for every thread, by an assignment. */
#include "lift/join_launches.h"

#include <stdlib.h>
#include <string.h>
#include "lift/loops.h"

/* The length of the buffer's name in an argument. */
static size_t buffer_length(const char *argument) {
   return strcspn(argument, " +,*/");
}

static bool same_buffer(const char *one, const char *other) {
   const size_t length = buffer_length(one);
   return length > 0 && length == buffer_length(other) && strncmp(one, other, length) == 0;
}

/* Whether an access is pointer[element], and with which pointer. */
static bool is_at_element(const vector_access_t *kernel, uint32_t name) {
   const lift_tree_t *tree = kernel->tree;
   const uint32_t place = tree->nodes[name].parent;
   if (!lift_is(tree, place, LIFT_SUBSCRIPT) || lift_child(tree, place, 0) != name)
      return false;
   const uint32_t index = lift_plain(tree, lift_child(tree, place, 1));
   return lift_is(tree, index, LIFT_NAME) && tree->nodes[index].declaration == kernel->element;
}

/* Whether all that a kernel does with a pointer is to access the thread's element.  *stores counts the assignments. */
static bool stays_at_element(const vector_access_t *kernel, uint32_t pointer, uint32_t *stores,
                             uint32_t *uses) {
   const lift_tree_t *tree = kernel->tree;
   bool stays = true;
   *stores = *uses = 0;
   for (uint32_t i = kernel->body; i < tree->nodes[kernel->body].last; i++) {
      if (!lift_is(tree, i, LIFT_NAME) || tree->nodes[i].declaration != pointer)
         continue;
      const uint32_t place = tree->nodes[i].parent, around = tree->nodes[place].parent;
      stays = stays && is_at_element(kernel, i);
      *stores += lift_is_assignment(tree, around) && lift_assigned(tree, around) == place;
      (*uses)++;
   }
   return stays;
}

/* The assignment by which every thread stores its element, once; LIFT_NONE when there is another form. */
static uint32_t single_store(const vector_access_t *kernel, uint32_t pointer) {
   const lift_tree_t *tree = kernel->tree;
   for (uint32_t i = kernel->rest; i < kernel->rest_end; i++) {
      if (!lift_is_assignment(tree, i) || lift_base(tree, lift_assigned(tree, i)) != pointer)
         continue;
      const uint32_t around = tree->nodes[i].parent;
      const bool sure =
         kernel->in_branch ? i == kernel->rest || around == kernel->rest : around == kernel->body;
      return sure && lift_operator_is(tree, i, "=") ? i : LIFT_NONE;
   }
   return LIFT_NONE;
}

/* Checks each buffer that both kernels use, and finds the one through which the element goes. */
static bool check_buffers(join_launches_t *join) {
   const lift_tree_t *tree = join->tree;
   join->stored = LIFT_NONE;
   for (uint32_t a = 0; a < join->arguments[0]->count; a++)
      for (uint32_t b = 0; b < join->arguments[1]->count; b++) {
         const uint32_t one = lift_parameter(tree, join->kernels[0]->kernel, a),
                        other = lift_parameter(tree, join->kernels[1]->kernel, b);
         const char *argument = join->arguments[0]->entries[a];
         uint32_t stores, other_stores, uses;
         if (one == LIFT_NONE || other == LIFT_NONE)
            return lift_refuse(join->change, "launch %u has more arguments than the kernel", join->first + 1);
         if (!strchr(tree->nodes[one].type, '*') || !strchr(tree->nodes[other].type, '*') ||
             !same_buffer(argument, join->arguments[1]->entries[b]))
            continue;
         const bool still = strncmp(tree->nodes[one].type, "const ", 6) == 0 &&
                            strncmp(tree->nodes[other].type, "const ", 6) == 0;
         if (still)
            continue;
         const bool stays = stays_at_element(join->kernels[0], one, &stores, &uses),
                    single = stores == 1 && uses == 1;
         if (!stays || !stays_at_element(join->kernels[1], other, &other_stores, &uses) ||
             strcmp(argument, join->arguments[1]->entries[b]) != 0)
            return lift_refuse(join->change,
                               "launches %u and %u use '%.*s' at more than the thread's element",
                               join->first + 1, join->first + 2, (int)buffer_length(argument), argument);
         if (join->stored == LIFT_NONE && single && other_stores == 0 && uses > 0 &&
             single_store(join->kernels[0], one) != LIFT_NONE) {
            join->stored = one;
            join->loaded = other;
            join->store = single_store(join->kernels[0], one);
         }
      }
   return join->stored != LIFT_NONE ||
          lift_refuse(join->change, "launch %u stores no element for every thread that launch %u reads",
                      join->first + 1, join->first + 2);
}

/* Whether what is stored must stay: it is no scratch, or something else may read it. */
static bool must_keep(const join_launches_t *join) {
   const lift_tree_t *tree = join->tree;
   uint32_t index = 0, uses = 0;
   while (lift_parameter(tree, join->kernels[0]->kernel, index) != join->stored)
      index++;
   const char *argument = join->arguments[0]->entries[index];
   bool scratch = false;
   for (uint32_t s = 0; s < join->manifest->scratch_count; s++)
      scratch = scratch || strcmp(join->manifest->scratch[s].name, argument) == 0;
   lift_list_t *values = rkb_allocate(1, sizeof *values);
   for (uint32_t l = 0; scratch && l < join->launches->count; l++) {
      scratch = lift_list_split(join->launches->list[l].args, values);
      for (uint32_t v = 0; v < values->count; v++)
         uses += strstr(values->entries[v], argument) != NULL;
   }
   free(values);
   return !scratch || uses != 2 || join->manifest->map_count > 0;
}

static uint32_t kernel_of(const join_launches_t *join, uint32_t launch, lift_list_t *templates) {
   uint32_t kernels[32];
   const uint32_t count = lift_kernels(join->tree, kernels, 32);
   for (uint32_t k = 0; k < count; k++)
      if (lift_launch_runs(&join->launches->list[launch], join->tree, kernels[k], templates))
         return kernels[k];
   return LIFT_NONE;
}

static bool read_kernels(join_launches_t *join) {
   for (uint32_t which = 0; which < 2; which++) {
      vector_access_t *kernel = join->kernels[which];
      const lift_launch_t *launch = &join->launches->list[join->first + which];
      kernel->tree = join->tree;
      kernel->manifest = join->manifest;
      kernel->change = join->change;
      kernel->launches = join->launches;
      kernel->kernel = kernel_of(join, join->first + which, join->templates[which]);
      if (kernel->kernel == LIFT_NONE || !lift_list_split(launch->args, join->arguments[which]))
         return lift_refuse(join->change,
                            "launch %u: its kernel is not in the text, or has too many arguments",
                            join->first + which + 1);
      kernel->body = lift_body(join->tree, kernel->kernel);
      if (join->tree->nodes[kernel->kernel].last - kernel->kernel > LIFT_MAX_KERNEL ||
          !vector_access_read(kernel))
         return lift_refuse(join->change, "the kernel is too long");
   }
   return join->kernels[0]->kernel != join->kernels[1]->kernel ||
          lift_refuse(join->change, "launches %u and %u run one kernel", join->first + 1, join->first + 2);
}

static const char *count_of(const join_launches_t *join, uint32_t which) {
   uint32_t index = 0;
   while (lift_parameter(join->tree, join->kernels[which]->kernel, index) != join->kernels[which]->count)
      index++;
   return index < join->arguments[which]->count ? join->arguments[which]->entries[index] : "";
}

static bool check_launches(const join_launches_t *join) {
   const lift_launch_t *one = &join->launches->list[join->first], *other = one + 1;
   const bool followed =
      join->first + 2 < join->launches->count && join->launches->list[join->first + 2].is_else;
   if (one->is_else || other->is_else || followed || strcmp(one->when, other->when) != 0)
      return lift_refuse(join->change, "launches %u and %u have different conditions", join->first + 1,
                         join->first + 2);
   if (strchr(one->args, '{') || strchr(other->args, '{'))
      return lift_refuse(join->change, "launch %u or %u passes a struct", join->first + 1, join->first + 2);
   if (one->shared[0] || other->shared[0] || one->cooperative || other->cooperative)
      return lift_refuse(join->change, "launch %u or %u has dynamic shared memory or is cooperative",
                         join->first + 1, join->first + 2);
   if (!lift_same_text(one->grid, other->grid) || !lift_same_text(one->block, other->block))
      return lift_refuse(join->change, "launches %u and %u have different grids or blocks", join->first + 1,
                         join->first + 2);
   lift_list_t *grid = rkb_allocate(1, sizeof *grid);
   const bool flat = lift_list_split(one->grid, grid) && grid->count == 1;
   free(grid);
   return flat ||
          lift_refuse(join->change, "launch %u has a grid of more than one dimension", join->first + 1);
}

static bool apply_to(const lift_subject_t *subject, const lift_launches_t *launches, uint32_t first,
                     lift_change_t *change) {
   vector_access_t *kernels = rkb_allocate(2, sizeof *kernels);
   lift_list_t *lists = rkb_allocate(4, sizeof *lists);
   join_launches_t *join = rkb_allocate(1, sizeof *join);
   memset(kernels, 0, 2 * sizeof *kernels);
   *join = (join_launches_t){.tree = subject->tree,
                             .manifest = subject->manifest,
                             .change = change,
                             .launches = launches,
                             .first = first,
                             .kernels = {kernels, kernels + 1},
                             .arguments = {lists, lists + 1},
                             .templates = {lists + 2, lists + 3}};
   bool sound = check_launches(join) && read_kernels(join) &&
                (lift_same_text(count_of(join, 0), count_of(join, 1)) ||
                 lift_refuse(change, "launches %u and %u have different counts", first + 1, first + 2)) &&
                check_buffers(join);
   if (sound) {
      join->keeps = must_keep(join);
      sound = join_launches_names(join) && join_launches_write(join);
   }
   if (sound)
      snprintf(change->note, sizeof change->note, "launches %u and %u are one%s", first + 1, first + 2,
               join->keeps ? "" : ", and nothing is stored between them");
   free(join);
   free(lists);
   free(kernels);
   return sound;
}

bool lift_join_launches(const lift_subject_t *subject, lift_change_t *change) {
   lift_launches_t *launches = rkb_allocate(1, sizeof *launches);
   bool made = false;
   if (lift_launches_read(subject->manifest, launches, change)) {
      const uint32_t count = launches->count > 0 ? launches->count - 1 : 0, first = lift_draw(subject, count);
      for (uint32_t i = 0; !made && i < count; i++) {
         lift_change_t attempt = {0};
         made = lift_attempted(change, &attempt, apply_to(subject, launches, (first + i) % count, &attempt));
      }
   }
   free(launches);
   return made || lift_refuse(change, "there are no two launches");
}
