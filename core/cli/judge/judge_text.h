/* The figures of judge_tally.h as a page of text.  The main thread alone. */
#ifndef RKB_CLI_JUDGE_JUDGE_TEXT_H
#define RKB_CLI_JUDGE_JUDGE_TEXT_H

#include <jansson.h>

/* Prints the object that rkb_judge_tally_json made to standard output. */
void rkb_judge_text_print(const json_t *figures);
/* A single table of counts ("all", "tuned" or "kept" of a judge): its heading, and a line.  When nothing was
 * counted, no line is printed. */
void rkb_judge_text_heading(const char *first);
void rkb_judge_text_counts(const char *name, const char *part, const json_t *counts);

#endif
