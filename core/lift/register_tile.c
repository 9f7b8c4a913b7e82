/* register_tile: a thread computes several results instead of one, so that what they share is loaded once.
 *
 * Before: a result's number is `blockIdx.d * width + threadIdx.x`, where width is the block's size.  After: a block computes OUTPUTS times
 * as many results, a thread those whose numbers are width apart.  Every variable that depends on the result's number becomes an array;
 * loops that do not depend on it stay, and inside of them each statement that does is repeated for each result (unroll and jam).
 *
 * Holds where
 *   - blockIdx.d stands nowhere but in the result's number, and what is past the end is computed without harm and not stored
 *     (uniform_exit);
 *   - results share no state: statements that depend on the number change variables of the thread and memory through parameters that
 *     are not read; no shared memory, no shuffle, no barrier;
 *   - loops and conditions that are kept do not depend on the number, and nothing leaves them early. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "lift/launches.h"
#include "lift/loops.h"
#include "lift/rewrite.h"

enum { MOST_NUMBERS = 8, MOST_VARIABLES = 128, MOST_EFFECTS = 128 };

typedef struct tiling {
   const lift_tree_t *tree;
   lift_change_t *change;
   /* The template parameter or tune name that is the width, given by the node of its name. */
   uint32_t kernel, width;
   char width_name[64], outputs[64], index[64];
   char dimension;                                  /* 'x' or 'y' of the grid */
   uint32_t numbers[MOST_NUMBERS], number_count;    /* the sums blockIdx.d * width + threadIdx.x */
   uint32_t variables[MOST_VARIABLES], variable_count; /* variables that depend on the number */
   uint32_t arrays[MOST_VARIABLES], array_count;       /* those of them that became arrays */
   rkb_text_t out;
   bool open; /* a loop over the results is being written */
} tiling_t;

/* Reads blockIdx.d * width + threadIdx.x. */
static bool read_number(const lift_tree_t *tree, uint32_t node, char *dimension, char *width, size_t size) {
   if (!lift_is(tree, node, LIFT_BINARY) || !lift_operator_is(tree, node, "+") ||
       !lift_text_is(tree, lift_plain(tree, lift_child(tree, node, 1)), "threadIdx.x"))
      return false;
   const uint32_t product = lift_plain(tree, lift_child(tree, node, 0));
   if (!lift_is(tree, product, LIFT_BINARY) || !lift_operator_is(tree, product, "*"))
      return false;
   const uint32_t block = lift_plain(tree, lift_child(tree, product, 0)), factor = lift_child(tree, product, 1);
   if (!lift_text_is(tree, block, "blockIdx.x") && !lift_text_is(tree, block, "blockIdx.y"))
      return false;
   *dimension = tree->text[tree->nodes[block].end - 1];
   snprintf(width, size, "%.*s", (int)(tree->nodes[factor].end - tree->nodes[factor].start), tree->text + tree->nodes[factor].start);
   return lift_is(tree, factor, LIFT_NAME) || lift_text_is(tree, factor, "blockDim.x");
}

static bool find_numbers(tiling_t *t) {
   const lift_tree_t *tree = t->tree;
   char dimension, width[64];
   for (uint32_t i = t->kernel; i < tree->nodes[t->kernel].last; i++) {
      if (!read_number(tree, i, &dimension, width, sizeof width))
         continue;
      if (t->number_count == 0) {
         t->dimension = dimension;
         snprintf(t->width_name, sizeof t->width_name, "%s", width);
         t->width = lift_child(tree, lift_plain(tree, lift_child(tree, i, 0)), 1);
      } else if (t->dimension != dimension || strcmp(t->width_name, width) != 0 || t->number_count == MOST_NUMBERS) {
         return lift_refuse(t->change, "line %u: numbers of two kinds", lift_line(tree, i));
      }
      t->numbers[t->number_count++] = i;
   }
   if (t->number_count == 0)
      return lift_refuse(t->change, "no result has the number blockIdx * width + threadIdx.x");
   for (uint32_t i = t->kernel; i < tree->nodes[t->kernel].last; i++) {
      bool inside = false;
      for (uint32_t n = 0; n < t->number_count; n++)
         inside = inside || lift_inside(tree, i, t->numbers[n]);
      if (!inside && lift_is(tree, i, LIFT_MEMBER) && (lift_text_is(tree, i, t->dimension == 'x' ? "blockIdx.x" : "blockIdx.y") ||
                                                      lift_text_is(tree, i, t->dimension == 'x' ? "gridDim.x" : "gridDim.y")))
         return lift_refuse(t->change, "line %u: the block's number is used outside of a result's number", lift_line(tree, i));
      if (lift_is(tree, i, LIFT_RETURN)) {
         t->change->first = "uniform_exit";
         return lift_refuse(t->change, "line %u: threads may leave", lift_line(tree, i));
      }
   }
   return true;
}

