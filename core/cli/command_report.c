/* rkb report: shows a run on one page, or compares several (cli/report/).  Only the main thread. */
#include <stdio.h>
#include "cli/judge/calibration.h"
#include "cli/commands.h"
#include "cli/report/arm_comparison.h"
#include "cli/report/html/page.h"
#include "cli/report/html/run_page.h"
#include "cli/report/run_report.h"
#include "cli/shared/run_archive.h"
#include "sweep/sweep_plan.h"

/* Adds the data of a report to a page, and writes the page. */
static int write_page(const rkb_arguments_t *arguments, rkb_page_t *page) {
   const char *path = rkb_argument(arguments, "html");
   rkb_error_t err;
   if (rkb_page_write(page, path, &err) != RKB_OK)
      return rkb_say_error(&err);
   if (!rkb_page_has_charts())
      fprintf(
         stderr,
         "%s has no charts: this rkb was built without uPlot; 'npm ci --prefix core/web' gets it for the next build\n",
         path);
   return RKB_EXIT_OK;
}

static int write_run_page(const rkb_arguments_t *arguments, rkb_archive_t *archive, json_t *report) {
   rkb_page_t page;
   rkb_error_t err;
   rkb_page_begin(&page);
   if (rkb_run_page_fill(&page, rkb_positional(arguments, 0), archive, report, &err) != RKB_OK) {
      rkb_page_drop(&page);
      return rkb_say_error(&err);
   }
   return write_page(arguments, &page);
}

static int report_run(const rkb_arguments_t *arguments) {
   rkb_error_t err;
   json_t *report = NULL;
   int code = RKB_EXIT_OK;
   rkb_archive_t *archive = rkb_open_run(rkb_positional(arguments, 0));
   if (!archive)
      return RKB_EXIT_USAGE;
   if (rkb_report_make(archive, &report, &err) != RKB_OK) {
      code = rkb_say_error(&err);
   } else if (rkb_argument_given(arguments, "json")) {
      code = rkb_print_json(report); /* takes ownership */
   } else if (rkb_argument_given(arguments, "html")) {
      code = write_run_page(arguments, archive, report);
      json_decref(report);
   } else {
      rkb_report_print(report);
      json_decref(report);
      if (rkb_calibration_print(archive, &err) != RKB_OK)
         code = rkb_say_error(&err);
   }
   rkb_archive_close(archive);
   return code;
}

static int write_comparison_page(const rkb_arguments_t *arguments, json_t *comparison) {
   rkb_page_t page;
   rkb_page_begin(&page);
   rkb_page_add(&page, json_incref(comparison), "comparison");
   return write_page(arguments, &page);
}

static int report_comparison(const rkb_arguments_t *arguments) {
   rkb_compared_runs_t runs;
   rkb_error_t err;
   json_t *comparison = NULL;
   int code = RKB_EXIT_OK;
   if (rkb_compared_runs_read(arguments->positional, (uint32_t)arguments->count, &runs, &err) != RKB_OK)
      return rkb_say_error(&err);
   if (rkb_comparison_make(&runs, rkb_argument(arguments, "baseline"), &comparison, &err) != RKB_OK)
      code = rkb_say_error(&err);
   else if (rkb_argument_given(arguments, "json"))
      code = rkb_print_json(json_incref(comparison));
   else if (rkb_argument_given(arguments, "html"))
      code = write_comparison_page(arguments, comparison);
   else if (rkb_argument_given(arguments, "csv"))
      rkb_comparison_print_csv(comparison);
   else if (rkb_argument_given(arguments, "latex"))
      rkb_comparison_print_latex(comparison);
   else
      rkb_comparison_print(comparison);
   json_decref(comparison);
   rkb_compared_runs_free(&runs);
   return code;
}

static int run(const rkb_arguments_t *arguments) {
   static const char *const of_comparisons[] = {"csv", "latex", "baseline"};
   if (arguments->count > 1 || rkb_is_sweep(rkb_positional(arguments, 0)))
      return report_comparison(arguments);
   for (size_t i = 0; i < sizeof of_comparisons / sizeof *of_comparisons; i++)
      if (rkb_argument_given(arguments, of_comparisons[i])) {
         fprintf(stderr, "--%s is for comparisons: give a sweep's directory, or several runs\n",
                 of_comparisons[i]);
         return RKB_EXIT_USAGE;
      }
   return report_run(arguments);
}

static const rkb_cli_option_t options[] = {
   {"baseline", "ARM", "The arm that the others are compared with (default: the first).", false},
   {"html", "FILE",
    "Write it as one page that a browser shows, with charts; the file needs no network and no other file.",
    false},
   {"csv", NULL, "Print a comparison as CSV, one row for each number.", false},
   {"latex", NULL, "Print a comparison as LaTeX tables (package booktabs).", false},
   {"json", NULL, "Print it as one JSON object.", false},
   {NULL, NULL, NULL, false},
};

const rkb_command_t rkb_command_report = {
   .name = "report",
   .arguments = "DIR...",
   .summary =
      "Summarise a run: the best kernel and how it was found, what was rejected and why, what each operator gave; or compare runs.",
   .details =
      "With one run, DIR may be a run in progress.  With a sweep or several runs, it compares the arms of the sweep, or the\n"
      "pipelines of the runs: medians and means with 95 % bootstrap intervals, paired tests, and the best value over\n"
      "evaluations, seconds and dollars (docs/sweeps.md).  --html shows either in a browser (docs/report-page.md).\n"
      "Exit: 0, or 2 when there is no such run.\n",
   .options = options,
   .least = 1,
   .most = -1,
   .run = run,
};
