/* A run summed up: one JSON document, which `rkb report --json` prints and the text is made from, so that both say the same.
 *
 *   run          facts: pipeline, task, direction, target, objective, unit, seed, ended, ended_because
 *   counts       requests, candidates, duplicates, accept, suspect, unknown, reject, none (not finished), promoted
 *   cost         calls of language models and dollars, of them those by our own count; absent when there were none
 *   elapsed      seconds of the run, over all its processes; absent in a run of an older program
 *   stages       in the pipeline's order: entered, accept, suspect, unknown, reject, reasons {name: count}, verdicts (true:
 *                it gives some), seconds {total, mean, longest, jobs}
 *   search       id and seconds of the strategy; empty without one
 *   duplicates   {before_build, after_build, originals: [{number, copies}]}
 *   operators    requests, failed, made, duplicates, reject, accept, bettered_parent, new_best, best_gain, seconds
 *   progress     each accepted candidate that was the best when it came: number, value, gain, operator, note
 *   best         number, value, first, gain, limiter; null when there is none
 *   lineage      from a first candidate to the best: number, operator, note, value, gain over its parent, limiter, partner
 *
 * A gain is (value before) / (value after); of progress and best, over first: the best first candidate.  Counts of candidates leave duplicates out.  The main thread alone. */
#ifndef RKB_CLI_REPORT_RUN_REPORT_H
#define RKB_CLI_REPORT_RUN_REPORT_H

#include <jansson.h>
#include "archive/archive.h"

/* *report is owned by the caller. */
int rkb_report_make(rkb_archive_t *archive, json_t **report, rkb_error_t *err);
/* Prints the report for people on standard output. */
void rkb_report_print(const json_t *report);

/* Parts of the report, each made by one pass over the archive. */
json_t *rkb_report_lineage(rkb_archive_t *archive, int64_t best, const char *objective, rkb_error_t *err);

#endif
