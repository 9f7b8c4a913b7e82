/* Reads a program's answer as hostile text: parses it with limits and checks every value before it makes an item
 * (docs/process-stages.md).  Owns nothing; its only effect is the items that it emits. */
#ifndef PROCESS_STAGE_STAGE_ANSWER_H
#define PROCESS_STAGE_STAGE_ANSWER_H

#include <jansson.h>
#include <rkb/items.h>
#include <rkb/strategy.h>

/* RKB_OK when the line is a greeting with this protocol. */
int answer_check_greeting(const char *line, size_t bytes, int protocol, rkb_error_t *err);
/* Returns the object of a line that answers question number.  An answer with "error" becomes RKB_ERR_INTERNAL
 * with its text. */
int answer_parse(const char *line, size_t bytes, json_int_t number, json_t **answer, rkb_error_t *err);

/* Emit the items that the answer holds. */
int answer_emit_candidates(const rkb_host_t *host, rkb_job_t job, const rkb_item_t *request, const json_t *answer, rkb_error_t *err);
int answer_emit_verdict(const rkb_host_t *host, rkb_job_t job, const json_t *answer, rkb_error_t *err);
int answer_emit_measurements(const rkb_host_t *host, rkb_job_t job, const json_t *answer, rkb_error_t *err);

/* answer_strategy.c: reads the answer to an ask; returns enum rkb_ask or a negative status. */
int answer_read_ask(const json_t *answer, const rkb_setup_t *setup, rkb_request_t *out, rkb_error_t *err);

#endif
