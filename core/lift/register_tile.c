/* register_tile: a thread computes several results instead of one, so that values which they share are loaded once.
 *
 * Before: a result's number is `blockIdx.d * width + threadIdx.x`, where width is the block's size.
 * After: a block computes OUTPUTS times as many results; the numbers of a thread's results are width apart.  Every
 * variable that depends on a result's number becomes an array.  Loops that do not depend on it stay as they are; inside
 * them, each statement that depends on it is repeated for each result (unroll and jam).
 *
 * Holds where
 *   - blockIdx.d occurs only in the result's number, and results past the end can be computed without harm and are not
 *     stored (uniform_exit);
 *   - results share no state: statements that depend on the number change only variables of the thread, and memory
 *     through parameters that are not read; there is no shared memory, no shuffle and no barrier;
 *   - loops and conditions that stay do not depend on the number, and nothing leaves them early. */
#include "lift/register_tile.h"

#include <stdlib.h>
#include <string.h>
#include "lift/launches.h"
#include "lift/loops.h"
#include "lift/rewrite.h"

static bool change_launches(const lift_subject_t *subject, register_tile_t *t, lift_launches_t *launches) {
   lift_list_t *arguments = rkb_allocate(3, sizeof *arguments), *grid = arguments + 1, *block = arguments + 2;
   bool sound = true;
   uint32_t found = 0;
   for (uint32_t l = 0; sound && l < launches->count; l++) {
      lift_launch_t *launch = &launches->list[l];
      char text[LIFT_MAX_EXPRESSION + 64] = "";
      if (!lift_launch_runs(launch, t->tree, t->kernel, arguments))
         continue;
      found++;
      const uint32_t declared = lift_is(t->tree, t->width, LIFT_NAME) ? t->tree->nodes[t->width].declaration : LIFT_NONE;
      const char *width = declared == LIFT_NONE ? (lift_is(t->tree, t->width, LIFT_NAME) ? t->width_name : launch->block)
                                                : lift_template_argument(t->tree, t->kernel, arguments, declared);
      sound = width && lift_list_split(launch->grid, grid) && lift_list_split(launch->block, block) && block->count == 1 &&
              lift_same_text(block->entries[0], width) && grid->count <= 3 && (t->dimension == 'x' || grid->count > 1);
      if (!sound) {
         lift_refuse(t->change, "launch %u has not as many threads as a result's number says", l + 1);
         break;
      }
      for (uint32_t g = 0; g < grid->count; g++) {
         const bool own = g == (t->dimension == 'x' ? 0u : 1u);
         const size_t used = strlen(text);
         snprintf(text + used, sizeof text - used, own ? "%sceildiv(%s, %s)" : "%s%s", g ? ", " : "", grid->entries[g], t->outputs);
      }
      sound = strlen(text) < sizeof launch->grid || lift_refuse(t->change, "a grid's expression becomes too long");
      snprintf(launch->grid, sizeof launch->grid, "%s", text);
   }
   free(arguments);
   return sound && (found > 0 || lift_refuse(t->change, "no launch runs the kernel")) &&
          lift_write_launches(t->change, t->tree, subject->manifest, launches);
}

static bool apply_to(const lift_subject_t *subject, uint32_t kernel, lift_change_t *change) {
   const lift_tree_t *tree = subject->tree;
   register_tile_t *t = rkb_allocate(1, sizeof *t);
   lift_launches_t *launches = rkb_allocate(1, sizeof *launches);
   char entry[160], name[64];
   *t = (register_tile_t){.tree = tree, .change = change, .kernel = kernel};
   rkb_text_init(&t->out, LIFT_MAX_TEXT);
   lift_fresh_name(tree, "OUTPUTS", t->outputs, sizeof t->outputs);
   lift_fresh_name(tree, "result", t->index, sizeof t->index);
   snprintf(entry, sizeof entry, "%s: {default: %d, choices: [1, 2, 4, 8]}", t->outputs, lift_draw(subject, 2) ? 4 : 2);
   bool sound = register_tile_find_numbers(t) && register_tile_find_variables(t) &&
                lift_launches_read(subject->manifest, launches, change) &&
                register_tile_check_memory(t, launches) &&
                lift_add_entry(change, tree, subject->manifest, "tune", entry) &&
                change_launches(subject, t, launches) && register_tile_write(t, lift_body(tree, kernel));
   if (sound) {
      const uint32_t body = lift_body(tree, kernel);
      lift_indent_lines(&t->out);
      lift_replace(change, tree->nodes[body].start, tree->nodes[body].end, "%.*s", (int)t->out.length - 1, rkb_text_get(&t->out));
      lift_name(tree, kernel, name, sizeof name);
      snprintf(change->note, sizeof change->note, "a thread of %s computes %s results, %s apart", name, t->outputs, t->width_name);
   }
   rkb_text_free(&t->out);
   free(launches);
   free(t);
   return sound;
}

bool lift_register_tile(const lift_subject_t *subject, lift_change_t *change) {
   return lift_try_kernels(subject, change, apply_to);
}
