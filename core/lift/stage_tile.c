/* stage_tile: elements that all threads of a block read go through shared memory, in tiles of some steps of a loop.
 *
 * Before: in a loop over c, and in loops of constant length inside it, every thread reads p[index] with an index that
 * is the same for the block.
 * After: the loop goes in steps of STAGE.  The block's threads copy the elements of these steps into a tile, side by
 * side, and the inner loops read the tile.
 *
 * Holds where
 *   - the loop stands in the kernel's own block, and all threads reach it with the same bounds, so that all threads
 *     meet the barriers;
 *   - the index depends on nothing of the thread, and p is a const parameter to which no launch passes a buffer that
 *     is stored to;
 *   - the block's conditions around the access are tested again where the tile is filled, and the tile has zero where
 *     they fail.  Such a condition around a product that is added up is then removed: a zero product adds nothing, if
 *     the other factor is finite;
 *   - conditions around the access that depend on the thread are not tested where the tile is filled: the index does
 *     not depend on the thread. */
#include <stdlib.h>
#include <string.h>
#include "lift/launches.h"
#include "lift/multiples_of_four.h"
#include "lift/loops.h"
#include "lift/rewrite.h"
#include "lift/uniform.h"

enum { MOST_LOOPS = 4, MOST_GUARDS = 4 };

typedef struct stage {
   uint32_t kernel, access, pointer;
   lift_loop_t loop;              /* the loop over c */
   lift_loop_t inner[MOST_LOOPS]; /* inner loops of constant length, outermost first */
   uint32_t inner_count;
   uint32_t guards[MOST_GUARDS]; /* if statements of the block that surround the access */
   uint32_t guard_count;
   char steps[64], tile[80], first[80]; /* fresh names */
} stage_t;

/* Reads the loops and conditions between the access and the loop. */
static bool read_surroundings(const lift_tree_t *tree, stage_t *stage, lift_change_t *change) {
   uint32_t allowed[MOST_LOOPS + 1], count = 0, chain[MOST_LOOPS];
   const uint32_t line = lift_line(tree, stage->access);
   stage->inner_count = stage->guard_count = 0;
   for (uint32_t up = tree->nodes[stage->access].parent, below = stage->access; up != stage->loop.node; below = up, up = tree->nodes[up].parent) {
      if (lift_is(tree, up, LIFT_WHILE) || lift_is(tree, up, LIFT_DO) || lift_is(tree, up, LIFT_LAMBDA) || lift_is(tree, up, LIFT_SWITCH))
         return lift_refuse(change, "line %u: the access stands in something else than for and if", line);
      if (lift_is(tree, up, LIFT_FOR)) {
         lift_loop_t loop;
         if (stage->inner_count == MOST_LOOPS || !lift_loop_read(tree, up, &loop) || loop.step != LIFT_NONE || !lift_text_is(tree, loop.first, "0") ||
             !lift_is_constant(tree, loop.last))
            return lift_refuse(change, "line %u: a loop around the access has no constant length", line);
         chain[stage->inner_count++] = up;
      }
      if (lift_is(tree, up, LIFT_IF) && below == lift_child(tree, up, 1)) {
         if (stage->guard_count == MOST_GUARDS)
            return lift_refuse(change, "line %u: too many conditions around the access", line);
         stage->guards[stage->guard_count++] = up;
      }
   }
   for (uint32_t i = 0; i < stage->inner_count; i++)
      lift_loop_read(tree, chain[stage->inner_count - 1 - i], &stage->inner[i]);
   allowed[count++] = stage->loop.variable;
   for (uint32_t i = 0; i < stage->inner_count; i++)
      allowed[count++] = stage->inner[i].variable;
   if (!lift_is_uniform(tree, lift_child(tree, stage->access, 1), allowed, count) || !lift_uses(tree, stage->access, stage->loop.variable))
      return lift_refuse(change, "line %u: the index is not the same for all threads of a block, or does not move with the loop", line);
   uint32_t kept = 0;
   for (uint32_t g = 0; g < stage->guard_count; g++)
      if (lift_is_uniform(tree, lift_child(tree, stage->guards[g], 0), allowed, count))
         stage->guards[kept++] = stage->guards[g];
   stage->guard_count = kept;
   return true;
}

