/* The data of one run's page, as parts that the page's scripts read:
 *
 *   report       the report of cli/report/run_report.h, with curves {evaluations, seconds, calls, usd: [[spent, best so far], ...]} and totals
 *   candidates   columns over all candidates by number, names as indices into operators, standings and reasons; chunk: how many
 *                candidates a part of details has
 *   details-K    {number: {tune, limiter, source, verdicts, measurements: [[name, case, value, unit, spread], ...]}}
 *   sources      chunks {hash: K}: which part has a source
 *   sources-K    {hash: text}
 *   calls        calls of language models; texts: K, or null when they are left out
 *   calls-K      {id: {prompt, reply}}
 *
 * Sources and conversations have a budget of bytes each.  The best candidate's descent comes first, then the accepted candidates by
 * value, then the others by number; what does not fit is left out, and the page says so.  The main thread alone. */
#ifndef RKB_CLI_REPORT_HTML_RUN_PAGE_H
#define RKB_CLI_REPORT_HTML_RUN_PAGE_H

#include "archive/archive.h"
#include "cli/report/html/page.h"

/* report: the result of rkb_report_make; it gets the curves and is otherwise borrowed. */
int rkb_run_page_fill(rkb_page_t *page, const char *directory, rkb_archive_t *archive, json_t *report,
                      rkb_error_t *err);

#endif
