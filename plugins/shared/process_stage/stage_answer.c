/* Reads a program's answer (stage_answer.h). */
#include "process_stage/stage_answer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CANDIDATES = 64, MOST_MEASUREMENTS = 256, MOST_PARENTS = 16 };

/* jansson refuses nesting deeper than 2048, and texts that are not UTF-8. */
static json_t *parse(const char *line, size_t bytes, rkb_error_t *err) {
   json_error_t fault;
   json_t *object = json_loadb(line, bytes, JSON_REJECT_DUPLICATES, &fault);
   if (!object)
      rkb_fail(err, RKB_ERR_CONTRACT, "its answer is no JSON: %.200s", fault.text);
   else if (!json_is_object(object))
      rkb_fail(err, RKB_ERR_CONTRACT, "its answer is no JSON object");
   if (object && !json_is_object(object)) {
      json_decref(object);
      object = NULL;
   }
   return object;
}

int answer_check_greeting(const char *line, size_t bytes, int protocol, rkb_error_t *err) {
   json_t *object = parse(line, bytes, err);
   if (!object)
      return RKB_ERR_CONTRACT;
   const json_t *spoken = json_object_get(object, "rkb_stage");
   int status = RKB_OK;
   if (!json_is_integer(spoken))
      status = rkb_fail(err, RKB_ERR_CONTRACT, "its greeting has no number 'rkb_stage'");
   else if (json_integer_value(spoken) != protocol)
      status = rkb_fail(err, RKB_ERR_CONTRACT, "it speaks version %lld of the protocol; this program speaks version %d",
                        (long long)json_integer_value(spoken), protocol);
   json_decref(object);
   return status;
}

int answer_parse(const char *line, size_t bytes, json_int_t number, json_t **answer, rkb_error_t *err) {
   json_t *object = parse(line, bytes, err);
   int status = RKB_OK;
   if (!object)
      return RKB_ERR_CONTRACT;
   const json_t *given = json_object_get(object, "question");
   const char *error = json_string_value(json_object_get(object, "error"));
   if (!json_is_integer(given) || json_integer_value(given) != number)
      status = rkb_fail(err, RKB_ERR_CONTRACT, "it answered another question than number %lld", (long long)number);
   else if (error)
      status = rkb_fail(err, RKB_ERR_INTERNAL, "the program said: %.300s", error);
   if (status == RKB_OK)
      *answer = object;
   else
      json_decref(object);
   return status;
}

/* Returns a text of the object, or fallback when it has none; NULL, with err, when it is no text or holds a
 * NUL. */
static const char *text_of(const json_t *object, const char *key, const char *fallback, rkb_error_t *err) {
   const json_t *value = json_object_get(object, key);
   if (!value || json_is_null(value)) {
      if (!fallback)
         rkb_fail(err, RKB_ERR_CONTRACT, "its answer has no '%s'", key);
      return fallback;
   }
   if (!json_is_string(value) || strlen(json_string_value(value)) != json_string_length(value)) {
      rkb_fail(err, RKB_ERR_CONTRACT, "'%s' in its answer is no text", key);
      return NULL;
   }
   return json_string_value(value);
}

/* Copies an object's text; *text is NULL when it has none.  False: it is no text, and err says so. */
static bool object_text(const json_t *object, const char *key, char **text, rkb_error_t *err) {
   const json_t *value = json_object_get(object, key);
   *text = NULL;
   if (!value || json_is_null(value))
      return true;
   if (!json_is_object(value)) {
      rkb_fail(err, RKB_ERR_CONTRACT, "'%s' in its answer is no object", key);
      return false;
   }
   *text = json_dumps(value, JSON_COMPACT | JSON_SORT_KEYS);
   if (!*text)
      rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   return *text != NULL;
}

/* "parents" are places in the request's list; without it, all in the list are parents. */
static int read_parents(const rkb_host_t *host, const rkb_item_t *request, const json_t *given, const rkb_item_t **parents, uint32_t *count,
                        rkb_error_t *err) {
   const uint32_t offered = host->item_reference_count(host, request, "parent");
   const json_t *list = json_object_get(given, "parents");
   *count = 0;
   if (!list) {
      for (; *count < offered && *count < MOST_PARENTS; ++*count)
         parents[*count] = host->item_reference(host, request, "parent", *count);
      return RKB_OK;
   }
   if (!json_is_array(list) || json_array_size(list) > MOST_PARENTS)
      return rkb_fail(err, RKB_ERR_CONTRACT, "'parents' of a candidate is no list of at most %d places", MOST_PARENTS);
   for (size_t i = 0; i < json_array_size(list); i++) {
      const json_t *place = json_array_get(list, i);
      if (!json_is_integer(place) || json_integer_value(place) < 0 || json_integer_value(place) >= offered)
         return rkb_fail(err, RKB_ERR_CONTRACT, "'parents' of a candidate names a place that the request's list does not have");
      parents[(*count)++] = host->item_reference(host, request, "parent", (uint32_t)json_integer_value(place));
   }
   return RKB_OK;
}

