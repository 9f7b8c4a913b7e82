/* Starts the parser process for one question about one text.  Blocks for about 50 ms; any thread but the loop's. */
#ifndef RKB_LIFT_PARSER_CALL_H
#define RKB_LIFT_PARSER_CALL_H

#include "kernel/manifest.h"
#include "system/process.h"

extern const char lift_declarations[]; /* the text of parser/declarations.cuh */

typedef struct lift_answer {
   const char *data; /* payload of the result's frame; NULL: the text is refused */
   uint64_t bytes;
   rkb_process_result_t *result; /* owned */
} lift_answer_t;

/* question: enum lift_question.  RKB_OK without data: refusal (size bytes) says why.  RKB_ERR_UNAVAILABLE:
 * this machine has no parser, and err says what to install.  cancelled may be NULL.  Whatever it returns,
 * call lift_answer_free. */
int lift_ask_parser(uint32_t question, const char *text, const manifest_t *manifest, bool (*cancelled)(void *argument), void *argument,
                    lift_answer_t *answer, char *refusal, size_t size, rkb_error_t *err);
void lift_answer_free(lift_answer_t *answer);

/* The parser's path, malloc'd, or NULL when it was not built. */
char *lift_parser_path(void);

#endif
