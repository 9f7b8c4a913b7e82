/* figures.tsv: every figure that table.md shows, one line for each thing that was timed, without the samples behind it.  Small and
 * in a fixed order, so that a repository can keep it.  Owns nothing; the main thread alone.
 *
 *     task  direction  case  subject  us  low_us  high_us  more
 *
 * subject is "row" (what was measured, how it is measured again, what follows from the figures), "kernel", "copy", "pytorch"
 * (its version and device) or a PyTorch variant.  more is a JSON object with the subject's other figures. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/json.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "cli/bench/bench.h"

#define COLUMNS "task\tdirection\tcase\tsubject\tus\tlow_us\thigh_us\tmore"
/* A time is rounded here and again in the table.  With this many digits the result equals the time rounded once. */
#define DIGITS 12
enum { FIELDS = 8 };

static const char *const times[] = {"us", "low_us", "high_us"};
enum { TIMES = sizeof times / sizeof *times };
static const char *const keys[] = {"task", "direction", "case"};
enum { KEYS = sizeof keys / sizeof *keys };

/* Writing ------------------------------------------------------------------------------------------------------------------- */

static void write_subject(rkb_text_t *out, const json_t *line, const char *subject, const json_t *figures,
                          const char *const *left_out) {
   if (!figures)
      return;
   json_t *more = json_copy((json_t *)figures);
   for (size_t i = 0; i < KEYS; i++) {
      rkb_text_format(out, "%s\t", json_string_value(json_object_get(line, keys[i])));
      json_object_del(more, keys[i]);
   }
   rkb_text_add(out, subject);
   for (size_t i = 0; i < TIMES; i++) {
      const json_t *value = json_object_get(figures, times[i]);
      if (json_is_number(value))
         rkb_text_format(out, "\t%.*g", DIGITS, json_number_value(value));
      else
         rkb_text_add(out, "\t");
      json_object_del(more, times[i]);
   }
   for (; *left_out; left_out++)
      json_object_del(more, *left_out);
   char *text = json_dumps(more, JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(DIGITS));
   rkb_text_format(out, "\t%s\n", text ? text : "{}");
   free(text);
   json_decref(more);
}

void rkb_bench_figures_write(const json_t *lines, rkb_text_t *out) {
   static const char *const of_row[] = {"ours", "record", NULL}, *const of_kernel[] = {"copy", NULL},
                            *const of_record[] = {"baselines", "parts", NULL}, *const none[] = {NULL};
   size_t i;
   const json_t *line;
   rkb_text_add(out, COLUMNS "\n");
   json_array_foreach(lines, i, line) {
      const json_t *ours = json_object_get(line, "ours"), *record = json_object_get(line, "record");
      write_subject(out, line, "row", line, of_row);
      write_subject(out, line, "kernel", ours, of_kernel);
      write_subject(out, line, "copy", json_object_get(ours, "copy"), none);
      write_subject(out, line, "pytorch", record, of_record);
      for (uint32_t v = 0; v < RKB_BENCH_VARIANTS; v++)
         write_subject(out, line, rkb_bench_variants[v],
                       json_object_get(json_object_get(record, "baselines"), rkb_bench_variants[v]), none);
   }
}

/* Reading ------------------------------------------------------------------------------------------------------------------- */

typedef struct source {
   const char *path;
   uint32_t line;
   rkb_error_t *err;
} source_t;

static json_t *child(json_t *object, const char *name) {
   json_t *found = json_object_get(object, name);
   if (!found) {
      found = json_object();
      json_object_set_new(object, name, found);
   }
   return found;
}

/* The object in the line of its case that holds the subject's figures; NULL when there is no such subject. */
static json_t *place_of(json_t *line, const char *subject) {
   if (strcmp(subject, "row") == 0)
      return line;
   if (strcmp(subject, "kernel") == 0)
      return child(line, "ours");
   if (strcmp(subject, "copy") == 0)
      return child(child(line, "ours"), "copy");
   if (strcmp(subject, "pytorch") == 0)
      return child(line, "record");
   for (uint32_t v = 0; v < RKB_BENCH_VARIANTS; v++)
      if (strcmp(subject, rkb_bench_variants[v]) == 0)
         return child(child(child(line, "record"), "baselines"), subject);
   return NULL;
}

