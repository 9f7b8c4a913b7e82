/* What was measured of a kernel, and what other changes to it gave, as a prompt shows them (context.h). */
#include <jansson.h>
#include <math.h>
#include <string.h>
#include "context.h"

#define MOST_SENTENCE 1024 /* bytes of one measurement's detail in words */
#define MOST_RAW 400       /* bytes of a detail that is not in a form known here */
#define MOST_SIBLINGS 12

/* Adds text at the end of out, cut at its size. */
static void append(char *out, size_t size, const char *fmt, ...) RKB_PRINTF(3, 4);
static void append(char *out, size_t size, const char *fmt, ...) {
   size_t used = strlen(out);
   va_list ap;
   va_start(ap, fmt);
   vsnprintf(out + used, size - used, fmt, ap);
   va_end(ap);
}

/* The launch that takes longest; NULL when the detail has none. */
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

/* What a profiler's detail says: its sentence and its advice.  Other details are shown as the JSON they are: a profiler that
 * nobody here knows must reach a prompt too. */
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
   if (!sentence && !bottleneck)
      append(out, size, "; details: %.*s%s", MOST_RAW, detail, strlen(detail) > MOST_RAW ? " ..." : "");
   json_decref(root);
}

static const char *describe_measured(context_t *context, const rkb_archive_measured_t *row) {
   char detail[MOST_SENTENCE] = "";
   if (row->detail && row->detail[0])
      describe_detail(row->detail, detail, sizeof detail);
   const bool unit = strcmp(row->unit, "1") != 0;
   return context_format(context, "%s%s%s = %.6g%s%s%s", row->name, row->case_name ? ", case " : "",
                         row->case_name ? row->case_name : "", row->value, unit ? " " : "",
                         unit ? row->unit : "", detail);
}

/* The visible measurements of a candidate; NULL when the program's archive cannot list them, or there was an error. */
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

void context_add_measured(context_t *context, const char *slot, int64_t candidate, const char *label) {
   const rkb_archive_api_t *archive = context->services->archive;
   rkb_archive_measured_list_t *list = measured_of(context, candidate);
   const char *text = "";
   if (!list)
      return;
   for (uint32_t i = 0; i < archive->measured_count(list); i++) {
      const char *line = describe_measured(context, archive->measured_at(list, i));
      text = context_format(context, "%s%s%s", text, text[0] ? "\n" : "", line);
   }
   archive->measured_free(list);
   context_add(context, slot, text, label, 1, true);
}

const char *context_summary(context_t *context, int64_t candidate, const char *name) {
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
      text = context_format(context, "%s = %.6g %s%s", name, whole->value, whole->unit, detail);
   archive->measured_free(list);
   return text;
}

/* "candidate 17 by edit (vectorise the load): accept, 1.12 times as fast" */
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

void context_add_siblings(context_t *context, const rkb_item_t *parent) {
   const rkb_archive_api_t *archive = context->services->archive;
   const rkb_host_t *host = context->host;
   rkb_archive_query_t query = {.size = sizeof query, .order = RKB_ARCHIVE_BY_NUMBER, .limit = 4096};
   rkb_archive_rows_t *rows = NULL;
   rkb_error_t err = {0};
   host->item_int(host, parent, "number", &query.parent);
   const rkb_archive_row_t *row = context_row(context, query.parent);
   const double objective = row && row->has_objective ? row->objective : 0;
   /* A program whose archive has no list of measurements does not read query.parent either. */
   if (!archive || !RKB_HAS(archive, measured_free) || !query.parent ||
       archive->query(host, context->job, &query, &rows, &err) != RKB_OK)
      return;
   uint32_t count = archive->rows_count(rows);
   for (uint32_t i = count > MOST_SIBLINGS ? count - MOST_SIBLINGS : 0; i < count; i++)
      context_add(context, "siblings", describe_sibling(context, archive->rows_at(rows, i), objective), NULL,
                  (int32_t)i, true);
   archive->rows_free(rows);
}
