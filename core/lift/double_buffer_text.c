/* Writes a loop over tiles with two buffers (double_buffer.h). */
#include <string.h>
#include "lift/double_buffer.h"
#include "lift/launches.h"

/* The text between two bytes, with `[which]` behind each tile's name. */
static void write_part(const double_buffer_t *buffer, uint32_t start, uint32_t end, const char *which,
                       rkb_text_t *out) {
   const lift_tree_t *tree = buffer->tree;
   lift_change_t names = {0};
   for (uint32_t i = buffer->loop.body; i < tree->nodes[buffer->loop.body].last; i++)
      for (uint32_t t = 0; t < buffer->tile_count; t++)
         if (lift_is(tree, i, LIFT_NAME) && tree->nodes[i].declaration == buffer->tiles[t] &&
             tree->nodes[i].start >= start && tree->nodes[i].end <= end)
            lift_replace(&names, tree->nodes[i].end, tree->nodes[i].end, "[%s]", which);
   lift_write(out, tree, &names, start, end);
   lift_change_free(&names);
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
      rkb_text_format(&out, "%*s%.*s\n", *next == '#' || line < from ? 0 : (int)(at - start), "", (int)length,
                      next);
      next += length + (next[length] == '\n');
   }
   rkb_text_free(text);
   *text = out;
}

/* The copy of a tile, as the loop's variable says it. */
static void write_copy(const double_buffer_t *buffer, const char *type, const char *value, const char *which,
                       rkb_text_t *out) {
   const lift_tree_t *tree = buffer->tree;
   char name[64];
   lift_name(tree, buffer->loop.variable, name, sizeof name);
   const uint32_t start = buffer->barrier_first ? lift_statement_end(tree, buffer->barriers[0])
                                                : tree->nodes[buffer->loop.body].start + 1;
   rkb_text_format(out, "const %s %s = %s;", type, name, value);
   write_part(buffer, start, lift_line_start(tree, tree->nodes[buffer->copy_end].start), which, out);
   rkb_text_add(out, "\n}\n");
}

/* How often one kernel has the function's shared memory: once for each call, which may be of another instance of a template. */
static uint32_t instances(const double_buffer_t *buffer) {
   const lift_tree_t *tree = buffer->tree;
   char name[64], callee[128];
   uint32_t most = 0, elsewhere = 0;
   lift_name(tree, buffer->function, name, sizeof name);
   for (uint32_t f = 0; f < tree->count; f++) {
      const bool kernel = lift_is(tree, f, LIFT_KERNEL);
      uint32_t own = 0;
      if (!kernel && !lift_is(tree, f, LIFT_FUNCTION) && !lift_is(tree, f, LIFT_METHOD))
         continue;
      for (uint32_t i = f; i < tree->nodes[f].last; i++) {
         if (!lift_is(tree, i, LIFT_CALL))
            continue;
         lift_callee(tree, i, callee, sizeof callee);
         own += strcmp(callee, name) == 0;
      }
      most = kernel && own > most ? own : most;
      elsewhere += kernel ? 0 : own;
   }
   return most + elsewhere > 0 ? most + elsewhere : 1;
}

/* Writes the bytes of all tiles.  False when one has a length that is not known before the first tile's declaration. */
static bool write_bytes(const double_buffer_t *buffer, uint32_t first, rkb_text_t *out) {
   const lift_tree_t *tree = buffer->tree;
   for (uint32_t t = 0; t < buffer->tile_count; t++) {
      uint32_t lengths[4];
      const char *type = tree->nodes[buffer->tiles[t]].type;
      const uint32_t count = lift_lengths(tree, buffer->tiles[t], lengths, 4);
      size_t end = strcspn(type, "[");
      while (end > 0 && type[end - 1] == ' ')
         end--;
      rkb_text_format(out, "%ssizeof(%.*s)", t > 0 ? " + " : "", (int)end, type);
      for (uint32_t l = 0; l < count; l++) {
         for (uint32_t i = lengths[l]; i < tree->nodes[lengths[l]].last; i++)
            if (lift_is(tree, i, LIFT_NAME) && tree->nodes[i].declaration != LIFT_NONE &&
                tree->nodes[i].declaration >= first)
               return false;
         const bool sum = lift_is(tree, lengths[l], LIFT_BINARY);
         rkb_text_add(out, sum ? " * (" : " * ");
         lift_write_node(out, tree, lengths[l]);
         rkb_text_add(out, sum ? ")" : "");
      }
   }
   return true;
}

