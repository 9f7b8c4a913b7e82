/* Fills a prompt (prompt.h).  Values are inserted as they are: text in a value that looks like a slot stays text. */
#include <stdlib.h>
#include <string.h>
#include "base/json.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/text.h"
#include "prompt/prompt.h"

#define MOST_BYTES (2u << 20) /* of a filled section */

typedef struct filling {
   const rkb_template_t *template;
   char marker[40];
   rkb_text_t values[RKB_MAX_SLOTS];
   json_t *slots, *cuts;
   uint32_t cut;
   const char *malformed; /* the slot with a value that is not UTF-8, or NULL */
} filling_t;

static const rkb_slot_value_t *find(const rkb_slot_value_t *values, uint32_t count, const char *name) {
   for (uint32_t i = 0; i < count; i++)
      if (strcmp(values[i].name, name) == 0)
         return &values[i];
   return NULL;
}

static void write_entry(filling_t *filling, const rkb_slot_entry_t *entry, rkb_text_t *out) {
   const char *text = entry->text ? entry->text : "", *label = entry->label ? entry->label : "text";
   size_t length = strlen(text);
   if (!entry->fenced) {
      rkb_text_add(out, text);
      return;
   }
   rkb_text_format(out, "[%s begins: %s]\n", filling->marker, label);
   rkb_text_append(out, text, length);
   rkb_text_format(out, "%s[%s ends]", length && text[length - 1] == '\n' ? "" : "\n", filling->marker);
}

static uint64_t size_of(filling_t *filling, const rkb_slot_entry_t *entry) {
   rkb_text_t text;
   rkb_text_init(&text, MOST_BYTES);
   write_entry(filling, entry, &text);
   uint64_t size = text.cut ? UINT64_MAX / 128 : text.length + 1;
   rkb_text_free(&text);
   return size;
}

/* Leaves out entries until the rest fits: lowest priority first, and the last of equal ones. */
static void choose(filling_t *filling, const rkb_template_slot_t *slot, const rkb_slot_value_t *value,
                   bool *kept) {
   uint64_t sizes[RKB_MAX_SLOT_ENTRIES], total = 0;
   uint32_t count = value->count < RKB_MAX_SLOT_ENTRIES ? value->count : RKB_MAX_SLOT_ENTRIES;
   for (uint32_t i = 0; i < count; i++) {
      kept[i] = true;
      sizes[i] = size_of(filling, &value->entries[i]);
      total += sizes[i];
   }
   while (total > slot->budget) {
      uint32_t worst = UINT32_MAX;
      for (uint32_t i = 0; i < count; i++)
         if (kept[i] && (worst == UINT32_MAX || value->entries[i].priority <= value->entries[worst].priority))
            worst = i;
      if (worst == UINT32_MAX)
         break;
      const rkb_slot_entry_t *entry = &value->entries[worst];
      kept[worst] = false;
      total -= sizes[worst];
      filling->cut++;
      json_array_append_new(filling->cuts, json_pack("{s:s, s:i, s:s, s:I}", "slot", slot->name, "entry",
                                                     (int)worst, "label", entry->label ? entry->label : "",
                                                     "bytes", (json_int_t)sizes[worst]));
   }
}

static void fill_slot(filling_t *filling, uint32_t index, const rkb_slot_value_t *value) {
   const rkb_template_slot_t *slot = &filling->template->slots[index];
   rkb_text_t *out = &filling->values[index];
   bool kept[RKB_MAX_SLOT_ENTRIES] = {false};
   json_t *shown = json_array();
   rkb_text_init(out, MOST_BYTES);
   if (value && value->count)
      choose(filling, slot, value, kept);
   for (uint32_t i = 0; value && i < value->count && i < RKB_MAX_SLOT_ENTRIES; i++) {
      if (!kept[i] || !value->entries[i].text || !value->entries[i].text[0])
         continue;
      if (out->length)
         rkb_text_add(out, "\n");
      write_entry(filling, &value->entries[i], out);
      if (json_array_append_new(shown, json_string(value->entries[i].text)) != 0)
         filling->malformed = slot->name; /* Jansson takes UTF-8 alone */
   }
   json_object_set_new(filling->slots, slot->name, shown);
}

