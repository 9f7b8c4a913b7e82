/* Writes a kernel's body for register_tile: declarations become arrays, and statements are repeated for each result. */
#include "lift/register_tile.h"

#include <ctype.h>
#include <string.h>
#include "lift/loops.h"

static bool is_array(const register_tile_t *t, uint32_t variable) {
   for (uint32_t a = 0; a < t->array_count; a++)
      if (t->arrays[a] == variable)
         return true;
   return false;
}

/* Writes the text of a node for result `index`: array variables get their index, and numbers are those of the
 * tile. */
static void write_for_result(register_tile_t *t, uint32_t start, uint32_t end, uint32_t node) {
   const lift_tree_t *tree = t->tree;
   lift_change_t inside = {0};
   for (uint32_t i = node; i < tree->nodes[node].last; i++) {
      for (uint32_t n = 0; n < t->number_count; n++)
         if (t->numbers[n] == i)
            lift_replace(&inside, tree->nodes[i].start, tree->nodes[i].end,
                         "(blockIdx.%c * %s + %s) * %s + threadIdx.x", t->dimension, t->outputs, t->index,
                         t->width_name);
      if (lift_is(tree, i, LIFT_NAME) && is_array(t, tree->nodes[i].declaration))
         lift_replace(&inside, tree->nodes[i].end, tree->nodes[i].end, "[%s]", t->index);
   }
   lift_write(&t->out, tree, &inside, start, end);
   lift_change_free(&inside);
}

static void open_results(register_tile_t *t) {
   if (!t->open)
      rkb_text_format(&t->out, "\n#pragma unroll\n   for (int %s = 0; %s < %s; %s++) {\n", t->index, t->index,
                      t->outputs, t->index);
   t->open = true;
}

static void close_results(register_tile_t *t) {
   if (t->open)
      rkb_text_add(&t->out, "   }\n");
   t->open = false;
}

static bool is_zero(const lift_tree_t *tree, uint32_t node) {
   return lift_text_is(tree, node, "{}") || lift_text_is(tree, node, "{0.0f}") ||
          lift_text_is(tree, node, "{0}");
}

/* `const int image` becomes `int image[OUTPUTS]`; its initialiser becomes an assignment for each result. */
static bool write_declaration(register_tile_t *t, uint32_t variable) {
   const lift_tree_t *tree = t->tree;
   const char *type = tree->nodes[variable].type;
   const uint32_t initialiser = lift_initialiser(tree, variable);
   char name[64], base[256];
   uint32_t lengths[4];
   const uint32_t count = lift_lengths(tree, variable, lengths, 4);
   const bool pointer = strchr(type, '*') != NULL;
   lift_name(tree, variable, name, sizeof name);
   if (strchr(type, '&') || strchr(type, '(') || strcmp(type, "?") == 0 || strncmp(type, "auto", 4) == 0)
      return lift_refuse(t->change, "line %u: '%s' is a reference or of a type that is not written",
                         lift_line(tree, variable), name);
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
   if ((braces && !is_zero(tree, initialiser)) || (!braces && initialiser != LIFT_NONE && count > 0) ||
       t->array_count == REGISTER_TILE_VARIABLES) {
      rkb_text_free(&dims);
      return lift_refuse(t->change, "line %u: '%s' does not begin at zero", lift_line(tree, variable), name);
   }
   close_results(t);
   rkb_text_format(&t->out, "\n   %s%s%s[%s]%s%s;", base, pointer ? "" : " ", name, t->outputs,
                   rkb_text_get(&dims), braces ? " = {}" : "");
   rkb_text_free(&dims);
   t->arrays[t->array_count++] = variable;
   return true;
}