/* A second buffer for each tile, where both fit into the shared memory that a block has without asking for more. */
static bool write_tiles(const double_buffer_t *buffer, const char *buffers) {
   const lift_tree_t *tree = buffer->tree;
   uint32_t first = buffer->tiles[0];
   rkb_text_t bytes;
   for (uint32_t t = 0; t < buffer->tile_count; t++) {
      char tile[64];
      first = buffer->tiles[t] < first ? buffer->tiles[t] : first;
      lift_name(tree, buffer->tiles[t], tile, sizeof tile);
      const uint32_t behind = tree->nodes[buffer->tiles[t]].name + (uint32_t)strlen(tile);
      lift_replace(buffer->change, behind, behind, "[%s]", buffers);
   }
   rkb_text_init(&bytes, 8192);
   const uint32_t declaration = tree->nodes[first].parent, start = tree->nodes[declaration].start;
   const bool sound =
      lift_is(tree, declaration, LIFT_DECLARATIONS) && write_bytes(buffer, declaration, &bytes) && !bytes.cut;
   if (sound)
      lift_replace(buffer->change, start, start, "constexpr int %s = %u * (%s) <= 48 * 1024 ? 2 : 1;\n%*s",
                   buffers, 2 * instances(buffer), rkb_text_get(&bytes),
                   (int)(start - lift_line_start(tree, start)), "");
   rkb_text_free(&bytes);
   return sound ||
          lift_refuse(buffer->change, "line %u: the length of a tile is not known before the first tile",
                      lift_line(tree, buffer->loop.node));
}

bool double_buffer_write(const double_buffer_t *buffer) {
   const lift_tree_t *tree = buffer->tree;
   const lift_loop_t *loop = &buffer->loop;
   const uint32_t end = lift_statement_end(tree, loop->body);
   const char *type = tree->nodes[loop->variable].type +
                      (strncmp(tree->nodes[loop->variable].type, "const ", 6) == 0 ? 6 : 0);
   char name[64], present[64], buffers[64], ahead[64], wanted[80], other[160];
   rkb_text_t before, body, first, last;
   rkb_text_init(&before, LIFT_MAX_TEXT);
   rkb_text_init(&body, LIFT_MAX_TEXT);
   rkb_text_init(&first, 4096);
   rkb_text_init(&last, 4096);
   lift_name(tree, loop->variable, name, sizeof name);
   lift_fresh_name(tree, "present", present, sizeof present);
   lift_fresh_name(tree, "buffers", buffers, sizeof buffers);
   snprintf(wanted, sizeof wanted, "%s_ahead", name);
   lift_fresh_name(tree, wanted, ahead, sizeof ahead);
   snprintf(other, sizeof other, "(%s + 1) %% %s", present, buffers);
   lift_write_node(&first, tree, loop->first);
   lift_write_node(&last, tree, loop->last);

   rkb_text_format(&before, "int %s = 0; /* the buffer that holds the present tile */\n", present);
   if (buffer->barrier_first)
      rkb_text_add(&before, "__syncthreads();\n");
   rkb_text_format(&before, "if (%s == 2 && %s < %s) {\n", buffers, rkb_text_get(&first),
                   rkb_text_get(&last));
   write_copy(buffer, type, rkb_text_get(&first), "0", &before);
   indent(&before, tree, tree->nodes[loop->node].start, 0);

   rkb_text_format(
      &body,
      "{\n__syncthreads(); /* the tile has come, and the one before it has been read */\nconst %s %s = %s + (%s - 1) * (",
      type, ahead, name, buffers);
   if (loop->step == LIFT_NONE)
      rkb_text_add(&body, "1");
   else
      lift_write_node(&body, tree, loop->step);
   rkb_text_format(&body, ");\nif (%s < %s) {\n", ahead, rkb_text_get(&last));
   write_copy(buffer, type, ahead, other, &body);
   rkb_text_format(&body, "if (%s == 1) /* there is no room for two */\n__syncthreads();\n", buffers);
   write_part(buffer, lift_statement_end(tree, buffer->copy_end),
              buffer->compute_end == LIFT_NONE
                 ? tree->nodes[loop->body].end - 1
                 : lift_line_start(tree, tree->nodes[buffer->compute_end].start),
              present, &body);
   rkb_text_format(&body, "\n%s = %s;\n}%s", present, other,
                   buffer->barrier_first ? "" : "\n__syncthreads(); /* the last tile has been read */");
   indent(&body, tree, tree->nodes[loop->node].start, 1);

   const uint32_t at = lift_pragma_start(tree, loop->node);
   lift_replace(buffer->change, at, at, "%s", rkb_text_get(&before));
   lift_replace(buffer->change, tree->nodes[loop->body].start, end, "%.*s",
                (int)(body.length - (body.length > 0)), rkb_text_get(&body));
   const bool sound = !before.cut && !body.cut && !first.cut && !last.cut;
   rkb_text_free(&before);
   rkb_text_free(&body);
   rkb_text_free(&first);
   rkb_text_free(&last);
   return (sound ||
           lift_refuse(buffer->change, "line %u: the text becomes too long", lift_line(tree, loop->node))) &&
          write_tiles(buffer, buffers);
}