static bool depends(const tiling_t *t, uint32_t subtree) {
   const lift_tree_t *tree = t->tree;
   for (uint32_t i = subtree; i < tree->nodes[subtree].last; i++) {
      for (uint32_t n = 0; n < t->number_count; n++)
         if (t->numbers[n] == i)
            return true;
      if (tree->nodes[i].kind == LIFT_NAME)
         for (uint32_t v = 0; v < t->variable_count; v++)
            if (t->variables[v] == tree->nodes[i].declaration)
               return true;
   }
   return false;
}

static bool add_variable(tiling_t *t, uint32_t variable, bool *grew) {
   for (uint32_t v = 0; v < t->variable_count; v++)
      if (t->variables[v] == variable)
         return true;
   if (t->variable_count == MOST_VARIABLES)
      return lift_refuse(t->change, "too many variables");
   t->variables[t->variable_count++] = variable;
   *grew = true;
   return true;
}

/* Whether the node is under a condition, or in a loop's header, that depends on the number. */
static bool is_controlled(const tiling_t *t, uint32_t node) {
   const lift_tree_t *tree = t->tree;
   for (uint32_t up = tree->nodes[node].parent, below = node; up != t->kernel && up != LIFT_NONE; below = up, up = tree->nodes[up].parent) {
      if (lift_is(tree, up, LIFT_IF) && below != lift_child(tree, up, 0) && depends(t, lift_child(tree, up, 0)))
         return true;
      if (lift_is(tree, up, LIFT_FOR) || lift_is(tree, up, LIFT_WHILE))
         for (uint32_t child = lift_child(tree, up, 0); child != LIFT_NONE && tree->nodes[child].next != LIFT_NONE; child = tree->nodes[child].next)
            if (depends(t, child))
               return true;
   }
   return false;
}

/* Finds the variables that depend on the number: their value does, or a condition on their assignments does. */
static bool find_variables(tiling_t *t) {
   const lift_tree_t *tree = t->tree;
   bool grew = true;
   while (grew) {
      grew = false;
      for (uint32_t i = t->kernel; i < tree->nodes[t->kernel].last; i++) {
         if (lift_is(tree, i, LIFT_VARIABLE) && lift_initialiser(tree, i) != LIFT_NONE && depends(t, lift_initialiser(tree, i)) &&
             !add_variable(t, i, &grew))
            return false;
         if (!lift_is_assignment(tree, i))
            continue;
         const uint32_t target = lift_assigned(tree, i), variable = lift_base(tree, target);
         if (variable == LIFT_NONE)
            return lift_refuse(t->change, "line %u: it is not known what this changes", lift_line(tree, i));
         if (lift_is(tree, variable, LIFT_PARAMETER) || !(depends(t, i) || is_controlled(t, i)))
            continue;
         if (lift_is(tree, variable, LIFT_SHARED))
            return lift_refuse(t->change, "line %u: shared memory depends on the result", lift_line(tree, i));
         if (lift_is(tree, variable, LIFT_VARIABLE) && !add_variable(t, variable, &grew))
            return false;
      }
   }
   return true;
}

/* Checks that no parameter is both stored to and read. */
static bool check_memory(const tiling_t *t, const lift_launches_t *launches) {
   const lift_tree_t *tree = t->tree;
   if (!lift_no_alias(tree, launches, t->kernel))
      return lift_refuse(t->change, "two parameters of a launch are one buffer");
   for (uint32_t i = t->kernel; i < tree->nodes[t->kernel].last; i++) {
      const uint32_t variable = lift_is_assignment(tree, i) ? lift_base(tree, lift_assigned(tree, i)) : LIFT_NONE;
      if (variable == LIFT_NONE || !strchr(tree->nodes[variable].type, '*') || lift_is(tree, lift_plain(tree, lift_assigned(tree, i)), LIFT_NAME))
         continue;
      if (!lift_is(tree, variable, LIFT_PARAMETER) || lift_operator_is(tree, i, "=") == false)
         return lift_refuse(t->change, "line %u: a store through something else than a parameter, or one that reads", lift_line(tree, i));
      for (uint32_t n = t->kernel; n < tree->nodes[t->kernel].last; n++)
         if (lift_is(tree, n, LIFT_NAME) && tree->nodes[n].declaration == variable) {
            uint32_t up = n;
            while (up != t->kernel && !lift_is_assignment(tree, up))
               up = tree->nodes[up].parent;
            if (up == t->kernel || !lift_inside(tree, n, lift_assigned(tree, up)))
               return lift_refuse(t->change, "line %u: what is stored to is read too", lift_line(tree, n));
         }
   }
   return true;
}

