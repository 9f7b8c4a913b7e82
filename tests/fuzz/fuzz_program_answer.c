/* The output of a process stage's program; the first byte chooses the kind of answer.  The result is RKB_OK or a message, and
 * emitted items are of the kind. */
#include <stdlib.h>
#include <string.h>
#include "process_stage/stage_answer.h"
#include "stage/item.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static rkb_item_t *request; /* of the answer that is read */

static void emit(const rkb_host_t *host, rkb_job_t job, rkb_item_t *item) {
   (void)host, (void)job;
   if (!rkb_item_type(item)[0])
      abort();
   rkb_item_unref(item);
}

static rkb_item_t *new_item(const rkb_host_t *host, const char *type) {
   (void)host;
   return rkb_item_new(type);
}

static void unref(const rkb_host_t *host, rkb_item_t *item) {
   (void)host;
   rkb_item_unref(item);
}

static int set_text(const rkb_host_t *host, rkb_item_t *item, const char *key, const char *text) {
   (void)host;
   return rkb_item_set_text(item, key, text);
}

static int set_real(const rkb_host_t *host, rkb_item_t *item, const char *key, double value) {
   (void)host;
   return rkb_item_set_real(item, key, value);
}

static int set_json(const rkb_host_t *host, rkb_item_t *item, const char *key, const char *json) {
   (void)host;
   const int status = rkb_item_set_json(item, key, json);
   if (status == RKB_ERR_INVALID)
      abort(); /* the reader wrote it itself */
   return status;
}

static int add_reference(const rkb_host_t *host, rkb_item_t *item, const char *role, const rkb_item_t *other) {
   (void)host;
   return rkb_item_add_reference(item, role, other);
}

static uint32_t reference_count(const rkb_host_t *host, const rkb_item_t *item, const char *role) {
   (void)host;
   return rkb_item_reference_count(item, role);
}

static const rkb_item_t *reference(const rkb_host_t *host, const rkb_item_t *item, const char *role, uint32_t index) {
   (void)host;
   const rkb_item_t *found = rkb_item_reference(item, role, index);
   if (!found)
      abort();
   return found;
}

static int read_as(uint8_t what, const rkb_host_t *host, const json_t *answer, rkb_error_t *err) {
   static const rkb_operator_t operators[] = {{.id = "tune", .stage = "rkb.mutator.tune", .weight = 1, .kind = RKB_MUTATOR}};
   const rkb_setup_t setup = {.size = sizeof setup, .operators = operators, .operator_count = 1};
   rkb_request_t asked = {.size = sizeof asked};
   int status;
   switch (what & 3) {
   case 0:
      return answer_emit_candidates(host, 1, request, answer, err);
   case 1:
      return answer_emit_verdict(host, 1, answer, err);
   case 2:
      return answer_emit_measurements(host, 1, answer, err);
   default:
      status = answer_read_ask(answer, &setup, &asked, err);
      if (status == RKB_ASK_OK && (asked.operator_index || asked.parent_count > RKB_MAX_PARENTS || !memchr(asked.hints, 0, sizeof asked.hints)))
         abort();
      return status < 0 ? status : RKB_OK;
   }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
   const rkb_host_t host = {.size = sizeof host, .job_emit = emit, .item_new = new_item, .item_unref = unref, .item_set_text = set_text,
                            .item_set_real = set_real, .item_set_json = set_json, .item_add_reference = add_reference,
                            .item_reference_count = reference_count, .item_reference = reference};
   rkb_error_t err = {0};
   json_t *answer = NULL;
   if (!size)
      return 0;
   char *exact = malloc(size); /* reads past the end are found */
   memcpy(exact, data + 1, size - 1);
   rkb_item_t *parent = rkb_item_new(RKB_ITEM_CANDIDATE);
   request = rkb_item_new(RKB_ITEM_REQUEST);
   rkb_item_add_reference(request, "parent", parent);
   rkb_item_unref(parent);
   int status = data[0] & 4 ? answer_check_greeting(exact, size - 1, 1, &err) : answer_parse(exact, size - 1, 7, &answer, &err);
   if (status == RKB_OK && answer)
      status = read_as(data[0], &host, answer, &err);
   if (status != RKB_OK && !err.message[0])
      abort();
   json_decref(answer);
   rkb_item_unref(request);
   free(exact);
   return 0;
}
