/* split_reduction: a sum over a long loop is split over blocks.
 *
 * Before: a kernel adds to sums in a loop, itself or through one function that has the loop, and then uses the sums.
 * After: the grid has a third dimension.  The blocks with blockIdx.z = z make part z of the loop's steps and store
 * their sums in scratch.  A second launch with the old grid does everything again except the loop; in place of the
 * loop it adds the parts in order.
 *
 * Holds where
 *   - the loop counts up, nothing leaves it early, and its bounds and step do not change in it;
 *   - the loop changes only three things: its own variables, shared memory that each step writes anew, and sums, with
 *     +=; it does not read the sums elsewhere.  So any split of the steps gives the same sums in another order of adding;
 *   - the sums are floats that are zero before the loop;
 *   - the code before the loop stores nothing outside the thread, so that running it twice changes nothing;
 *   - the grid has at most two dimensions and the block has one. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "lift/launches.h"
#include "lift/loops.h"
#include "lift/rewrite.h"

enum { MOST_SUMS = 8, MOST_EFFECTS = 64, MOST_LENGTHS = 4 };

typedef struct split {
   uint32_t kernel, body, statement; /* the statement of the kernel that contains the whole sum */
   /* The function with the loop: the kernel, or the function that the statement calls. */
   uint32_t function;
   lift_loop_t loop;
   uint32_t sums[MOST_SUMS], sum_count;                      /* variables of the kernel that are summed */
   char parts[64], partial[64], part_kernel[140], begin[64]; /* fresh names */
} split_t;

static bool is_zero(const lift_tree_t *tree, uint32_t initialiser) {
   static const char *const zeros[] = {"{}", "0", "0.0f", "0.f", "0.0", "{0}", "{0.0f}", "{0.f}"};
   for (size_t i = 0; initialiser != LIFT_NONE && i < sizeof zeros / sizeof *zeros; i++)
      if (lift_text_is(tree, initialiser, zeros[i]))
         return true;
   return false;
}

/* Whether every use of the variable in the loop is as the target of +=. */
static bool is_only_added(const lift_tree_t *tree, uint32_t loop, uint32_t variable) {
   for (uint32_t i = loop; i < tree->nodes[loop].last; i++) {
      if (tree->nodes[i].kind != LIFT_NAME || tree->nodes[i].declaration != variable)
         continue;
      uint32_t up = i;
      while (up != loop && !lift_is_assignment(tree, up))
         up = tree->nodes[up].parent;
      if (up == loop || !lift_operator_is(tree, up, "+=") || !lift_inside(tree, i, lift_assigned(tree, up)) ||
          lift_base(tree, lift_assigned(tree, up)) != variable)
         return false;
   }
   return true;
}

static bool add_sum(const lift_tree_t *tree, split_t *split, uint32_t variable, lift_change_t *change) {
   char name[64];
   lift_name(tree, variable, name, sizeof name);
   for (uint32_t s = 0; s < split->sum_count; s++)
      if (split->sums[s] == variable)
         return true;
   if (split->sum_count == MOST_SUMS)
      return lift_refuse(change, "more than %d sums", MOST_SUMS);
   if (!lift_is(tree, variable, LIFT_VARIABLE) || strncmp(tree->nodes[variable].type, "float", 5) != 0 || strchr(tree->nodes[variable].type, '*') ||
       lift_is(tree, variable, LIFT_SHARED))
      return lift_refuse(change, "line %u: '%s' is not a float of the thread's own", lift_line(tree, variable), name);
   if (!is_zero(tree, lift_initialiser(tree, variable)) || lift_statement_in(tree, split->body, variable) == LIFT_NONE ||
       tree->nodes[lift_around(tree, variable, LIFT_DECLARATIONS)].parent != split->body)
      return lift_refuse(change, "line %u: '%s' does not begin at zero in the kernel's own block", lift_line(tree, variable), name);
   for (uint32_t i = variable + 1; i < split->statement; i++)
      if (tree->nodes[i].kind == LIFT_NAME && tree->nodes[i].declaration == variable)
         return lift_refuse(change, "line %u: '%s' is used before the loop", lift_line(tree, i), name);
   split->sums[split->sum_count++] = variable;
   return true;
}