static bool check_loop(const lift_subject_t *subject, const stage_t *stage, lift_change_t *change) {
   const lift_tree_t *tree = subject->tree;
   const uint32_t line = lift_line(tree, stage->loop.node);
   if (stage->loop.step != LIFT_NONE || !lift_is_uniform(tree, stage->loop.first, NULL, 0) || !lift_is_uniform(tree, stage->loop.last, NULL, 0))
      return lift_refuse(change, "line %u: the loop's bounds are not the same for all threads of a block, or its step is not 1", line);
   if (lift_leaves(tree, stage->loop.node))
      return lift_refuse(change, "line %u: the loop can end early", line);
   for (uint32_t i = lift_body(tree, stage->kernel); i < stage->loop.node; i++)
      if (lift_is(tree, i, LIFT_RETURN)) {
         change->first = "uniform_exit";
         return lift_refuse(change, "line %u: threads may leave before the loop", lift_line(tree, i));
      }
   return true;
}

static bool check_pointer(const lift_subject_t *subject, const stage_t *stage, lift_change_t *change) {
   const lift_tree_t *tree = subject->tree;
   lift_launches_t *launches = rkb_allocate(1, sizeof *launches);
   lift_list_t *lists = rkb_allocate(2, sizeof *lists);
   bool sound = lift_launches_read(subject->manifest, launches, change);
   if (sound && strcmp(tree->nodes[stage->pointer].type, "const float *") != 0 && strncmp(tree->nodes[stage->pointer].type, "const float *__restrict", 22) != 0)
      sound = lift_refuse(change, "line %u: what is read is not const float", lift_line(tree, stage->access));
   if (sound && !lift_no_alias(tree, launches, stage->kernel))
      sound = lift_refuse(change, "two parameters of a launch are one buffer");
   for (uint32_t l = 0; sound && l < launches->count; l++)
      if (lift_launch_runs(&launches->list[l], tree, stage->kernel, lists) && (!lift_list_split(launches->list[l].block, lists + 1) || lists[1].count != 1))
         sound = lift_refuse(change, "the block has more than one dimension");
   free(launches);
   free(lists);
   return sound;
}

/* Whether the condition's statement only adds products of the access.  Then the condition can be removed,
 * because the tile has zeros there. */
static bool guards_one_product(const lift_tree_t *tree, const stage_t *stage, uint32_t guard) {
   uint32_t then = lift_child(tree, guard, 1);
   if (lift_children(tree, guard) != 2)
      return false;
   if (lift_is(tree, then, LIFT_COMPOUND) && lift_children(tree, then) == 1)
      then = lift_child(tree, then, 0);
   if (!lift_is(tree, then, LIFT_COMPOUND_ASSIGNMENT) || !lift_operator_is(tree, then, "+="))
      return false;
   for (uint32_t up = stage->access; up != lift_child(tree, then, 1); up = tree->nodes[up].parent) {
      const uint32_t parent = tree->nodes[up].parent;
      if (!lift_inside(tree, parent, then) || parent == then || !((lift_is(tree, parent, LIFT_BINARY) && lift_operator_is(tree, parent, "*")) || lift_is(tree, parent, LIFT_PARENTHESES)))
         return false;
   }
   return true;
}

static void write_product(rkb_text_t *out, const lift_tree_t *tree, const stage_t *stage, const uint32_t *order, uint32_t count) {
   rkb_text_add(out, count ? "" : "1");
   for (uint32_t i = 0; i < count; i++) {
      rkb_text_add(out, i ? " * " : "");
      if (order[i] == 0) {
         rkb_text_add(out, stage->steps);
      } else {
         rkb_text_add(out, "(");
         lift_write_node(out, tree, stage->inner[order[i] - 1].last);
         rkb_text_add(out, ")");
      }
   }
}

/* Orders the variables by how far one step of each moves the index, the least first.  Neighbouring threads then read
 * neighbouring elements. */
static void order_variables(const lift_tree_t *tree, const stage_t *stage, uint32_t *order) {
   int64_t weight[MOST_LOOPS + 1];
   const uint32_t index = lift_child(tree, stage->access, 1);
   for (uint32_t i = 0; i <= stage->inner_count; i++) {
      const int64_t own = lift_coefficient(tree, index, i ? stage->inner[i - 1].variable : stage->loop.variable);
      const int64_t value = own > 0 ? own : INT64_MAX;
      uint32_t at = i;
      for (; at > 0 && weight[at - 1] > value; at--) {
         weight[at] = weight[at - 1];
         order[at] = order[at - 1];
      }
      weight[at] = value;
      order[at] = i;
   }
}

