/* Collects, orders and writes the edits of a text. */
#include "lift/text_change.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

void lift_change_free(lift_change_t *change) {
   for (uint32_t i = 0; i < change->count; i++)
      free(change->edits[i].text);
   free(change->edits);
   *change = (lift_change_t){0};
}

void lift_replace(lift_change_t *change, uint32_t start, uint32_t end, const char *fmt, ...) {
   rkb_text_t text;
   va_list ap;
   rkb_text_init(&text, LIFT_MAX_TEXT);
   va_start(ap, fmt);
   rkb_text_vformat(&text, fmt, ap);
   va_end(ap);
   if (change->count == change->room) {
      change->room = change->room ? 2 * change->room : 16;
      change->edits = rkb_grow(change->edits, change->room, sizeof *change->edits);
   }
   change->edits[change->count++] = (lift_edit_t){start, end, rkb_text_take(&text)};
}

bool lift_refuse(lift_change_t *change, const char *fmt, ...) {
   va_list ap;
   if (change->refusal[0])
      return false;
   va_start(ap, fmt);
   vsnprintf(change->refusal, sizeof change->refusal, fmt, ap);
   va_end(ap);
   return false;
}

bool lift_attempted(lift_change_t *change, lift_change_t *attempt, bool made) {
   if (made) {
      lift_change_free(change);
      *change = *attempt;
      return true;
   }
   change->first = change->first ? change->first : attempt->first;
   lift_refuse(change, "%s", attempt->refusal);
   lift_change_free(attempt);
   return false;
}

/* The first edit that begins at or after the byte.  Where several edits begin at one byte, the edit that was made
 * first. */
static const lift_edit_t *next_edit(const lift_change_t *change, uint32_t at, uint32_t end, const bool *made) {
   const lift_edit_t *next = NULL;
   for (uint32_t i = 0; change && i < change->count; i++) {
      const lift_edit_t *edit = &change->edits[i];
      if (!made[i] && edit->start >= at && edit->end <= end && (!next || edit->start < next->start))
         next = edit;
   }
   return next;
}

bool lift_write(rkb_text_t *out, const lift_tree_t *tree, const lift_change_t *change, uint32_t start, uint32_t end) {
   bool *made = rkb_allocate((change ? change->count : 0) + 1, sizeof *made);
   uint32_t at = start, left = 0;
   const lift_edit_t *edit;
   while ((edit = next_edit(change, at, end, made)) != NULL) {
      made[edit - change->edits] = true;
      rkb_text_append(out, tree->text + at, edit->start - at);
      rkb_text_add(out, edit->text);
      at = edit->end;
   }
   rkb_text_append(out, tree->text + at, end - at);
   for (uint32_t i = 0; change && i < change->count; i++)
      left += !made[i] && change->edits[i].start >= start && change->edits[i].end <= end;
   free(made);
   return left == 0;
}

uint32_t lift_line_start(const lift_tree_t *tree, uint32_t at) {
   uint32_t start = at;
   while (start > 0 && (tree->text[start - 1] == ' ' || tree->text[start - 1] == '\t'))
      start--;
   return start == 0 || tree->text[start - 1] == '\n' ? start : at;
}

uint32_t lift_pragma_start(const lift_tree_t *tree, uint32_t statement) {
   const uint32_t at = lift_line_start(tree, tree->nodes[statement].start);
   uint32_t before = at;
   while (before > 0 && isspace((unsigned char)tree->text[before - 1]))
      before--;
   while (before > 0 && tree->text[before - 1] != '\n')
      before--;
   const char *line = tree->text + before;
   return before < at && strncmp(line + strspn(line, " \t"), "#pragma", 7) == 0 ? before : at;
}

uint32_t lift_statement_end(const lift_tree_t *tree, uint32_t statement) {
   uint32_t at = tree->nodes[statement].end;
   if (at > 0 && (tree->text[at - 1] == ';' || tree->text[at - 1] == '}'))
      return at;
   while (at < tree->bytes && isspace((unsigned char)tree->text[at]))
      at++;
   return at < tree->bytes && tree->text[at] == ';' ? at + 1 : tree->nodes[statement].end;
}

/* Whether a line begins a statement whose body is the next line: `for (...)`, `if (...)`, `else` without a brace. */
static bool begins_body(const char *line, size_t length) {
   return length > 0 && (strncmp(line, "for ", 4) == 0 || strncmp(line, "if ", 3) == 0 || strncmp(line, "else", 4) == 0) && line[length - 1] != '{' &&
          line[length - 1] != ';' && line[length - 1] != '}';
}

void lift_indent_lines(rkb_text_t *text) {
   rkb_text_t out;
   int depth = 0, more = 0;
   rkb_text_init(&out, text->limit);
   for (const char *at = rkb_text_get(text); *at;) {
      const size_t whole = strcspn(at, "\n");
      const char *line = at + strspn(at, " \t");
      size_t length = whole - (size_t)(line - at);
      int change = 0, closes = 0;
      for (size_t i = 0; i < length; i++) {
         change += (line[i] == '{') - (line[i] == '}');
         closes = change < closes ? change : closes;
      }
      at += whole + (at[whole] == '\n');
      if (line >= at || length == 0)
         continue;
      const int indent = line[0] == '#' ? 0 : 3 * (depth + closes + (line[0] == '{' ? 0 : more));
      rkb_text_format(&out, "%*s%.*s\n", indent > 0 ? indent : 0, "", (int)length, line);
      depth += change;
      if (line[0] != '#')
         more = begins_body(line, length) ? more + 1 : 0;
   }
   rkb_text_free(text);
   *text = out;
}
