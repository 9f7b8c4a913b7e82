/* Writes the question for a program (question.h). */
#include "process_stage/question.h"

#include <math.h>
#include <rkb/ext/archive.h>
#include <stdio.h>

static void set_text(json_t *object, const char *key, const char *text) {
   if (text)
      json_object_set_new(object, key, json_string(text)); /* a text that is not UTF-8 is left out */
}

static void set_parsed(json_t *object, const char *key, const char *text) {
   json_t *value = text && text[0] ? json_loads(text, JSON_DECODE_ANY, NULL) : NULL;
   if (value)
      json_object_set_new(object, key, value);
}

static json_int_t number_of(const stage_program_t *program, const rkb_item_t *item) {
   int64_t number = 0;
   program->host->item_int(program->host, item, "number", &number);
   return number;
}

/* Adds name and value of what was measured over all cases, as far as the request may see it. */
static void add_measured(const stage_program_t *program, rkb_job_t job, const rkb_item_t *candidate, json_t *object) {
   const rkb_archive_api_t *archive = program->host->get_extension(program->host, RKB_EXT_ARCHIVE);
   rkb_archive_measured_list_t *list = NULL;
   rkb_error_t ignored;
   if (!archive || !RKB_HAS(archive, measured_free) ||
       archive->measured(program->host, job, number_of(program, candidate), &list, &ignored) != RKB_OK)
      return;
   json_t *measured = json_object();
   for (uint32_t i = 0; i < archive->measured_count(list); i++) {
      const rkb_archive_measured_t *one = archive->measured_at(list, i);
      if (!one->case_name && isfinite(one->value))
         json_object_set_new(measured, one->name, json_real(one->value));
   }
   archive->measured_free(list);
   json_object_set_new(object, "measured", measured);
}

static json_t *candidate_object(const stage_program_t *program, const rkb_item_t *candidate) {
   const rkb_host_t *host = program->host;
   json_t *object = json_object();
   json_object_set_new(object, "number", json_integer(number_of(program, candidate)));
   set_text(object, "source", host->item_text(host, candidate, "source"));
   set_parsed(object, "tune", host->item_json(host, candidate, "tune"));
   set_text(object, "note", host->item_text(host, candidate, "note"));
   set_text(object, "operator", host->item_text(host, candidate, "operator"));
   set_text(object, "standing", host->item_text(host, candidate, "standing"));
   return object;
}

static void add_candidates(const stage_program_t *program, rkb_job_t job, const rkb_item_t *request, const char *role, const char *key,
                           json_t *question) {
   json_t *list = json_array();
   for (uint32_t i = 0; i < program->host->item_reference_count(program->host, request, role); i++) {
      const rkb_item_t *candidate = program->host->item_reference(program->host, request, role, i);
      json_t *object = candidate_object(program, candidate);
      add_measured(program, job, candidate, object);
      json_array_append_new(list, object);
   }
   json_object_set_new(question, key, list);
}

json_t *question_of_request(const stage_program_t *program, rkb_job_t job, const rkb_item_t *request, char *about, size_t about_size) {
   const rkb_host_t *host = program->host;
   const rkb_item_t *parent = host->item_reference(host, request, "parent", 0);
   json_t *question = json_object();
   json_object_set_new(question, "question", json_integer(number_of(program, request)));
   json_object_set_new(question, "seed", json_integer(stage_program_seed(program, job)));
   set_text(question, "section", host->item_text(host, request, "section"));
   set_text(question, "objective", host->item_text(host, request, "objective"));
   set_parsed(question, "hints", host->item_json(host, request, "hints"));
   add_candidates(program, job, request, "parent", "parents", question);
   add_candidates(program, job, request, "inspiration", "inspirations", question);
   about[0] = '\0';
   if (parent)
      snprintf(about, about_size, "parent candidate %lld", (long long)number_of(program, parent));
   return question;
}

json_t *question_of_candidate(const stage_program_t *program, rkb_job_t job, const rkb_item_t *candidate) {
   json_t *question = json_object();
   json_object_set_new(question, "question", json_integer(number_of(program, candidate)));
   json_object_set_new(question, "seed", json_integer(stage_program_seed(program, job)));
   json_object_set_new(question, "candidate", candidate_object(program, candidate));
   return question;
}
