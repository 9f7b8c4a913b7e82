/* The measurements of a kernel, and the results of other changes to it, as a prompt shows them (context.h). */
#include <jansson.h>
#include <math.h>
#include <string.h>
#include "context.h"

#define MOST_SENTENCE 1024 /* bytes of one measurement's detail in words */
#define MOST_RAW 400       /* bytes of a detail whose form is not known here */
#define MOST_DOCUMENT 6144 /* bytes of one document of a profiler */
/* Numbers of a job's streams that draw profiles; those that pick models are below. */
#define PROFILE_STREAM 8192

/* Adds text at the end of out, cut at its size. */
static void append(char *out, size_t size, const char *fmt, ...) RKB_PRINTF(3, 4);
static void append(char *out, size_t size, const char *fmt, ...) {
   size_t used = strlen(out);
   va_list ap;
   va_start(ap, fmt);
   vsnprintf(out + used, size - used, fmt, ap);
   va_end(ap);
}

/* Returns the launch that takes longest; NULL when the detail has none. */
static const json_t *slowest_launch(const json_t *detail) {
   const json_t *launch, *slowest = NULL;
   size_t index;
   json_array_foreach(json_object_get(detail, "launches"), index, launch) {
      if (!slowest || json_number_value(json_object_get(launch, "us")) >
                         json_number_value(json_object_get(slowest, "us")))
         slowest = launch;
   }
   return slowest;
}

/* Puts the sentence and the advice of a profiler's detail into words.  Details of another form are shown as
 * JSON, so that a profiler that rkb does not know can reach a prompt too. */
static void describe_detail(const char *detail, char *out, size_t size) {
   json_t *root = json_loads(detail, 0, NULL);
   const json_t *subject = slowest_launch(root);
   if (!subject)
      subject = root;
   const json_t *advice = json_object_get(subject, "advice");
   const char *sentence = json_string_value(json_object_get(subject, "sentence"));
   const char *bottleneck = json_string_value(json_object_get(advice, "bottleneck"));
   const char *first = json_string_value(json_array_get(json_object_get(advice, "moves"), 0));
   const char *second = json_string_value(json_array_get(json_object_get(advice, "moves"), 1));
   out[0] = '\0';
   if (sentence)
      append(out, size, "; limited by %s", sentence);
   const double share = json_number_value(json_object_get(advice, "share"));
   if (bottleneck)
      append(out, size, "; bottleneck: %s", bottleneck);
   if (bottleneck && share > 0)
      append(out, size, ", %.0f %% of the launch's time", 100 * share);
   if (first && second)
      append(out, size, "; what treats it: %s; or %s", first, second);
   if (!sentence && !bottleneck && !json_object_get(root, "documents"))
      append(out, size, "; details: %.*s%s", MOST_RAW, detail, strlen(detail) > MOST_RAW ? " ..." : "");
   json_decref(root);
}

const char *const CONTEXT_PROFILES[] = {"own", "none", "random", NULL};

enum context_profile context_profile_named(const char *name) {
   enum context_profile profile = PROFILE_OWN;
   while (CONTEXT_PROFILES[profile + 1] && strcmp(CONTEXT_PROFILES[profile], name) != 0)
      profile++;
   return profile;
}

static bool is_score(const context_t *context, const rkb_archive_measured_t *row) {
   return context->objective && strcmp(row->name, context->objective) == 0;
}

static const char *describe_measured(context_t *context, const rkb_archive_measured_t *row, bool with_detail) {
   char detail[MOST_SENTENCE] = "";
   if (with_detail && row->detail && row->detail[0])
      describe_detail(row->detail, detail, sizeof detail);
   const bool unit = strcmp(row->unit, "1") != 0;
   return context_format(context, "%s%s%s = %.6g%s%s%s", row->name, row->case_name ? ", case " : "",
                         row->case_name ? row->case_name : "", row->value, unit ? " " : "",
                         unit ? row->unit : "", detail);
}

/* Returns the visible measurements of a candidate; NULL when the program's archive cannot list them, or after
 * an error. */
static rkb_archive_measured_list_t *measured_of(context_t *context, int64_t candidate) {
   const rkb_archive_api_t *archive = context->services->archive;
   rkb_archive_measured_list_t *list = NULL;
   rkb_error_t err = {0};
   if (archive && RKB_HAS(archive, measured_free) &&
       archive->measured(context->host, context->job, candidate, &list, &err) != RKB_OK)
      rkb_warn(context->host, "the measurements of candidate %lld could not be read: %s",
               (long long)candidate, err.message);
   return list;
}