/* writing ---------------------------------------------------------------------------------------------------- */

static bool is_array(const tiling_t *t, uint32_t variable) {
   for (uint32_t a = 0; a < t->array_count; a++)
      if (t->arrays[a] == variable)
         return true;
   return false;
}

/* Writes the text of a node for result `index`: array variables get their index, and numbers are those of the
 * tile. */
static void write_for_result(tiling_t *t, uint32_t start, uint32_t end, uint32_t node) {
   const lift_tree_t *tree = t->tree;
   lift_change_t inside = {0};
   for (uint32_t i = node; i < tree->nodes[node].last; i++) {
      for (uint32_t n = 0; n < t->number_count; n++)
         if (t->numbers[n] == i)
            lift_replace(&inside, tree->nodes[i].start, tree->nodes[i].end, "(blockIdx.%c * %s + %s) * %s + threadIdx.x", t->dimension, t->outputs,
                         t->index, t->width_name);
      if (lift_is(tree, i, LIFT_NAME) && is_array(t, tree->nodes[i].declaration))
         lift_replace(&inside, tree->nodes[i].end, tree->nodes[i].end, "[%s]", t->index);
   }
   lift_write(&t->out, tree, &inside, start, end);
   lift_change_free(&inside);
}

static void open_results(tiling_t *t) {
   if (!t->open)
      rkb_text_format(&t->out, "\n#pragma unroll\n   for (int %s = 0; %s < %s; %s++) {\n", t->index, t->index, t->outputs, t->index);
   t->open = true;
}

static void close_results(tiling_t *t) {
   if (t->open)
      rkb_text_add(&t->out, "   }\n");
   t->open = false;
}

static bool is_zero(const lift_tree_t *tree, uint32_t node) {
   return lift_text_is(tree, node, "{}") || lift_text_is(tree, node, "{0.0f}") || lift_text_is(tree, node, "{0}");
}

/* `const int image` becomes `int image[OUTPUTS]`; its initialiser becomes an assignment for each result. */
static bool write_declaration(tiling_t *t, uint32_t variable) {
   const lift_tree_t *tree = t->tree;
   const char *type = tree->nodes[variable].type;
   const uint32_t initialiser = lift_initialiser(tree, variable);
   char name[64], base[256];
   uint32_t lengths[4];
   const uint32_t count = lift_lengths(tree, variable, lengths, 4);
   const bool pointer = strchr(type, '*') != NULL;
   lift_name(tree, variable, name, sizeof name);
   if (strchr(type, '&') || strchr(type, '(') || strcmp(type, "?") == 0 || strncmp(type, "auto", 4) == 0)
      return lift_refuse(t->change, "line %u: '%s' is a reference or of a type that is not written", lift_line(tree, variable), name);
   snprintf(base, sizeof base, "%s", !pointer && strncmp(type, "const ", 6) == 0 ? type + 6 : type);
   base[strcspn(base, "[")] = '\0';
   char *constant = pointer ? strstr(base, "*const") : NULL;
   if (constant)
      constant[1] = '\0';
   rkb_text_t dims;
   rkb_text_init(&dims, 1024);
   for (uint32_t d = 0; d < count; d++) {
      rkb_text_add(&dims, "[");
      lift_write_node(&dims, tree, lengths[d]);
      rkb_text_add(&dims, "]");
   }
   const bool braces = initialiser != LIFT_NONE && lift_is(tree, initialiser, LIFT_BRACES);
   if ((braces && !is_zero(tree, initialiser)) || (!braces && initialiser != LIFT_NONE && count > 0) || t->array_count == MOST_VARIABLES) {
      rkb_text_free(&dims);
      return lift_refuse(t->change, "line %u: '%s' does not begin at zero", lift_line(tree, variable), name);
   }
   close_results(t);
   rkb_text_format(&t->out, "\n   %s%s%s[%s]%s%s;", base, pointer ? "" : " ", name, t->outputs, rkb_text_get(&dims), braces ? " = {}" : "");
   rkb_text_free(&dims);
   t->arrays[t->array_count++] = variable;
   return true;
}

