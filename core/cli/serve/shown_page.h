/* The pages of `rkb serve` as texts.  The main thread alone. */
#ifndef RKB_CLI_SERVE_SHOWN_PAGE_H
#define RKB_CLI_SERVE_SHOWN_PAGE_H

#include "base/text.h"
#include "cli/serve/shown_runs.h"

/* The list of runs, as HTML.  The caller frees the text. */
void shown_list(const shown_runs_t *runs, rkb_text_t *text);
/* The report of a run, or the comparison of a sweep, as `rkb report --html` writes it; the page updates
 * itself while the run goes on.  On RKB_OK the caller frees the text. */
int shown_page(const shown_run_t *run, rkb_text_t *text, rkb_error_t *err);

#endif
