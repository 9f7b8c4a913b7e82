/* Reads a prompt file (prompt.h): a YAML head between two "---" lines, then "# system" and "# user". */
#include <string.h>
#include "base/nearest_name.h"
#include "base/units.h"
#include "base/yaml.h"
#include "prompt/prompt.h"

#define MOST_PIECES 65 /* in one line */

typedef struct reader {
   rkb_arena_t *arena;
   const char *path;
   const char *const *known;
   rkb_problems_t *problems;
   rkb_template_t *template;
} reader_t;

static rkb_place_t at(const reader_t *reader, uint32_t line, uint32_t column) {
   return (rkb_place_t){.file = reader->path, .line = line, .column = column};
}

static bool is_line(const char *line, const char *what) {
   size_t length = strlen(what);
   return strncmp(line, what, length) == 0 &&
          (line[length] == '\n' || line[length] == '\0' || strncmp(line + length, "\r\n", 2) == 0);
}

static const char *next_line(const char *line) {
   const char *end = strchrnul(line, '\n');
   return *end ? end + 1 : end;
}

static bool name_ok(const char *name) {
   size_t length = strlen(name);
   return length && length <= 40 && strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == length;
}

static void read_slot(reader_t *reader, const rkb_yaml_t *key, const rkb_yaml_t *value) {
   rkb_template_t *template = reader->template;
   rkb_template_slot_t *slot = &template->slots[template->slot_count];
   const char *budget;
   *slot = (rkb_template_slot_t){.name = key->text, .place = key->place};
   if (!name_ok(key->text) || strcmp(key->text, RKB_PROMPT_MARKER) == 0)
      rkb_problem(reader->problems, key->place,
                  "'%s' is not a slot's name; write small letters, digits and '_'%s", key->text,
                  strcmp(key->text, RKB_PROMPT_MARKER) == 0 ? " (marker is there without being listed)" : "");
   if (rkb_yaml_scalar(value, key->text, &budget, reader->problems) &&
       (!rkb_parse_bytes(budget, &slot->budget) || !slot->budget))
      rkb_problem(reader->problems, value->place,
                  "the budget of %s is '%s'; write a number of bytes, as in 8KiB", key->text, budget);
   bool filled = !reader->known;
   for (const char *const *name = reader->known; name && *name; name++)
      filled |= strcmp(*name, key->text) == 0;
   if (!filled) {
      const char *near = rkb_nearest(key->text, reader->known);
      rkb_problem(reader->problems, key->place, "the stage fills no slot '%s'%s%s%s", key->text,
                  near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
   }
   template->slot_count++;
}

/* Returns the start of the sections, with its line number; NULL after adding a problem. */
static const char *read_head(reader_t *reader, const char *text, uint32_t *line) {
   static const char *const known[] = {"slots", NULL};
   uint32_t before = reader->problems->errors;
   *line = 1;
   if (!is_line(text, "---")) {
      rkb_problem(reader->problems, at(reader, 1, 1),
                  "a prompt begins with a line '---', 'slots:' with their budgets, and '---' again");
      return NULL;
   }
   const char *head = next_line(text), *end = head;
   uint32_t lines = 2;
   while (*end && !is_line(end, "---")) {
      end = next_line(end);
      lines++;
   }
   if (!*end) {
      rkb_problem(reader->problems, at(reader, 1, 1), "the head that begins here has no closing line '---'");
      return NULL;
   }
   const rkb_yaml_t *yaml =
      rkb_yaml_parse(reader->arena, reader->path, head, (size_t)(end - head), 2, 1, reader->problems);
   if (yaml && rkb_yaml_expect(yaml, RKB_YAML_MAP, "a prompt's head", reader->problems)) {
      rkb_yaml_only(yaml, "a prompt's head", known, reader->problems);
      const rkb_yaml_t *slots = rkb_yaml_get(yaml, "slots");
      if (!rkb_yaml_is_null(slots) && rkb_yaml_expect(slots, RKB_YAML_MAP, "slots", reader->problems)) {
         if (slots->count > RKB_MAX_SLOTS)
            rkb_problem(reader->problems, slots->place, "a prompt has at most %d slots", RKB_MAX_SLOTS);
         for (uint32_t i = 0; i < slots->count && i < RKB_MAX_SLOTS; i++)
            read_slot(reader, slots->keys[i], slots->items[i]);
      }
   }
   *line = lines + 1;
   return reader->problems->errors == before ? next_line(end) : NULL;
}

static int32_t find_slot(reader_t *reader, const char *name) {
   for (uint32_t i = 0; i < reader->template->slot_count; i++)
      if (strcmp(reader->template->slots[i].name, name) == 0)
         return (int32_t)i;
   return -1;
}

static void read_slot_use(reader_t *reader, const char *start, const char *end, uint32_t line,
                          uint32_t column, rkb_template_line_t *out, rkb_template_piece_t *piece) {
   const char *name = rkb_arena_text(reader->arena, start, (size_t)(end - start));
   *piece = (rkb_template_piece_t){.slot = -1};
   if (strcmp(name, RKB_PROMPT_MARKER) == 0)
      return;
   piece->slot = find_slot(reader, name);
   out->slots++;
   if (piece->slot >= 0)
      reader->template->slots[piece->slot].used = true;
   else
      rkb_problem(reader->problems, at(reader, line, column),
                  "the slot '%s' is not listed at the top; write it under slots:, with its budget", name);
}

static void read_line(reader_t *reader, const char *text, const char *end, uint32_t number,
                      rkb_template_line_t *out) {
   rkb_template_piece_t pieces[MOST_PIECES];
   uint32_t count = 0;
   const char *from = text;
   for (;;) {
      const char *open = memmem(from, (size_t)(end - from), "{{", 2);
      if (!open)
         break;
      const char *close = memmem(open, (size_t)(end - open), "}}", 2);
      uint32_t column = (uint32_t)(open - text) + 1;
      if (count + 2 >= MOST_PIECES) {
         rkb_problem(reader->problems, at(reader, number, column),
                     "a line has at most %d slots and texts between them; break it before this slot",
                     MOST_PIECES - 2);
         break;
      }
      if (!close) {
         rkb_problem(reader->problems, at(reader, number, column),
                     "'{{' is not closed on its line; write {{name}}");
         break;
      }
      if (open > from)
         pieces[count++] = (rkb_template_piece_t){.text = from, .bytes = (uint32_t)(open - from)};
      read_slot_use(reader, open + 2, close, number, column, out, &pieces[count++]);
      from = close + 2;
   }
   if (end > from)
      pieces[count++] = (rkb_template_piece_t){.text = from, .bytes = (uint32_t)(end - from)};
   rkb_template_piece_t *kept = rkb_arena_array(reader->arena, count + 1, sizeof *kept);
   memcpy(kept, pieces, count * sizeof *kept);
   out->pieces = kept;
   out->count = count;
}

/* Drops blank lines at both ends of a section: they are layout, not part of the prompt. */
static void read_section(reader_t *reader, const char *from, const char *to, uint32_t line,
                         rkb_template_section_t *section) {
   uint32_t count = 0;
   for (const char *at_line = from; at_line < to; at_line = next_line(at_line))
      count++;
   rkb_template_line_t *lines = rkb_arena_array(reader->arena, count + 1, sizeof *lines);
   count = 0;
   for (const char *at_line = from; at_line < to; at_line = next_line(at_line), line++) {
      const char *end = strchrnul(at_line, '\n');
      if (end > at_line && end[-1] == '\r')
         end--;
      if (count || end > at_line)
         read_line(reader, at_line, end, line, &lines[count++]);
   }
   while (count && !lines[count - 1].count)
      count--;
   section->lines = lines;
   section->count = count;
}

static void read_body(reader_t *reader, const char *body, uint32_t line) {
   rkb_template_section_t *sections[] = {&reader->template->system, &reader->template->user};
   static const char *const names[] = {"# system", "# user"};
   while (*body) {
      int which = is_line(body, names[0]) ? 0 : is_line(body, names[1]) ? 1 : -1;
      if (which < 0) {
         if (*body != '\n' && *body != '\r') {
            rkb_problem(reader->problems, at(reader, line, 1),
                        "text outside a section; write '# system' or '# user' above it");
            return;
         }
         body = next_line(body);
         line++;
         continue;
      }
      if (sections[which]->lines)
         rkb_problem(reader->problems, at(reader, line, 1), "a second '%s' section", names[which]);
      const char *from = next_line(body), *to = from;
      uint32_t first = line + 1;
      for (line = first; *to && !is_line(to, names[0]) && !is_line(to, names[1]); to = next_line(to))
         line++;
      read_section(reader, from, to, first, sections[which]);
      body = to;
   }
   if (!reader->template->user.count)
      rkb_problem(reader->problems, at(reader, 1, 1), "the prompt has no '# user' section with a text");
}

rkb_template_t *rkb_template_parse(rkb_arena_t *arena, const char *path, const char *text,
                                   const char *const *known, rkb_problems_t *problems) {
   uint32_t before = problems->errors, line;
   reader_t reader = {.arena = arena, .path = path, .known = known, .problems = problems};
   reader.template = rkb_arena_alloc(arena, sizeof *reader.template);
   const char *body = read_head(&reader, text, &line);
   if (!body)
      return NULL;
   read_body(&reader, body, line);
   for (uint32_t i = 0; i < reader.template->slot_count; i++)
      if (!reader.template->slots[i].used)
         rkb_problem(problems, reader.template->slots[i].place,
                     "the slot '%s' is listed and not used; use it as {{%s}}, or remove it",
                     reader.template->slots[i].name, reader.template->slots[i].name);
   return problems->errors == before ? reader.template : NULL;
}