/* Returns "time.us = 14 us; limited by ..." over all cases, with the slowest case's detail. */
static const char *summary_of(context_t *context, int64_t candidate, const char *name) {
   const rkb_archive_api_t *archive = context->services->archive;
   rkb_archive_measured_list_t *list = name && name[0] ? measured_of(context, candidate) : NULL;
   const rkb_archive_measured_t *whole = NULL, *slowest = NULL;
   char detail[MOST_SENTENCE] = "";
   const char *text = "";
   if (!list)
      return "";
   for (uint32_t i = 0; i < archive->measured_count(list); i++) {
      const rkb_archive_measured_t *row = archive->measured_at(list, i);
      if (strcmp(row->name, name) != 0)
         continue;
      if (!row->case_name)
         whole = row;
      else if (!slowest || row->value > slowest->value)
         slowest = row;
   }
   if (slowest && slowest->detail)
      describe_detail(slowest->detail, detail, sizeof detail);
   if (whole)
      text =
         context_format(context, "%s = %.6g%s%s%s", name, whole->value, strcmp(whole->unit, "1") ? " " : "",
                        strcmp(whole->unit, "1") ? whole->unit : "", detail);
   archive->measured_free(list);
   return text;
}

/* Draws another visible kernel that was measured, from the job's own stream; 0 when there is none.  Each call
 * draws anew. */
static int64_t another_measured(context_t *context, int64_t candidate) {
   const rkb_archive_api_t *archive = context->services->archive;
   const rkb_random_api_t *random = context->services->random;
   const uint32_t rows = archive && context->rows ? archive->rows_count(context->rows) : 0;
   uint32_t others = 0;
   int64_t chosen = 0;
   if (!random)
      return 0;
   rkb_random_t stream = random->for_job(context->host, context->job, PROFILE_STREAM + context->drawn++);
   const rkb_archive_row_t *own = context_row(context, candidate);
   for (uint32_t i = 0; i < rows; i++) { /* takes each of them with equal chances, in one pass */
      const rkb_archive_row_t *row = archive->rows_at(context->rows, i);
      const bool other = row->has_objective && (!own || strcmp(row->source_hash, own->source_hash) != 0);
      if (other && random->below(&stream, ++others) == 0)
         chosen = row->number;
   }
   return chosen;
}

/* Adds the lines of a list: scores, or all else.  profiled: with what limits each. */
static const char *add_lines(context_t *context, const char *text, rkb_archive_measured_list_t *list, bool scores,
                             bool others, bool profiled) {
   const rkb_archive_api_t *archive = context->services->archive;
   for (uint32_t i = 0; list && i < archive->measured_count(list); i++) {
      const rkb_archive_measured_t *row = archive->measured_at(list, i);
      if (is_score(context, row) ? scores : others)
         text = context_format(context, "%s%s%s", text, text[0] ? "\n" : "", describe_measured(context, row, profiled));
   }
   return text;
}

/* Returns what limits the slowest case of a score, without the score itself. */
static const char *score_detail(context_t *context, int64_t candidate) {
   const char *summary = summary_of(context, candidate, context->objective);
   const char *detail = strstr(summary, "; ");
   return detail ? detail + 2 : "";
}

/* How many bytes of a document a prompt shows: whole characters of UTF-8. */
static int shown_bytes(const char *text) {
   size_t length = strlen(text);
   if (length > MOST_DOCUMENT)
      for (length = MOST_DOCUMENT; length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80;)
         length--;
   return (int)length;
}

/* Adds the texts that profilers give beside their numbers: {"documents": {"roofline.txt": "..."}} in a
 * measurement's detail.  Each is an entry of its own, under its name, and the first to be left out where
 * there is no room. */