static bool write_assignments(tiling_t *t, uint32_t declarations) {
   const lift_tree_t *tree = t->tree;
   char name[64];
   for (uint32_t v = lift_child(tree, declarations, 0); v != LIFT_NONE; v = tree->nodes[v].next) {
      const uint32_t initialiser = lift_is(tree, v, LIFT_VARIABLE) ? lift_initialiser(tree, v) : LIFT_NONE;
      if (initialiser == LIFT_NONE || lift_is(tree, initialiser, LIFT_BRACES) || !is_array(t, v))
         continue;
      open_results(t);
      lift_name(tree, v, name, sizeof name);
      rkb_text_format(&t->out, "      %s[%s] = ", name, t->index);
      write_for_result(t, tree->nodes[initialiser].start, tree->nodes[initialiser].end, initialiser);
      rkb_text_add(&t->out, ";\n");
   }
   return true;
}

static bool is_variable_of(const tiling_t *t, uint32_t variable) {
   for (uint32_t v = 0; v < t->variable_count; v++)
      if (t->variables[v] == variable)
         return true;
   return false;
}

static bool write_declarations(tiling_t *t, uint32_t statement) {
   const lift_tree_t *tree = t->tree;
   uint32_t own = 0, count = 0;
   for (uint32_t v = lift_child(tree, statement, 0); v != LIFT_NONE; v = tree->nodes[v].next, count++)
      own += is_variable_of(t, v);
   if (own == 0) {
      close_results(t);
      rkb_text_add(&t->out, "\n   ");
      rkb_text_append(&t->out, tree->text + tree->nodes[statement].start, lift_statement_end(tree, statement) - tree->nodes[statement].start);
      return true;
   }
   for (uint32_t v = lift_child(tree, statement, 0); v != LIFT_NONE; v = tree->nodes[v].next) {
      if (is_variable_of(t, v)) {
         if (!write_declaration(t, v))
            return false;
         continue;
      }
      if (strpbrk(tree->nodes[v].type, "[*&(") || lift_is(tree, v, LIFT_SHARED))
         return lift_refuse(t->change, "line %u: declared together with what depends on the result", lift_line(tree, v));
      close_results(t);
      rkb_text_format(&t->out, "\n   %s ", tree->nodes[v].type);
      rkb_text_append(&t->out, tree->text + tree->nodes[v].name, tree->nodes[v].end - tree->nodes[v].name);
      rkb_text_add(&t->out, ";");
   }
   return write_assignments(t, statement);
}

/* Writes a whole statement once for each result. */
static bool write_leaf(tiling_t *t, uint32_t statement) {
   const lift_tree_t *tree = t->tree;
   char callee[64];
   for (uint32_t i = statement; i < tree->nodes[statement].last; i++) {
      if (lift_is(tree, i, LIFT_CALL)) {
         lift_callee(tree, i, callee, sizeof callee);
         if (strstr(callee, "sync") || strstr(callee, "atomic"))
            return lift_refuse(t->change, "line %u: %s depends on the result", lift_line(tree, i), callee);
      }
      if (lift_is(tree, i, LIFT_ASSEMBLY) || lift_is(tree, i, LIFT_LAMBDA) || lift_is(tree, i, LIFT_RETURN))
         return lift_refuse(t->change, "line %u: a statement that is not understood", lift_line(tree, i));
      if (lift_is(tree, i, LIFT_CONTINUE) || lift_is(tree, i, LIFT_BREAK)) {
         uint32_t up = tree->nodes[i].parent;
         while (up != statement && !lift_is(tree, up, LIFT_FOR) && !lift_is(tree, up, LIFT_WHILE) && !lift_is(tree, up, LIFT_DO))
            up = tree->nodes[up].parent;
         if (up == statement && !lift_is(tree, up, LIFT_FOR) && !lift_is(tree, up, LIFT_WHILE)) {
            t->change->first = "select_load";
            return lift_refuse(t->change, "line %u: one result goes on while others do not", lift_line(tree, i));
         }
      }
   }
   open_results(t);
   rkb_text_add(&t->out, "      ");
   write_for_result(t, tree->nodes[statement].start, lift_statement_end(tree, statement), statement);
   rkb_text_add(&t->out, "\n");
   return true;
}

static bool write_statement(tiling_t *t, uint32_t statement);

static bool write_block(tiling_t *t, uint32_t block) {
   const lift_tree_t *tree = t->tree;
   rkb_text_add(&t->out, "{\n");
   for (uint32_t s = lift_child(tree, block, 0); s != LIFT_NONE; s = tree->nodes[s].next)
      if (!write_statement(t, s))
         return false;
   close_results(t);
   rkb_text_add(&t->out, "   }\n");
   return true;
}