/* The kernel's variable that the statement's call passes for a parameter of the function. */
static uint32_t behind_parameter(const lift_tree_t *tree, const split_t *split, uint32_t parameter) {
   for (uint32_t p = 0; lift_parameter(tree, split->function, p) != LIFT_NONE; p++)
      if (lift_parameter(tree, split->function, p) == parameter) {
         const uint32_t argument = lift_child(tree, split->statement, p + 1);
         return argument == LIFT_NONE ? LIFT_NONE : lift_base(tree, argument);
      }
   return LIFT_NONE;
}

static bool check_effects(const lift_tree_t *tree, split_t *split, lift_change_t *change) {
   lift_effect_t effects[MOST_EFFECTS];
   const uint32_t count = lift_effects(tree, split->loop.body, effects, MOST_EFFECTS, change);
   if (count == LIFT_NONE)
      return false;
   for (uint32_t i = 0; i < count; i++) {
      const lift_effect_t *effect = &effects[i];
      const uint32_t line = lift_line(tree, effect->node), variable = effect->variable;
      if (variable == LIFT_NONE)
         return lift_refuse(change, "line %u: it is not known what this changes", line);
      if (lift_is(tree, variable, LIFT_SHARED) && !effect->sum)
         continue;
      if (!effect->sum || !is_only_added(tree, split->loop.body, variable))
         return lift_refuse(change, "line %u: the loop changes more than shared memory and sums by +=", line);
      const uint32_t sum = split->function == split->kernel ? variable : behind_parameter(tree, split, variable);
      if (sum == LIFT_NONE || !add_sum(tree, split, sum, change))
         return lift_refuse(change, "line %u: the sum is no variable of the kernel", line);
   }
   return split->sum_count > 0 || lift_refuse(change, "line %u: the loop has no sums", lift_line(tree, split->loop.node));
}

/* Checks that no statement before this one stores outside the thread. */
static bool check_before(const lift_tree_t *tree, const split_t *split, lift_change_t *change) {
   lift_effect_t effects[MOST_EFFECTS];
   for (uint32_t s = lift_child(tree, split->body, 0); s != split->statement; s = tree->nodes[s].next) {
      const uint32_t count = lift_effects(tree, s, effects, MOST_EFFECTS, change);
      if (count == LIFT_NONE)
         return false;
      for (uint32_t i = 0; i < count; i++)
         if (!lift_is(tree, effects[i].variable, LIFT_VARIABLE) || strchr(tree->nodes[effects[i].variable].type, '*'))
            return lift_refuse(change, "line %u: something is stored before the loop", lift_line(tree, effects[i].node));
   }
   return true;
}

/* Finds the loop.  The statement is the loop, or it is the only call of a function that contains nothing but
 * declarations and the loop. */
static bool find_loop(const lift_tree_t *tree, split_t *split, lift_change_t *change) {
   char name[128];
   if (lift_loop_read(tree, split->statement, &split->loop)) {
      split->function = split->kernel;
      return true;
   }
   if (!lift_is(tree, split->statement, LIFT_CALL))
      return lift_refuse(change, "line %u: no loop that counts up", lift_line(tree, split->statement));
   lift_callee(tree, split->statement, name, sizeof name);
   split->function = lift_function_named(tree, name);
   if (split->function == LIFT_NONE || lift_count_calls(tree, name) != 1)
      return lift_refuse(change, "line %u: %s is not a function of the text that is called once", lift_line(tree, split->statement), name);
   const uint32_t body = lift_body(tree, split->function);
   for (uint32_t s = lift_child(tree, body, 0); s != LIFT_NONE; s = tree->nodes[s].next) {
      if (lift_is(tree, s, LIFT_FOR) && tree->nodes[s].next == LIFT_NONE && lift_loop_read(tree, s, &split->loop))
         return true;
      if (!lift_is(tree, s, LIFT_DECLARATIONS))
         return lift_refuse(change, "line %u: %s does more than one loop", lift_line(tree, s), name);
   }
   return lift_refuse(change, "%s has no loop that counts up", name);
}