static void write_filling(rkb_text_t *out, const lift_tree_t *tree, const stage_t *stage) {
   uint32_t order[MOST_LOOPS + 1];
   const uint32_t count = stage->inner_count + 1;
   char name[64], c[64];
   lift_name(tree, stage->loop.variable, c, sizeof c);
   order_variables(tree, stage, order);
   rkb_text_add(out, "      for (int element = threadIdx.x; element < ");
   write_product(out, tree, stage, order, count);
   rkb_text_add(out, "; element += blockDim.x) {\n");
   for (uint32_t i = 0; i < count; i++) {
      lift_name(tree, order[i] ? stage->inner[order[i] - 1].variable : stage->loop.variable, name, sizeof name);
      rkb_text_format(out, "         const int %s = %s%selement / (", name, order[i] ? "" : stage->first, order[i] ? "" : " + ");
      write_product(out, tree, stage, order, i);
      rkb_text_add(out, ") % (");
      write_product(out, tree, stage, order + i, 1);
      rkb_text_add(out, ");\n");
   }
   rkb_text_format(out, "         %s[%s - %s]", stage->tile, c, stage->first);
   for (uint32_t i = 0; i < stage->inner_count; i++) {
      lift_name(tree, stage->inner[i].variable, name, sizeof name);
      rkb_text_format(out, "[%s]", name);
   }
   rkb_text_format(out, " = %s < ", c);
   lift_write_node(out, tree, stage->loop.last);
   for (uint32_t g = 0; g < stage->guard_count; g++) {
      rkb_text_add(out, " && (");
      lift_write_node(out, tree, lift_child(tree, stage->guards[g], 0));
      rkb_text_add(out, ")");
   }
   rkb_text_add(out, " ? ");
   lift_write_node(out, tree, stage->access);
   rkb_text_add(out, " : 0.0f;\n      }\n");
}

/* Replaces the access by a read of the tile wherever its text occurs in the loop. */
static void read_tile(const lift_tree_t *tree, const stage_t *stage, lift_change_t *inside) {
   rkb_text_t element;
   char name[64];
   lift_name(tree, stage->loop.variable, name, sizeof name);
   rkb_text_init(&element, 2048);
   rkb_text_format(&element, "%s[%s - %s]", stage->tile, name, stage->first);
   for (uint32_t i = 0; i < stage->inner_count; i++) {
      lift_name(tree, stage->inner[i].variable, name, sizeof name);
      rkb_text_format(&element, "[%s]", name);
   }
   lift_replace_node(inside, tree, stage->access, rkb_text_get(&element));
   rkb_text_free(&element);
   for (uint32_t g = 0; g < stage->guard_count; g++)
      if (guards_one_product(tree, stage, stage->guards[g]))
         lift_replace(inside, tree->nodes[stage->guards[g]].start, tree->nodes[lift_child(tree, stage->guards[g], 1)].start, "%s", "");
   for (uint32_t i = 0; i < stage->inner_count; i++) {
      const uint32_t at = lift_line_start(tree, tree->nodes[stage->inner[i].node].start);
      const bool unrolled = at >= 16 && strstr(tree->text + at - 16, "unroll") && strstr(tree->text + at - 16, "unroll") < tree->text + at;
      if (at != tree->nodes[stage->inner[i].node].start && !unrolled)
         lift_replace(inside, at, at, "#pragma unroll\n");
   }
}

