/* A prompt's slots as they fill up (context.h): texts, entries, and what the archive knows. */
#include "context.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define MOST_ROWS 4096

void context_services_find(const rkb_host_t *host, context_services_t *services) {
   services->archive = host->get_extension(host, RKB_EXT_ARCHIVE);
   services->kernel = host->get_extension(host, RKB_EXT_KERNEL);
   services->task = host->get_extension(host, RKB_EXT_TASK);
   services->prompt = host->get_extension(host, RKB_EXT_PROMPT);
   services->random = host->get_extension(host, RKB_EXT_RANDOM);
   services->library = host->get_extension(host, RKB_EXT_LIBRARY);
}

void context_open(context_t *context, const rkb_host_t *host, rkb_job_t job,
                  const context_services_t *services) {
   rkb_archive_query_t query = {.size = sizeof query, .order = RKB_ARCHIVE_BY_NUMBER, .limit = MOST_ROWS};
   rkb_error_t err = {0};
   memset(context, 0, sizeof *context);
   context->host = host;
   context->job = job;
   context->services = services;
   if (services->archive && services->archive->query(host, job, &query, &context->rows, &err) != RKB_OK)
      rkb_warn(host, "the archive could not be asked: %s", err.message);
}

void context_close(context_t *context) {
   for (uint32_t i = 0; i < context->text_count; i++)
      free(context->texts[i]);
   if (context->services->archive)
      context->services->archive->rows_free(context->rows);
}

const char *context_keep(context_t *context, char *text) {
   if (text && context->text_count < CONTEXT_MOST_TEXTS)
      return context->texts[context->text_count++] = text;
   context->failed = true;
   free(text);
   return "";
}

const char *context_format(context_t *context, const char *fmt, ...) {
   char *text = NULL;
   va_list ap;
   va_start(ap, fmt);
   if (vasprintf(&text, fmt, ap) < 0)
      text = NULL;
   va_end(ap);
   return context_keep(context, text);
}

const char *context_indented(context_t *context, const char *text) {
   const char *out = "";
   for (const char *line = text; *line;) {
      const size_t length = strcspn(line, "\n");
      out = context_format(context, "%s%s  %.*s", out, out[0] ? "\n" : "", (int)length, line);
      line += length + (line[length] == '\n');
   }
   return out;
}

void context_add(context_t *context, const char *name, const char *text, const char *label, int32_t priority,
                 bool fenced) {
   context_slot_t *slot = NULL;
   if (!text || !text[0])
      return;
   for (uint32_t i = 0; i < context->slot_count && !slot; i++)
      if (strcmp(context->slots[i].name, name) == 0)
         slot = &context->slots[i];
   if (!slot && context->slot_count < CONTEXT_SLOTS) {
      slot = &context->slots[context->slot_count++];
      slot->name = name;
   }
   if (!slot || slot->count == RKB_MAX_SLOT_ENTRIES) {
      context->failed |= !slot;
      return;
   }
   slot->entries[slot->count++] =
      (rkb_slot_entry_t){.text = text, .label = label, .priority = priority, .fenced = fenced};
}

static uint32_t row_count(const context_t *context) {
   return context->rows ? context->services->archive->rows_count(context->rows) : 0;
}

const rkb_archive_row_t *context_row(const context_t *context, int64_t number) {
   for (uint32_t i = 0; i < row_count(context); i++) {
      const rkb_archive_row_t *row = context->services->archive->rows_at(context->rows, i);
      if (row->number == number)
         return row;
   }
   return NULL;
}

static bool same_but_for_spaces(const char *a, const char *b) {
   for (;; a++, b++) {
      a += strspn(a, " \t\r\n");
      b += strspn(b, " \t\r\n");
      if (*a != *b || !*a)
         return *a == *b;
   }
}

const rkb_archive_row_t *context_same(const context_t *context, const char *source) {
   for (uint32_t i = 0; i < row_count(context); i++) {
      const rkb_archive_row_t *row = context->services->archive->rows_at(context->rows, i);
      if (same_but_for_spaces(row->source, source))
         return row;
   }
   return NULL;
}