static bool check(const lift_subject_t *subject, split_t *split, lift_change_t *change) {
   const lift_tree_t *tree = subject->tree;
   if (!find_loop(tree, split, change))
      return false;
   if (lift_leaves(tree, split->loop.node))
      return lift_refuse(change, "line %u: the loop can end early", lift_line(tree, split->loop.node));
   for (uint32_t i = split->loop.first; i < split->loop.body; i++)
      if (lift_is(tree, i, LIFT_CALL))
         return lift_refuse(change, "line %u: a call in the loop's bounds", lift_line(tree, i));
   if (strstr(tree->text, "blockIdx.z") || strstr(tree->text, "gridDim.z"))
      return lift_refuse(change, "the grid's third dimension is used");
   return check_effects(tree, split, change) && check_before(tree, split, change);
}

/* Writes the number of floats per thread as an expression of the code, the loops over one sum, and its
 * element. */
static void write_count(rkb_text_t *out, const lift_tree_t *tree, uint32_t sum) {
   uint32_t lengths[MOST_LENGTHS];
   const uint32_t count = lift_lengths(tree, sum, lengths, MOST_LENGTHS);
   if (count == 0)
      rkb_text_add(out, "1");
   for (uint32_t i = 0; i < count; i++) {
      rkb_text_add(out, i ? " * (" : "(");
      lift_write_node(out, tree, lengths[i]);
      rkb_text_add(out, ")");
   }
}

static void write_total(rkb_text_t *out, const lift_tree_t *tree, const split_t *split, uint32_t before) {
   if (before == 0)
      rkb_text_add(out, "0");
   for (uint32_t s = 0; s < before; s++) {
      rkb_text_add(out, s ? " + " : "");
      write_count(out, tree, split->sums[s]);
   }
}

/* For each element of each sum, writes its store to `element` of scratch, or the addition of that element. */
static void write_elements(rkb_text_t *out, const lift_tree_t *tree, const split_t *split, bool store, const char *indent) {
   char name[64];
   for (uint32_t s = 0; s < split->sum_count; s++) {
      uint32_t lengths[MOST_LENGTHS];
      rkb_text_t element, index;
      const uint32_t count = lift_lengths(tree, split->sums[s], lengths, MOST_LENGTHS);
      rkb_text_init(&element, 1024);
      rkb_text_init(&index, 1024);
      lift_name(tree, split->sums[s], name, sizeof name);
      rkb_text_add(&element, name);
      write_total(&index, tree, split, s);
      for (uint32_t d = 0; d < count; d++) {
         rkb_text_format(&element, "[e%u]", d);
         rkb_text_add(&index, " + e");
         rkb_text_format(&index, "%u", d);
         for (uint32_t rest = d + 1; rest < count; rest++) {
            rkb_text_add(&index, " * (");
            lift_write_node(&index, tree, lengths[rest]);
            rkb_text_add(&index, ")");
         }
         rkb_text_format(out, "#pragma unroll\n%sfor (int e%u = 0; e%u < ", indent, d, d);
         lift_write_node(out, tree, lengths[d]);
         rkb_text_format(out, "; e%u++)\n", d);
      }
      if (store)
         rkb_text_format(out, "%s   own[(long long)(%s) * blockDim.x] = %s;\n", indent, rkb_text_get(&index), rkb_text_get(&element));
      else
         rkb_text_format(out, "%s   %s += own[(long long)(%s) * blockDim.x];\n", indent, rkb_text_get(&element), rkb_text_get(&index));
      rkb_text_free(&element);
      rkb_text_free(&index);
   }
}

static void write_own(rkb_text_t *out, const lift_tree_t *tree, const split_t *split, const char *part, const char *type) {
   rkb_text_format(out, "%s *own = %s + ((((long long)%s * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x) * (", type, split->partial, part);
   write_total(out, tree, split, split->sum_count);
   rkb_text_add(out, ")) * blockDim.x + threadIdx.x;\n");
}