static void write_loop(const lift_tree_t *tree, const stage_t *stage, lift_change_t *change) {
   const lift_loop_t *loop = &stage->loop;
   lift_change_t inside = {0};
   rkb_text_t out;
   char c[64];
   rkb_text_init(&out, LIFT_MAX_TEXT);
   lift_name(tree, loop->variable, c, sizeof c);
   rkb_text_format(&out, "__shared__ __align__(16) float %s[%s]", stage->tile, stage->steps);
   for (uint32_t i = 0; i < stage->inner_count; i++) {
      rkb_text_add(&out, "[");
      lift_write_node(&out, tree, stage->inner[i].last);
      rkb_text_add(&out, "]");
   }
   rkb_text_format(&out, ";\n   for (int %s = ", stage->first);
   lift_write_node(&out, tree, loop->first);
   rkb_text_format(&out, "; %s < ", stage->first);
   lift_write_node(&out, tree, loop->last);
   rkb_text_format(&out, "; %s += %s) {\n      __syncthreads(); /* the tile before this one has been read */\n", stage->first, stage->steps);
   write_filling(&out, tree, stage);
   rkb_text_format(&out, "      __syncthreads();\n      for (int %s = %s; %s < min(", c, stage->first, c);
   lift_write_node(&out, tree, loop->last);
   rkb_text_format(&out, ", %s + %s); %s++) ", stage->first, stage->steps, c);
   read_tile(tree, stage, &inside);
   lift_write(&out, tree, &inside, tree->nodes[loop->body].start, lift_statement_end(tree, loop->body));
   rkb_text_add(&out, "\n   }");
   lift_indent_lines(&out);
   lift_replace(change, tree->nodes[loop->node].start, lift_statement_end(tree, loop->body), "%s", rkb_text_get(&out));
   lift_change_free(&inside);
   rkb_text_free(&out);
}

static bool apply_to(const lift_subject_t *subject, uint32_t kernel, uint32_t loop, uint32_t access, lift_change_t *change) {
   const lift_tree_t *tree = subject->tree;
   const uint32_t base = lift_child(tree, access, 0);
   stage_t stage = {.kernel = kernel, .access = access, .pointer = lift_is(tree, base, LIFT_NAME) ? tree->nodes[base].declaration : LIFT_NONE};
   char name[64], wanted[80], entry[160];
   static const int defaults[] = {4, 8, 16};
   if (!lift_is(tree, stage.pointer, LIFT_PARAMETER))
      return lift_refuse(change, "line %u: what is read is no parameter of the kernel", lift_line(tree, access));
   if (!lift_loop_read(tree, loop, &stage.loop))
      return lift_refuse(change, "line %u: no loop that counts up", lift_line(tree, loop));
   if (!read_surroundings(tree, &stage, change) || !check_loop(subject, &stage, change) || !check_pointer(subject, &stage, change))
      return false;
   lift_name(tree, stage.pointer, name, sizeof name);
   snprintf(wanted, sizeof wanted, "%s_tile", name);
   lift_fresh_name(tree, wanted, stage.tile, sizeof stage.tile);
   lift_name(tree, stage.loop.variable, name, sizeof name);
   snprintf(wanted, sizeof wanted, "%s_first", name);
   lift_fresh_name(tree, wanted, stage.first, sizeof stage.first);
   lift_fresh_name(tree, "STAGE", stage.steps, sizeof stage.steps);
   snprintf(entry, sizeof entry, "%s: {default: %d, choices: [2, 4, 8, 16, 32]}", stage.steps, defaults[lift_draw(subject, 3)]);
   if (!lift_add_entry(change, tree, subject->manifest, "tune", entry))
      return false;
   write_loop(tree, &stage, change);
   snprintf(change->note, sizeof change->note, "%s through shared memory, %s steps of the loop in line %u at a time", stage.tile, stage.steps,
            lift_line(tree, loop));
   return true;
}

bool lift_stage_tile(const lift_subject_t *subject, lift_change_t *change) {
   const lift_tree_t *tree = subject->tree;
   uint32_t kernels[32], places[256][3], count = 0;
   const uint32_t kernel_count = lift_kernels(tree, kernels, 32);
   for (uint32_t k = 0; k < kernel_count; k++)
      for (uint32_t s = lift_child(tree, lift_body(tree, kernels[k]), 0); s != LIFT_NONE; s = tree->nodes[s].next)
         for (uint32_t i = s; lift_is(tree, s, LIFT_FOR) && i < tree->nodes[s].last && count < 256; i++)
            if (lift_is(tree, i, LIFT_SUBSCRIPT) && lift_is(tree, lift_base(tree, lift_child(tree, i, 0)), LIFT_PARAMETER)) {
               places[count][0] = kernels[k];
               places[count][1] = s;
               places[count++][2] = i;
            }
   const uint32_t first = lift_draw(subject, count);
   for (uint32_t i = 0; i < count; i++) {
      lift_change_t attempt = {0};
      const uint32_t *place = places[(first + i) % count];
      if (lift_attempted(change, &attempt, apply_to(subject, place[0], place[1], place[2], &attempt)))
         return true;
   }
   return lift_refuse(change, "no loop in a kernel's own block reads a parameter");
}