static int emit_candidate(const rkb_host_t *host, rkb_job_t job, const rkb_item_t *request, const json_t *given, rkb_error_t *err) {
   const rkb_item_t *parents[MOST_PARENTS];
   uint32_t count;
   char *tune;
   if (!json_is_object(given))
      return rkb_fail(err, RKB_ERR_CONTRACT, "'candidates' holds something else than objects");
   const char *source = text_of(given, "source", NULL, err), *note = text_of(given, "note", "", err);
   if (!source || !note || !object_text(given, "tune", &tune, err))
      return err->status;
   int status = read_parents(host, request, given, parents, &count, err);
   if (status == RKB_OK) {
      status = rkb_emit_candidate(host, job, source, tune, note, parents, count);
      if (status != RKB_OK)
         rkb_fail(err, status, "the candidate could not be taken: its source or its tune assignment is too large");
   }
   free(tune);
   return status;
}

int answer_emit_candidates(const rkb_host_t *host, rkb_job_t job, const rkb_item_t *request, const json_t *answer, rkb_error_t *err) {
   const json_t *list = json_object_get(answer, "candidates");
   int status = RKB_OK;
   if (!json_is_array(list) || json_array_size(list) > MOST_CANDIDATES)
      return rkb_fail(err, RKB_ERR_CONTRACT, "its answer has no list 'candidates' of at most %d", MOST_CANDIDATES);
   for (size_t i = 0; i < json_array_size(list) && status == RKB_OK; i++)
      status = emit_candidate(host, job, request, json_array_get(list, i), err);
   return status;
}

static bool is_standing(const char *text) {
   static const char *const standings[] = {RKB_ACCEPT, RKB_SUSPECT, RKB_REJECT, RKB_UNKNOWN};
   for (size_t i = 0; i < sizeof standings / sizeof *standings; i++)
      if (strcmp(standings[i], text) == 0)
         return true;
   return false;
}

int answer_emit_verdict(const rkb_host_t *host, rkb_job_t job, const json_t *answer, rkb_error_t *err) {
   const char *standing = text_of(answer, "standing", NULL, err), *reason = text_of(answer, "reason", "", err),
              *message = text_of(answer, "message", "", err);
   char *evidence;
   if (!standing || !reason || !message)
      return err->status;
   if (!is_standing(standing))
      return rkb_fail(err, RKB_ERR_CONTRACT, "its 'standing' is '%.40s'; write accept, suspect, reject or unknown", standing);
   if (!object_text(answer, "evidence", &evidence, err))
      return err->status;
   const int status = rkb_emit_verdict_full(host, job, standing, reason, message, evidence, NULL);
   free(evidence);
   return status == RKB_OK ? RKB_OK : rkb_fail(err, status, "the verdict could not be taken: its evidence is too large");
}

static int emit_measurement(const rkb_host_t *host, rkb_job_t job, const json_t *given, rkb_error_t *err) {
   const json_t *value = json_object_get(given, "value"), *spread = json_object_get(given, "spread");
   char *detail;
   if (!json_is_number(value) || (spread && !json_is_number(spread)))
      return rkb_fail(err, RKB_ERR_CONTRACT, "a measurement needs a number 'value', and 'spread' is a number too");
   rkb_measurement_t measurement = {.name = "value",
                                    .unit = text_of(given, "unit", "1", err),
                                    .better = text_of(given, "better", "lower", err),
                                    .method = text_of(given, "method", "program", err),
                                    .value = json_number_value(value),
                                    .spread = spread ? json_number_value(spread) : -1};
   if (!measurement.unit || !measurement.better || !measurement.method)
      return err->status;
   const json_t *of_case = json_object_get(given, "case");
   measurement.case_name = of_case ? text_of(given, "case", NULL, err) : NULL;
   if ((of_case && !measurement.case_name) || !object_text(given, "detail", &detail, err))
      return err->status;
   measurement.detail = detail;
   const int status = rkb_emit_measurement(host, job, &measurement);
   free(detail);
   return status == RKB_OK ? RKB_OK : rkb_fail(err, status, "the measurement could not be taken: its detail is too large");
}

int answer_emit_measurements(const rkb_host_t *host, rkb_job_t job, const json_t *answer, rkb_error_t *err) {
   const json_t *list = json_object_get(answer, "measurements");
   int status = RKB_OK;
   if (!list)
      return emit_measurement(host, job, answer, err);
   if (!json_is_array(list) || json_array_size(list) > MOST_MEASUREMENTS)
      return rkb_fail(err, RKB_ERR_CONTRACT, "'measurements' is no list of at most %d", MOST_MEASUREMENTS);
   for (size_t i = 0; i < json_array_size(list) && status == RKB_OK; i++)
      status = emit_measurement(host, job, json_array_get(list, i), err);
   return status;
}
