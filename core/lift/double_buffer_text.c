/* Writes a loop over tiles with two buffers (double_buffer.h). */
#include <ctype.h>
#include <string.h>
#include "lift/double_buffer.h"
#include "lift/launches.h"

/* The text between two bytes, with `[which]` behind each tile's name. */
static void write_part(const double_buffer_t *buffer, uint32_t start, uint32_t end, const char *which, rkb_text_t *out) {
   const lift_tree_t *tree = buffer->tree;
   lift_change_t names = {0};
   for (uint32_t i = buffer->loop.body; i < tree->nodes[buffer->loop.body].last; i++)
      for (uint32_t t = 0; t < buffer->tile_count; t++)
         if (lift_is(tree, i, LIFT_NAME) && tree->nodes[i].declaration == buffer->tiles[t] && tree->nodes[i].start >= start && tree->nodes[i].end <= end)
            lift_replace(&names, tree->nodes[i].end, tree->nodes[i].end, "[%s]", which);
   lift_write(out, tree, &names, start, end);
   lift_change_free(&names);
}

/* The first byte of a loop's lines, with a #pragma before it. */
static uint32_t first_byte(const lift_tree_t *tree, uint32_t loop) {
   const uint32_t at = lift_line_start(tree, tree->nodes[loop].start);
   uint32_t before = at;
   while (before > 0 && isspace((unsigned char)tree->text[before - 1]))
      before--;
   while (before > 0 && tree->text[before - 1] != '\n')
      before--;
   const char *line = tree->text + before;
   return before < at && strncmp(line + strspn(line, " \t"), "#pragma", 7) == 0 ? before : at;
}

/* Indents by braces, and by the loop's own column from line number `from` on. */
static void indent(rkb_text_t *text, const lift_tree_t *tree, uint32_t at, uint32_t from) {
   rkb_text_t out;
   const uint32_t start = lift_line_start(tree, at);
   uint32_t line = 0;
   lift_indent_lines(text);
   rkb_text_init(&out, text->limit);
   for (const char *next = rkb_text_get(text); *next; line++) {
      const size_t length = strcspn(next, "\n");
      rkb_text_format(&out, "%*s%.*s\n", *next == '#' || line < from ? 0 : (int)(at - start), "", (int)length, next);
      next += length + (next[length] == '\n');
   }
   rkb_text_free(text);
   *text = out;
}

/* The copy of a tile, as the loop's variable says it. */
static void write_copy(const double_buffer_t *buffer, const char *type, const char *value, const char *which, rkb_text_t *out) {
   const lift_tree_t *tree = buffer->tree;
   char name[64];
   lift_name(tree, buffer->loop.variable, name, sizeof name);
   const uint32_t start = buffer->barrier_first ? lift_statement_end(tree, buffer->barriers[0]) : tree->nodes[buffer->loop.body].start + 1;
   rkb_text_format(out, "const %s %s = %s;", type, name, value);
   write_part(buffer, start, lift_line_start(tree, tree->nodes[buffer->copy_end].start), which, out);
   rkb_text_add(out, "\n}\n");
}

void double_buffer_write(const double_buffer_t *buffer) {
   const lift_tree_t *tree = buffer->tree;
   const lift_loop_t *loop = &buffer->loop;
   const uint32_t end = lift_statement_end(tree, loop->body);
   const char *type = tree->nodes[loop->variable].type + (strncmp(tree->nodes[loop->variable].type, "const ", 6) == 0 ? 6 : 0);
   char name[64], turn[64], ahead[64], wanted[80], next[80];
   rkb_text_t before, body, first, last;
   rkb_text_init(&before, LIFT_MAX_TEXT);
   rkb_text_init(&body, LIFT_MAX_TEXT);
   rkb_text_init(&first, 4096);
   rkb_text_init(&last, 4096);
   lift_name(tree, loop->variable, name, sizeof name);
   lift_fresh_name(tree, "present", turn, sizeof turn);
   snprintf(wanted, sizeof wanted, "%s_ahead", name);
   lift_fresh_name(tree, wanted, ahead, sizeof ahead);
   snprintf(next, sizeof next, "1 - %s", turn);
   lift_write_node(&first, tree, loop->first);
   lift_write_node(&last, tree, loop->last);

   rkb_text_format(&before, "int %s = 0; /* the buffer that holds the present tile */\n", turn);
   if (buffer->barrier_first)
      rkb_text_add(&before, "__syncthreads();\n");
   rkb_text_format(&before, "if (%s < %s) {\n", rkb_text_get(&first), rkb_text_get(&last));
   write_copy(buffer, type, rkb_text_get(&first), "0", &before);
   indent(&before, tree, tree->nodes[loop->node].start, 0);

   rkb_text_format(&body, "{\n__syncthreads(); /* the tile has come, and the one before it has been read */\nconst %s %s = %s + ", type, ahead, name);
   if (loop->step == LIFT_NONE) {
      rkb_text_add(&body, "1");
   } else {
      rkb_text_add(&body, "(");
      lift_write_node(&body, tree, loop->step);
      rkb_text_add(&body, ")");
   }
   rkb_text_format(&body, ";\nif (%s < %s) {\n", ahead, rkb_text_get(&last));
   write_copy(buffer, type, ahead, next, &body);
   write_part(buffer, lift_statement_end(tree, buffer->copy_end), buffer->compute_end == LIFT_NONE ? tree->nodes[loop->body].end - 1 : lift_line_start(tree, tree->nodes[buffer->compute_end].start),
              turn, &body);
   rkb_text_format(&body, "\n%s = %s;\n}%s", turn, next, buffer->barrier_first ? "" : "\n__syncthreads(); /* the last tile has been read */");
   indent(&body, tree, tree->nodes[loop->node].start, 1);

   const uint32_t at = first_byte(tree, loop->node);
   lift_replace(buffer->change, at, at, "%s", rkb_text_get(&before));
   lift_replace(buffer->change, tree->nodes[loop->body].start, end, "%.*s", (int)(body.length - (body.length > 0)), rkb_text_get(&body));
   for (uint32_t t = 0; t < buffer->tile_count; t++) {
      char tile[64];
      lift_name(tree, buffer->tiles[t], tile, sizeof tile);
      const uint32_t behind = tree->nodes[buffer->tiles[t]].name + (uint32_t)strlen(tile);
      lift_replace(buffer->change, behind, behind, "[2]");
   }
   rkb_text_free(&before);
   rkb_text_free(&body);
   rkb_text_free(&first);
   rkb_text_free(&last);
}