static bool write_assignments(register_tile_t *t, uint32_t declarations) {
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

static bool is_variable_of(const register_tile_t *t, uint32_t variable) {
   for (uint32_t v = 0; v < t->variable_count; v++)
      if (t->variables[v] == variable)
         return true;
   return false;
}

static bool write_declarations(register_tile_t *t, uint32_t statement) {
   const lift_tree_t *tree = t->tree;
   uint32_t own = 0, count = 0;
   for (uint32_t v = lift_child(tree, statement, 0); v != LIFT_NONE; v = tree->nodes[v].next, count++)
      own += is_variable_of(t, v);
   if (own == 0) {
      close_results(t);
      rkb_text_add(&t->out, "\n   ");
      rkb_text_append(&t->out, tree->text + tree->nodes[statement].start,
                      lift_statement_end(tree, statement) - tree->nodes[statement].start);
      return true;
   }
   for (uint32_t v = lift_child(tree, statement, 0); v != LIFT_NONE; v = tree->nodes[v].next) {
      if (is_variable_of(t, v)) {
         if (!write_declaration(t, v))
            return false;
         continue;
      }
      if (strpbrk(tree->nodes[v].type, "[*&(") || lift_is(tree, v, LIFT_SHARED))
         return lift_refuse(t->change, "line %u: declared together with what depends on the result",
                            lift_line(tree, v));
      close_results(t);
      rkb_text_format(&t->out, "\n   %s ", tree->nodes[v].type);
      rkb_text_append(&t->out, tree->text + tree->nodes[v].name, tree->nodes[v].end - tree->nodes[v].name);
      rkb_text_add(&t->out, ";");
   }
   return write_assignments(t, statement);
}

/* Writes a whole statement once for each result. */
static bool write_leaf(register_tile_t *t, uint32_t statement) {
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
         while (up != statement && !lift_is(tree, up, LIFT_FOR) && !lift_is(tree, up, LIFT_WHILE) &&
                !lift_is(tree, up, LIFT_DO))
            up = tree->nodes[up].parent;
         if (up == statement && !lift_is(tree, up, LIFT_FOR) && !lift_is(tree, up, LIFT_WHILE)) {
            t->change->first = "select_load";
            return lift_refuse(t->change, "line %u: one result goes on while others do not",
                               lift_line(tree, i));
         }
      }
   }
   open_results(t);
   rkb_text_add(&t->out, "      ");
   write_for_result(t, tree->nodes[statement].start, lift_statement_end(tree, statement), statement);
   rkb_text_add(&t->out, "\n");
   return true;
}

static bool write_statement(register_tile_t *t, uint32_t statement);

bool register_tile_write(register_tile_t *t, uint32_t block) {
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
static void write_before(register_tile_t *t, uint32_t statement) {
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

static bool write_statement(register_tile_t *t, uint32_t statement) {
   const lift_tree_t *tree = t->tree;
   if (lift_is(tree, statement, LIFT_DECLARATIONS))
      return write_declarations(t, statement);
   if (!register_tile_depends(t, statement)) {
      close_results(t);
      write_before(t, statement);
      rkb_text_add(&t->out, "\n   ");
      rkb_text_append(&t->out, tree->text + tree->nodes[statement].start,
                      lift_statement_end(tree, statement) - tree->nodes[statement].start);
      rkb_text_add(&t->out, "\n");
      return true;
   }
   if (lift_is(tree, statement, LIFT_COMPOUND)) {
      close_results(t);
      return register_tile_write(t, statement);
   }
   lift_loop_t loop;
   const bool kept =
      (lift_loop_read(tree, statement, &loop) && !register_tile_depends(t, loop.first) &&
       !register_tile_depends(t, loop.last) &&
       (loop.step == LIFT_NONE || !register_tile_depends(t, loop.step)) && !lift_leaves(tree, statement)) ||
      (lift_is(tree, statement, LIFT_IF) && lift_children(tree, statement) == 2 &&
       !register_tile_depends(t, lift_child(tree, statement, 0)));
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
      return register_tile_write(t, body);
   rkb_text_add(&t->out, "{\n");
   if (!write_statement(t, body))
      return false;
   close_results(t);
   rkb_text_add(&t->out, "   }\n");
   return true;
}