/* The last line if it has the same task, direction and case; otherwise a new line. */
static json_t *line_for(json_t *lines, char *const *fields) {
   const size_t count = json_array_size(lines);
   json_t *line = count ? json_array_get(lines, count - 1) : NULL;
   for (size_t i = 0; line && i < KEYS; i++)
      if (strcmp(json_string_value(json_object_get(line, keys[i])), fields[i]) != 0)
         line = NULL;
   if (line)
      return line;
   line = json_object();
   for (size_t i = 0; i < KEYS; i++)
      json_object_set_new(line, keys[i], json_string(fields[i]));
   json_array_append_new(lines, line);
   return line;
}

static int read_time(const source_t *in, const char *name, const char *text, json_t *place) {
   char *end = NULL;
   const double value = strtod(text, &end);
   if (!*text)
      return RKB_OK;
   if (*end || !isfinite(value))
      return rkb_fail(in->err, RKB_ERR_INVALID, "%s:%u: %s is a number, not '%.40s'", in->path, in->line,
                      name, text);
   json_object_set_new(place, name, json_real(value));
   return RKB_OK;
}

static int read_more(const source_t *in, const char *text, json_t *place) {
   rkb_error_t why;
   json_t *more = rkb_json_parse(text, strlen(text), &why);
   int status = RKB_OK;
   if (!json_is_object(more))
      status = rkb_fail(in->err, RKB_ERR_INVALID, "%s:%u: the last field is not a JSON object%s%s", in->path,
                        in->line, more ? "" : ": ", more ? "" : why.message);
   else
      json_object_update_missing(place, more);
   json_decref(more);
   return status;
}

/* Reads a line.  text has no end of line; it is cut at its tabs. */
static int read_line(const source_t *in, char *text, json_t *lines) {
   char *fields[FIELDS];
   uint32_t count = 0;
   for (char *at = text; at; count++) {
      char *tab = strchr(at, '\t');
      if (tab)
         *tab = '\0';
      if (count < FIELDS)
         fields[count] = at;
      at = tab ? tab + 1 : NULL;
   }
   if (count != FIELDS)
      return rkb_fail(in->err, RKB_ERR_INVALID, "%s:%u: %u fields between tabs, not %d", in->path, in->line,
                      count, FIELDS);
   json_t *place = place_of(line_for(lines, fields), fields[KEYS]);
   if (!place)
      return rkb_fail(in->err, RKB_ERR_INVALID,
                      "%s:%u: '%.40s' is not a subject; they are row, kernel, copy, pytorch and its variants",
                      in->path, in->line, fields[KEYS]);
   int status = RKB_OK;
   for (uint32_t i = 0; i < TIMES && status == RKB_OK; i++)
      status = read_time(in, times[i], fields[KEYS + 1 + i], place);
   return status == RKB_OK ? read_more(in, fields[FIELDS - 1], place) : status;
}

/* The line of the first invalid UTF-8 byte, which JSON cannot hold; 0 when there is none. */
static uint32_t line_of_bad_byte(const char *text) {
   uint32_t line = 1;
   size_t left = strlen(text);
   for (size_t length; left; text += length, left -= length) {
      length = rkb_utf8_character(text, left);
      if (!length)
         return line;
      line += *text == '\n';
   }
   return 0;
}

int rkb_bench_figures_read(const char *path, const char *text, json_t **lines, rkb_error_t *err) {
   const uint32_t bad = line_of_bad_byte(text);
   *lines = NULL;
   if (bad)
      return rkb_fail(err, RKB_ERR_INVALID, "%s:%u: there is a byte that is no UTF-8", path, bad);
   source_t in = {.path = path, .err = err};
   char *copy = rkb_duplicate(text);
   int status = RKB_OK;
   *lines = json_array();
   for (char *at = copy; status == RKB_OK && at && (*at || !in.line);) {
      char *end = strchr(at, '\n');
      if (end)
         *end = '\0';
      if (++in.line > 1)
         status = read_line(&in, at, *lines);
      else if (strcmp(at, COLUMNS) != 0)
         status = rkb_fail(err, RKB_ERR_INVALID, "%s:1: this is not a file of figures: its first line is '%s'", path,
                           "task<tab>direction<tab>case<tab>subject<tab>us<tab>low_us<tab>high_us<tab>more");
      at = end ? end + 1 : NULL;
   }
   free(copy);
   if (status != RKB_OK) {
      json_decref(*lines);
      *lines = NULL;
   }
   return status;
}

const char *const rkb_bench_variants[RKB_BENCH_VARIANTS] = {
   "eager", "eager_graph", "compile", "compile_graph", "max_autotune", "max_autotune_graph"};