static void add_documents(context_t *context, const char *slot, rkb_archive_measured_list_t *list,
                          const char *label) {
   const rkb_archive_api_t *archive = context->services->archive;
   for (uint32_t i = 0; list && i < archive->measured_count(list); i++) {
      const rkb_archive_measured_t *row = archive->measured_at(list, i);
      json_t *detail =
                row->detail && strstr(row->detail, "\"documents\"") ? json_loads(row->detail, 0, NULL) : NULL,
             *value;
      const char *name;
      json_object_foreach(json_object_get(detail, "documents"), name, value) {
         const char *text = json_string_value(value);
         if (text && name[strcspn(name, "\n\r[]")] == '\0')
            context_add(context, slot,
                        context_format(context, "%.*s%s", shown_bytes(text), text,
                                       strlen(text) > MOST_DOCUMENT ? "\n[cut]" : ""),
                        context_format(context, "%s, %.60s of %s", label, name, row->name), 0, true);
      }
      json_decref(detail);
   }
}

void context_add_measured(context_t *context, const char *slot, int64_t candidate, const char *label) {
   const rkb_archive_api_t *archive = context->services->archive;
   rkb_archive_measured_list_t *list = measured_of(context, candidate), *drawn = NULL;
   const char *text = "";
   if (!list)
      return;
   if (context->profile == PROFILE_OWN) {
      text = add_lines(context, text, list, true, true, true);
   } else {
      text = add_lines(context, text, list, true, false, false);
      const int64_t other = context->profile == PROFILE_RANDOM ? another_measured(context, candidate) : 0;
      if (other) {
         drawn = measured_of(context, other);
         const char *detail = score_detail(context, other);
         text = context_format(context, "%s%s%s", text, detail[0] ? "\n" : "", detail);
         text = add_lines(context, text, drawn, false, true, true);
      }
   }
   context_add(context, slot, text, label, 1, true);
   add_documents(context, slot, context->profile == PROFILE_OWN ? list : drawn, label);
   if (drawn)
      archive->measured_free(drawn);
   archive->measured_free(list);
}

const char *context_summary(context_t *context, int64_t candidate, const char *name) {
   const char *own = summary_of(context, candidate, name);
   const char *detail = strstr(own, "; ");
   if (context->profile == PROFILE_OWN || !detail)
      return own;
   const int64_t other = context->profile == PROFILE_RANDOM ? another_measured(context, candidate) : 0;
   const char *drawn = other ? strstr(summary_of(context, other, name), "; ") : NULL;
   return context_format(context, "%.*s%s", (int)(detail - own), own, drawn ? drawn : "");
}

/* Returns a line like "candidate 17 by edit (vectorise the load): accept, 1.12 times as fast". */
static const char *describe_sibling(context_t *context, const rkb_archive_row_t *row, double parent) {
   const char *note = row->note && row->note[0] ? context_format(context, "%.*s", (int)strcspn(row->note, "\n"), row->note) : "";
   const char *came = "";
   if (strcmp(row->standing, RKB_REJECT) == 0)
      came = context_format(context, "%s: %.200s", row->reason, row->message ? row->message : "");
   else if (row->has_objective && row->objective > 0 && parent > 0)
      came = context_format(context, "%s, objective %.6g, %.2f times as good as its parent", row->standing,
                            row->objective, parent / row->objective);
   else
      came = context_format(context, "%s, no objective", row->standing);
   return context_format(context, "candidate %lld by %s%s%.200s%s, tune %s: %s", (long long)row->number,
                         row->operator_id, note[0] ? " (" : "", note, note[0] ? ")" : "", row->tune, came);
}

void context_add_siblings(context_t *context, const rkb_item_t *parent, uint32_t most) {
   const rkb_archive_api_t *archive = context->services->archive;
   const rkb_host_t *host = context->host;
   rkb_archive_query_t query = {.size = sizeof query, .order = RKB_ARCHIVE_BY_NUMBER, .limit = 4096};
   rkb_archive_rows_t *rows = NULL;
   rkb_error_t err = {0};
   host->item_int(host, parent, "number", &query.parent);
   const rkb_archive_row_t *row = context_row(context, query.parent);
   const double objective = row && row->has_objective ? row->objective : 0;
   /* A program whose archive cannot list measurements does not read query.parent either. */
   if (!archive || !most || !RKB_HAS(archive, measured_free) || !query.parent ||
       archive->query(host, context->job, &query, &rows, &err) != RKB_OK)
      return;
   uint32_t count = archive->rows_count(rows);
   for (uint32_t i = count > most ? count - most : 0; i < count; i++)
      context_add(context, "siblings", describe_sibling(context, archive->rows_at(rows, i), objective), NULL,
                  (int32_t)i, true);
   archive->rows_free(rows);
}
