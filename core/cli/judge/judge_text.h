/* The figures of judge_tally.h as a page of text.  The main thread alone. */
#ifndef RKB_CLI_JUDGE_JUDGE_TEXT_H
#define RKB_CLI_JUDGE_JUDGE_TEXT_H

#include <jansson.h>

/* Prints what rkb_judge_tally_json made to standard output. */
void rkb_judge_text_print(const json_t *figures);

#endif