void context_add_best(context_t *context, const char *objective, uint32_t count) {
   rkb_archive_query_t query = {
      .size = sizeof query, .order = RKB_ARCHIVE_BY_OBJECTIVE, .limit = 256, .standing = RKB_ACCEPT};
   const rkb_archive_row_t *chosen[RKB_MAX_SLOT_ENTRIES];
   rkb_archive_rows_t *rows = NULL;
   rkb_error_t err = {0};
   uint32_t found = 0;
   const rkb_archive_api_t *archive = context->services->archive;
   if (!archive || !count || archive->query(context->host, context->job, &query, &rows, &err) != RKB_OK)
      return;
   if (count > RKB_MAX_SLOT_ENTRIES / 2)
      count = RKB_MAX_SLOT_ENTRIES / 2;
   for (uint32_t i = 0; i < archive->rows_count(rows) && found < count; i++) {
      const rkb_archive_row_t *row = archive->rows_at(rows, i);
      bool seen = false;
      for (uint32_t j = 0; j < found; j++)
         seen |= strcmp(chosen[j]->source_hash, row->source_hash) == 0;
      if (!seen)
         chosen[found++] = row;
   }
   /* From slow to fast: a model reads the last with most attention, and the row shows where it leads. */
   for (uint32_t i = found; i-- > 0;) {
      const rkb_archive_row_t *row = chosen[i];
      const char *label =
         context_format(context, "candidate %lld, tune %s", (long long)row->number, row->tune);
      const char *measured = context_summary(context, row->number, objective);
      const char *text = context_format(context, "%s%s%s", row->source, measured[0] ? "\n/* measured: " : "",
                                        measured[0] ? context_format(context, "%s */", measured) : "");
      context_add(context, "best", text, label, (int32_t)(found - i), true);
   }
   archive->rows_free(rows);
}

void context_add_verdicts(context_t *context, uint32_t count) {
   uint32_t rows = row_count(context), first = rows, found = 0;
   while (first > 0 && found < count)
      found += strcmp(context->services->archive->rows_at(context->rows, --first)->standing, RKB_REJECT) == 0;
   for (uint32_t i = first; i < rows; i++) {
      const rkb_archive_row_t *row = context->services->archive->rows_at(context->rows, i);
      if (strcmp(row->standing, RKB_REJECT) != 0)
         continue;
      const char *text =
         context_format(context, "%s: %s%s%s", row->reason, row->message, row->evidence ? "\nevidence: " : "",
                        row->evidence ? row->evidence : "");
      context_add(context, "verdicts", text,
                  context_format(context, "candidate %lld", (long long)row->number), (int32_t)(i - first),
                  true);
   }
}

void context_add_candidate(context_t *context, const char *slot, const rkb_item_t *candidate,
                           int32_t priority) {
   const rkb_host_t *host = context->host;
   const char *source = host->item_text(host, candidate, "source"),
              *tune = host->item_json(host, candidate, "tune");
   int64_t number = 0;
   host->item_int(host, candidate, "number", &number);
   context_add(context, slot, source,
               context_format(context, "candidate %lld, tune %s", (long long)number, tune ? tune : "{}"),
               priority, true);
}

void context_add_findings(context_t *context, const char *slot, const rkb_item_t *candidate) {
   const rkb_host_t *host = context->host;
   int64_t number = 0;
   host->item_int(host, candidate, "number", &number);
   const rkb_archive_row_t *row = context_row(context, number);
   if (!row)
      return;
   const char *label = context_format(context, "candidate %lld", (long long)number);
   /* What an accept says beside its standing is what the sample left out, which nobody who proposes may know (docs/decisions/secret.md). */
   if (row->message && row->message[0] && strcmp(row->standing, RKB_ACCEPT) != 0)
      context_add(context, slot,
                  context_format(context, "%s%s%s: %s%s%s", row->standing,
                                 row->reason && row->reason[0] ? ", " : "", row->reason ? row->reason : "",
                                 row->message, row->evidence ? "\nevidence: " : "",
                                 row->evidence ? row->evidence : ""),
                  label, 2, true);
   context_add_measured(context, slot, number, label);
}

int context_fill(context_t *context, const rkb_prompt_t *prompt, uint32_t child, rkb_filled_prompt_t **filled,
                 rkb_error_t *err) {
   rkb_slot_value_t values[CONTEXT_SLOTS] = {{0}};
   rkb_random_t stream = context->services->random->for_job(context->host, context->job, child);
   if (context->failed)
      return rkb_fail(err, RKB_ERR_NOMEM, "the prompt's values do not fit into memory");
   for (uint32_t i = 0; i < context->slot_count; i++)
      values[i] = (rkb_slot_value_t){.name = context->slots[i].name,
                                     .entries = context->slots[i].entries,
                                     .count = context->slots[i].count};
   return context->services->prompt->fill(prompt, values, context->slot_count, &stream, filled, err);
}