/* Changes the loop's header to this part's steps. */
static void change_header(const lift_tree_t *tree, const split_t *split, lift_change_t *change) {
   const lift_loop_t *loop = &split->loop;
   rkb_text_t first, last, step;
   char name[64];
   rkb_text_init(&first, 1024);
   rkb_text_init(&last, 1024);
   rkb_text_init(&step, 1024);
   lift_write_node(&first, tree, loop->first);
   lift_write_node(&last, tree, loop->last);
   if (loop->step == LIFT_NONE)
      rkb_text_add(&step, "1");
   else
      lift_write_node(&step, tree, loop->step);
   lift_name(tree, loop->variable, name, sizeof name);
   const char *a = rkb_text_get(&first), *b = rkb_text_get(&last), *s = rkb_text_get(&step);
   const uint32_t at = tree->nodes[loop->node].start;
   lift_replace(change, at, tree->nodes[loop->body].start,
                "for (int %s = %s(%s, %s, %s, blockIdx.z), part_last = %s(%s, %s, %s, blockIdx.z + 1); %s < part_last; %s += %s) ", name,
                split->begin, a, b, s, split->begin, a, b, s, name, name, s);
   rkb_text_free(&first);
   rkb_text_free(&last);
   rkb_text_free(&step);
}

/* Splits one kernel into two: one computes the parts, the other combines their sums. */
static void write_kernels(const lift_tree_t *tree, const split_t *split, lift_change_t *change) {
   const uint32_t helper = tree->nodes[split->function].start;
   const lift_node_t *kernel = &tree->nodes[split->kernel], *statement = &tree->nodes[split->statement];
   const uint32_t end = lift_statement_end(tree, split->statement);
   uint32_t last = LIFT_NONE;
   char name[128];
   rkb_text_t text, sums;
   lift_change_t inside = {0};
   for (uint32_t p = 0; lift_parameter(tree, split->kernel, p) != LIFT_NONE; p++)
      last = lift_parameter(tree, split->kernel, p);
   rkb_text_init(&text, LIFT_MAX_TEXT);
   rkb_text_init(&sums, LIFT_MAX_TEXT);
   lift_name(tree, split->kernel, name, sizeof name);
   lift_replace(&inside, kernel->name, kernel->name + (uint32_t)strlen(name), "%s", split->part_kernel);
   lift_replace(&inside, tree->nodes[last].end, tree->nodes[last].end, ", float *%s", split->partial);
   if (split->function == split->kernel)
      change_header(tree, split, &inside);
   lift_replace(change, helper, helper,
                "/* Where part number `part` of a loop from first to last begins, in whole steps: the parts are gridDim.z. */\n"
                "__device__ int %s(int first, int last, int step, int part) {\n"
                "   const int steps = ((last - first + step - 1) / step + (int)gridDim.z - 1) / (int)gridDim.z;\n"
                "   return min(last, first + part * steps * step);\n}\n\n", split->begin);
   rkb_text_format(&text, "/* Part blockIdx.z of %s's sums, left in scratch: neighbouring threads' numbers side by side. */\n", name);
   lift_write(&text, tree, &inside, kernel->start, end);
   rkb_text_add(&text, "\n   float ");
   rkb_text_t own;
   rkb_text_init(&own, 2048);
   write_own(&own, tree, split, "blockIdx.z", "");
   rkb_text_add(&text, rkb_text_get(&own) + 1); /* the type is already written before it */
   write_elements(&text, tree, split, true, "   ");
   rkb_text_add(&text, "}\n\n");
   lift_replace(change, kernel->start, kernel->start, "%s", rkb_text_get(&text));
   lift_replace(change, tree->nodes[last].end, tree->nodes[last].end, ", const float *%s", split->partial);
   rkb_text_format(&sums, "#pragma unroll 8\n   for (int part = 0; part < %s; part++) { /* in order, so that the sums repeat */\n      ", split->parts);
   write_own(&sums, tree, split, "part", "const float");
   write_elements(&sums, tree, split, false, "      ");
   rkb_text_add(&sums, "   }");
   if (split->function != split->kernel)
      change_header(tree, split, change);
   lift_replace(change, statement->start, end, "%s", rkb_text_get(&sums));
   lift_change_free(&inside);
   rkb_text_free(&own);
   rkb_text_free(&text);
   rkb_text_free(&sums);
}

