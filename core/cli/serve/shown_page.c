/* The pages of `rkb serve` as texts (shown_page.h). */
#include "cli/serve/shown_page.h"

#include <jansson.h>
#include <string.h>
#include <time.h>
#include "archive/archive.h"
#include "cli/report/arm_comparison.h"
#include "cli/report/html/page.h"
#include "cli/report/html/run_page.h"
#include "cli/report/run_report.h"

#define MOST_LIST ((size_t)4 << 20)

/* Escapes a folder's name, which may hold any byte: as text of HTML, and as part of an address. */
static void add_escaped(rkb_text_t *text, const char *name) {
   for (; *name; name++)
      if (strchr("<>&\"'", *name))
         rkb_text_format(text, "&#%d;", *name);
      else
         rkb_text_append(text, name, 1);
}

static void add_encoded(rkb_text_t *text, const char *name) {
   static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.";
   for (; *name; name++)
      if (strchr(plain, *name))
         rkb_text_append(text, name, 1);
      else
         rkb_text_format(text, "%%%02X", (unsigned char)*name);
}

void shown_list(const shown_runs_t *runs, rkb_text_t *text) {
   rkb_text_init(text, MOST_LIST);
   rkb_text_add(text, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>rkb: runs</title>\n"
                      "<style>:root { color-scheme: light dark; } body { font: 16px sans-serif; margin: 2em auto; max-width: 60em; padding: 0 1em; }\n"
                      "table { border-collapse: collapse; } td, th { text-align: left; padding: 0.3em 1.5em 0.3em 0; }</style></head>\n"
                      "<body><h1>Runs</h1>\n");
   if (!runs->count)
      rkb_text_add(text, "<p>There is no run in this folder yet.</p>\n");
   else
      rkb_text_add(text, "<table><thead><tr><th>name</th><th>what</th><th>last change (UTC)</th></tr></thead><tbody>\n");
   for (uint32_t i = 0; i < runs->count; i++) {
      const time_t changed = (time_t)runs->list[i].changed_s;
      char when[64] = "";
      struct tm parts;
      if (gmtime_r(&changed, &parts))
         strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", &parts);
      rkb_text_add(text, "<tr><td><a href=\"run/");
      add_encoded(text, runs->list[i].name);
      rkb_text_add(text, "/\">");
      add_escaped(text, runs->list[i].name);
      rkb_text_format(text, "</a></td><td>%s</td><td>%s</td></tr>\n", runs->list[i].sweep ? "sweep" : "run", when);
   }
   if (runs->count)
      rkb_text_add(text, "</tbody></table>\n");
   if (runs->cut)
      rkb_text_format(text, "<p>Only %d are shown.</p>\n", SHOWN_MOST_RUNS);
   rkb_text_add(text, "</body></html>\n");
}

static int fill_run(rkb_page_t *page, const char *directory, rkb_error_t *err) {
   rkb_archive_t *archive = NULL;
   json_t *report = NULL;
   int status = rkb_archive_open(directory, &archive, err);
   if (status == RKB_OK)
      status = rkb_report_make(archive, &report, err);
   if (status == RKB_OK)
      status = rkb_run_page_fill(page, directory, archive, report, err);
   json_decref(report);
   rkb_archive_close(archive);
   return status;
}

static int fill_sweep(rkb_page_t *page, char *directory, rkb_error_t *err) {
   rkb_compared_runs_t runs;
   json_t *comparison = NULL;
   int status = rkb_compared_runs_read(&directory, 1, &runs, err);
   if (status != RKB_OK)
      return status;
   status = rkb_comparison_make(&runs, NULL, &comparison, err);
   if (status == RKB_OK)
      rkb_page_add(page, comparison, "comparison"); /* takes ownership */
   rkb_compared_runs_free(&runs);
   return status;
}

int shown_page(const shown_run_t *run, rkb_text_t *text, rkb_error_t *err) {
   rkb_page_t page;
   rkb_page_begin(&page);
   const int status = run->sweep ? fill_sweep(&page, run->directory, err) : fill_run(&page, run->directory, err);
   if (status != RKB_OK) {
      rkb_page_drop(&page);
      return status;
   }
   rkb_page_add(&page, json_pack("{s:s}", "stamp", run->stamp), "live");
   return rkb_page_text(&page, text, err);
}