/* Writes the lines before a statement that belong to it: comments and #pragma. */
static void write_before(tiling_t *t, uint32_t statement) {
   const lift_tree_t *tree = t->tree;
   uint32_t line = tree->nodes[statement].start;
   while (line > 0 && tree->text[line - 1] != '\n')
      line--;
   if (line < 2)
      return;
   uint32_t before = line - 1;
   while (before > 0 && tree->text[before - 1] != '\n')
      before--;
   const char *text = tree->text + before;
   while (*text == ' ')
      text++;
   if (strncmp(text, "#pragma", 7) == 0) {
      rkb_text_add(&t->out, "\n");
      rkb_text_append(&t->out, tree->text + before, line - before);
   }
}

static bool write_statement(tiling_t *t, uint32_t statement) {
   const lift_tree_t *tree = t->tree;
   if (lift_is(tree, statement, LIFT_DECLARATIONS))
      return write_declarations(t, statement);
   if (!depends(t, statement)) {
      close_results(t);
      write_before(t, statement);
      rkb_text_add(&t->out, "\n   ");
      rkb_text_append(&t->out, tree->text + tree->nodes[statement].start, lift_statement_end(tree, statement) - tree->nodes[statement].start);
      rkb_text_add(&t->out, "\n");
      return true;
   }
   if (lift_is(tree, statement, LIFT_COMPOUND)) {
      close_results(t);
      return write_block(t, statement);
   }
   lift_loop_t loop;
   const bool kept = (lift_loop_read(tree, statement, &loop) && !depends(t, loop.first) && !depends(t, loop.last) &&
                      (loop.step == LIFT_NONE || !depends(t, loop.step)) && !lift_leaves(tree, statement)) ||
                     (lift_is(tree, statement, LIFT_IF) && lift_children(tree, statement) == 2 && !depends(t, lift_child(tree, statement, 0)));
   if (!kept)
      return write_leaf(t, statement);
   const uint32_t body = lift_is(tree, statement, LIFT_IF) ? lift_child(tree, statement, 1) : loop.body;
   close_results(t);
   write_before(t, statement);
   rkb_text_add(&t->out, "\n   ");
   uint32_t header = tree->nodes[body].start;
   while (header > 0 && isspace((unsigned char)tree->text[header - 1]))
      header--;
   rkb_text_append(&t->out, tree->text + tree->nodes[statement].start, header - tree->nodes[statement].start);
   rkb_text_add(&t->out, " ");
   if (lift_is(tree, body, LIFT_COMPOUND))
      return write_block(t, body);
   rkb_text_add(&t->out, "{\n");
   if (!write_statement(t, body))
      return false;
   close_results(t);
   rkb_text_add(&t->out, "   }\n");
   return true;
}

static bool change_launches(const lift_subject_t *subject, tiling_t *t, lift_launches_t *launches) {
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
   tiling_t *t = rkb_allocate(1, sizeof *t);
   lift_launches_t *launches = rkb_allocate(1, sizeof *launches);
   char entry[160], name[64];
   *t = (tiling_t){.tree = tree, .change = change, .kernel = kernel};
   rkb_text_init(&t->out, LIFT_MAX_TEXT);
   lift_fresh_name(tree, "OUTPUTS", t->outputs, sizeof t->outputs);
   lift_fresh_name(tree, "result", t->index, sizeof t->index);
   snprintf(entry, sizeof entry, "%s: {default: %d, choices: [1, 2, 4, 8]}", t->outputs, lift_draw(subject, 2) ? 4 : 2);
   bool sound = find_numbers(t) && find_variables(t) && lift_launches_read(subject->manifest, launches, change) && check_memory(t, launches) &&
                lift_add_entry(change, tree, subject->manifest, "tune", entry) && change_launches(subject, t, launches) &&
                write_block(t, lift_body(tree, kernel));
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
   uint32_t kernels[32];
   const uint32_t count = lift_kernels(subject->tree, kernels, 32), first = lift_draw(subject, count);
   const char *needed = NULL;
   for (uint32_t i = 0; i < count; i++) {
      lift_change_t attempt = {0};
      if (apply_to(subject, kernels[(first + i) % count], &attempt)) {
         lift_change_free(change);
         *change = attempt;
         return true;
      }
      needed = needed ? needed : attempt.first;
      lift_refuse(change, "%s", attempt.refusal);
      lift_change_free(&attempt);
   }
   change->first = needed;
   return lift_refuse(change, "the text has no kernel");
}