/* Adds the scratch of a launch: the floats of all its threads in all parts. */
static bool add_scratch(const lift_subject_t *subject, const split_t *split, const lift_launch_t *launch, const lift_list_t *grid,
                        const lift_list_t *arguments, const char *name, rkb_text_t *entries, lift_change_t *change) {
   const lift_tree_t *tree = subject->tree;
   rkb_text_t shape;
   bool known = true;
   rkb_text_init(&shape, 2048);
   for (uint32_t s = 0; known && s < split->sum_count; s++) {
      uint32_t lengths[MOST_LENGTHS];
      const uint32_t count = lift_lengths(tree, split->sums[s], lengths, MOST_LENGTHS);
      rkb_text_add(&shape, s ? " + 1" : "1");
      for (uint32_t d = 0; known && d < count; d++) {
         rkb_text_add(&shape, " * (");
         known = lift_in_manifest(tree, lengths[d], split->kernel, arguments, &shape);
         rkb_text_add(&shape, ")");
      }
   }
   rkb_text_format(entries, "%s%s: {dtype: float32, shape: \"%s * (%s) * (%s), (%s) * (%s)\"}", entries->length ? "\n  " : "", name, split->parts,
                   grid->entries[0], grid->count > 1 ? grid->entries[1] : "1", rkb_text_get(&shape), launch->block);
   rkb_text_free(&shape);
   return known || lift_refuse(change, "the sums' number is no expression of the launch's template arguments");
}

/* Writes launch l of the kernel twice: parts[*count] and after[*count]. */
static bool split_launch(const lift_subject_t *subject, const split_t *split, const lift_launch_t *launch, lift_launch_t *part, lift_launch_t *after,
                         uint32_t number,
                         rkb_text_t *scratches, lift_change_t *change) {
   lift_list_t *arguments = rkb_allocate(3, sizeof *arguments), *grid = arguments + 1, *block = arguments + 2;
   char scratch[80];
   bool sound = lift_launch_runs(launch, subject->tree, split->kernel, arguments) && lift_list_split(launch->grid, grid) &&
                lift_list_split(launch->block, block);
   if (!sound || grid->count > 2 || block->count != 1 || launch->cooperative) {
      free(arguments);
      return lift_refuse(change, "a launch of the kernel has three dimensions, a block of two, or is cooperative");
   }
   snprintf(scratch, sizeof scratch, number ? "%s_%u" : "%s", split->partial, number + 1);
   *part = *after = *launch;
   snprintf(part->kernel, sizeof part->kernel, "%s%s", split->part_kernel, launch->kernel + strcspn(launch->kernel, "<"));
   snprintf(part->grid, sizeof part->grid, "%s, %s, %s", grid->entries[0], grid->count > 1 ? grid->entries[1] : "1", split->parts);
   snprintf(part->args, sizeof part->args, "%s, %s", launch->args, scratch);
   snprintf(after->args, sizeof after->args, "%s, %s", launch->args, scratch);
   sound = add_scratch(subject, split, launch, grid, arguments, scratch, scratches, change);
   free(arguments);
   return sound;
}