static void write_section(filling_t *filling, const rkb_template_section_t *section, rkb_text_t *out) {
   for (uint32_t i = 0; i < section->count; i++) {
      const rkb_template_line_t *line = &section->lines[i];
      bool empty = false;
      for (uint32_t j = 0; j < line->count; j++)
         empty |= !line->pieces[j].text && line->pieces[j].slot >= 0 &&
                  !filling->values[line->pieces[j].slot].length;
      if (empty && line->slots == 1)
         continue;
      for (uint32_t j = 0; j < line->count; j++) {
         const rkb_template_piece_t *piece = &line->pieces[j];
         if (piece->text)
            rkb_text_append(out, piece->text, piece->bytes);
         else
            rkb_text_add(out,
                         piece->slot < 0 ? filling->marker : rkb_text_get(&filling->values[piece->slot]));
      }
      rkb_text_add(out, "\n");
   }
}

static int finish(filling_t *filling, const rkb_prompt_t *prompt, rkb_filled_prompt_t **out,
                  rkb_error_t *err) {
   rkb_filled_prompt_t *filled = rkb_allocate(1, sizeof *filled);
   rkb_text_t system, user;
   rkb_text_init(&system, MOST_BYTES);
   rkb_text_init(&user, MOST_BYTES);
   write_section(filling, &filling->template->system, &system);
   write_section(filling, &filling->template->user, &user);
   json_t *about = json_pack("{s:s, s:s, s:O, s:O}", "prompt", prompt->hash, "marker", filling->marker,
                             "slots", filling->slots, "cut", filling->cuts);
   char *provenance = about && !filling->malformed ? rkb_json_canonical(about) : NULL;
   bool cut = system.cut || user.cut;
   char *system_text = rkb_text_take(&system), *user_text = rkb_text_take(&user);
   json_decref(about);
   if (provenance && !cut) {
      *filled = (rkb_filled_prompt_t){.size = sizeof *filled,
                                      .cut = filling->cut,
                                      .system = system_text,
                                      .user = user_text,
                                      .provenance = provenance};
      *out = filled;
      return RKB_OK;
   }
   free(filled);
   free(provenance);
   free(system_text);
   free(user_text);
   if (cut)
      return rkb_fail(err, RKB_ERR_LIMIT, "a filled prompt is larger than %u bytes", MOST_BYTES);
   return rkb_fail(err, RKB_ERR_INVALID, filling->malformed ? "%s: the value of slot '%s' is not UTF-8" : "%s: there is no memory left",
                   prompt->path, filling->malformed);
}

int rkb_prompt_fill(const rkb_prompt_t *prompt, const rkb_slot_value_t *values, uint32_t count,
                    rkb_random_t *marker, rkb_filled_prompt_t **filled, rkb_error_t *err) {
   rkb_problems_t problems;
   filling_t filling = {.slots = json_object(), .cuts = json_array()};
   rkb_arena_t *arena = rkb_arena_new(0);
   int status;
   *filled = NULL;
   rkb_problems_init(&problems);
   filling.template = rkb_template_parse(arena, prompt->path, prompt->text, NULL, &problems);
   if (filling.template) {
      unsigned long long first = rkb_random_next(marker), second = rkb_random_next(marker);
      snprintf(filling.marker, sizeof filling.marker, "data-%016llx", first ^ second);
      for (uint32_t i = 0; i < filling.template->slot_count; i++)
         fill_slot(&filling, i, find(values, count, filling.template->slots[i].name));
      status = finish(&filling, prompt, filled, err);
      for (uint32_t i = 0; i < filling.template->slot_count; i++)
         rkb_text_free(&filling.values[i]);
   } else {
      status = rkb_problems_error(&problems, err);
   }
   json_decref(filling.slots);
   json_decref(filling.cuts);
   rkb_problems_free(&problems);
   rkb_arena_free(arena);
   return status;
}

void rkb_prompt_filled_free(rkb_filled_prompt_t *filled) {
   if (!filled)
      return;
   free((char *)filled->system);
   free((char *)filled->user);
   free((char *)filled->provenance);
   free(filled);
}