/* Changes a group of launches that `else` joins into two groups. */
static bool change_launches(const lift_subject_t *subject, const split_t *split, lift_change_t *change) {
   lift_launches_t *all = rkb_allocate(1, sizeof *all);
   lift_launches_t *parts = rkb_allocate(3, sizeof *parts), *after = parts + 1, *result = parts + 2;
   lift_list_t *arguments = rkb_allocate(1, sizeof *arguments);
   char entry[200];
   static const int defaults[] = {4, 8, 16};
   bool sound = lift_launches_read(subject->manifest, all, change);
   uint32_t number = 0;
   rkb_text_t scratches;
   rkb_text_init(&scratches, 64 << 10);
   snprintf(entry, sizeof entry, "%s: {default: %d, choices: [2, 4, 8, 16, 32, 64]}", split->parts, defaults[lift_draw(subject, 3)]);
   sound = sound && lift_add_entry(change, subject->tree, subject->manifest, "tune", entry);
   for (uint32_t l = 0; sound && l < all->count;) {
      uint32_t end = l + 1, own = 0;
      while (end < all->count && all->list[end].is_else)
         end++;
      parts->count = after->count = 0;
      for (uint32_t i = l; i < end; i++)
         own += lift_launch_runs(&all->list[i], subject->tree, split->kernel, arguments);
      if (own > 0 && own < end - l)
         sound = lift_refuse(change, "the kernel is joined by else to another one");
      for (uint32_t i = l; sound && own > 0 && i < end; i++)
         sound = split_launch(subject, split, &all->list[i], &parts->list[parts->count++], &after->list[after->count++], number++, &scratches, change);
      if (sound && result->count + 2 * (end - l) > LIFT_MAX_LAUNCHES)
         sound = lift_refuse(change, "too many launches");
      for (uint32_t i = l; sound && i < end; i++)
         result->list[result->count++] = own ? parts->list[i - l] : all->list[i];
      for (uint32_t i = l; sound && own && i < end; i++)
         result->list[result->count++] = after->list[i - l];
      l = end;
   }
   sound = sound && (number > 0 || lift_refuse(change, "no launch runs the kernel")) &&
           lift_add_entry(change, subject->tree, subject->manifest, "scratch", rkb_text_get(&scratches)) &&
           lift_write_launches(change, subject->tree, subject->manifest, result);
   rkb_text_free(&scratches);
   free(arguments);
   free(parts);
   free(all);
   return sound;
}

static bool apply_to(const lift_subject_t *subject, uint32_t kernel, uint32_t statement, lift_change_t *change) {
   const lift_tree_t *tree = subject->tree;
   split_t split = {.kernel = kernel, .body = lift_body(tree, kernel), .statement = statement};
   char name[100], wanted[120];
   if (!check(subject, &split, change))
      return false;
   lift_name(tree, kernel, name, sizeof name);
   snprintf(wanted, sizeof wanted, "%s_part", name);
   lift_fresh_name(tree, wanted, split.part_kernel, sizeof split.part_kernel);
   lift_fresh_name(tree, "partial", split.partial, sizeof split.partial);
   lift_fresh_name(tree, "part_begin", split.begin, sizeof split.begin);
   lift_fresh_name(tree, "PARTS", split.parts, sizeof split.parts);
   if (!change_launches(subject, &split, change))
      return false;
   write_kernels(tree, &split, change);
   snprintf(change->note, sizeof change->note, "the loop in line %u of %s in %s parts", lift_line(tree, split.loop.node), name, split.parts);
   return true;
}

bool lift_split_reduction(const lift_subject_t *subject, lift_change_t *change) {
   const lift_tree_t *tree = subject->tree;
   uint32_t kernels[32], places[128][2], count = 0;
   char callee[128];
   const uint32_t kernel_count = lift_kernels(tree, kernels, 32);
   for (uint32_t k = 0; k < kernel_count; k++)
      for (uint32_t s = lift_child(tree, lift_body(tree, kernels[k]), 0); s != LIFT_NONE && count < 128; s = tree->nodes[s].next) {
         if (lift_is(tree, s, LIFT_CALL))
            lift_callee(tree, s, callee, sizeof callee);
         if (lift_is(tree, s, LIFT_FOR) || (lift_is(tree, s, LIFT_CALL) && lift_function_named(tree, callee) != LIFT_NONE)) {
            places[count][0] = kernels[k];
            places[count++][1] = s;
         }
      }
   const uint32_t first = lift_draw(subject, count);
   for (uint32_t i = 0; i < count; i++) {
      lift_change_t attempt = {0};
      const uint32_t *place = places[(first + i) % count];
      if (lift_attempted(change, &attempt, apply_to(subject, place[0], place[1], &attempt)))
         return true;
   }
   return lift_refuse(change, "no kernel has a loop in its own block");
}
