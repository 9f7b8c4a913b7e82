/* rkb.verifier.llm - asks language models what they think of a kernel: will it compile, does it use memory rightly, are its
 * numbers right.  One entry is one of these judges; its models vote.  It executes nothing.  Its verdict is an opinion, and counts only
 * where no stage found more (only: [unknown]).
 *
 * Owns nothing between jobs; runs on threads that only wait. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include "asking/model_choice.h"
#include "vote.h"

#define MOST_VOTES 32

static const char *const JUDGES[] = {"compile", "memory", "numbers", NULL};
static const char *const WRONG[] = {"judge.compile", "judge.memory", "judge.numbers"};

typedef struct verifier_config {
   const char *judge, *vote;
   rkb_prompt_t compile, memory, numbers;
   rkb_table_list_t models;
   int64_t votes;
   double least_confidence;
} verifier_config_t;

typedef struct verifier {
   const rkb_host_t *host;
   const verifier_config_t *config;
   const rkb_llm_api_t *llm;
   context_services_t services;
   uint32_t judge;
} verifier_t;

static int verifier_create(const rkb_host_t *host, const void *config, void **self, rkb_error_t *err) {
   verifier_t *me = calloc(1, sizeof *me);
   if (!me)
      return rkb_fail(err, RKB_ERR_NOMEM, "cannot allocate %zu bytes", sizeof *me);
   me->host = host;
   me->config = config;
   me->llm = host->get_extension(host, RKB_EXT_LLM);
   context_services_find(host, &me->services);
   while (strcmp(JUDGES[me->judge], me->config->judge) != 0)
      me->judge++;
   int status = RKB_OK;
   uint64_t votes = me->config->models.count * (uint64_t)me->config->votes;
   if (!votes || votes > MOST_VOTES)
      status = rkb_fail_option(err, "models", "name 1 to %d models, votes counted", MOST_VOTES);
   if (status == RKB_OK)
      *self = me;
   else
      free(me);
   return status;
}

/* The cost of all answers, as evidence: a calibration compares it with their value. */
typedef struct hearing {
   vote_t votes[MOST_VOTES];
   const char *models[MOST_VOTES];
   uint32_t count;
   uint32_t unheard; /* no reply, or none that is an answer */
   double worth_usd;
   bool over_budget;
   char trouble[300]; /* of the last that could not be asked */
} hearing_t;

static int hear(const verifier_t *me, context_t *context, const choice_model_t *model, uint32_t child,
                hearing_t *hearing, rkb_error_t *err) {
   const rkb_prompt_t *const prompts[] = {&me->config->compile, &me->config->memory, &me->config->numbers};
   rkb_llm_answer_t *answer = NULL;
   int status = choice_ask(context, me->llm, prompts[me->judge], child, model, &answer, err);
   if (status == RKB_OK && answer->outcome == RKB_LLM_CANCELLED) {
      status = rkb_fail(err, RKB_ERR_CANCELLED, "%s", answer->message);
   } else if (status == RKB_OK) {
      vote_t *vote = &hearing->votes[hearing->count];
      hearing->worth_usd += answer->worth_usd;
      hearing->over_budget |= answer->outcome == RKB_LLM_OVER_BUDGET;
      vote->weight = model->weight;
      if (answer->outcome != RKB_LLM_ANSWERED || !vote_read(answer->text, answer->text_bytes, vote)) {
         hearing->unheard++;
         snprintf(hearing->trouble, sizeof hearing->trouble, "model %.60s: %.200s", model->model,
                  answer->outcome == RKB_LLM_ANSWERED ? "its reply is not a verdict" : answer->message);
         *vote = (vote_t){.weight = 0};
      }
      hearing->models[hearing->count++] = model->model;
   }
   me->llm->free(answer);
   return status;
}

static char *evidence_of(const verifier_t *me, const hearing_t *hearing, const vote_result_t *result,
                         const char *source) {
   const vote_t *speaker = &hearing->votes[result->speaker];
   static const char *const names[] = {"unsure", "right", "wrong"};
   json_t *votes = json_array();
   for (uint32_t i = 0; i < hearing->count; i++)
      json_array_append_new(votes, json_pack("{s:s, s:s, s:f, s:s}", "model", hearing->models[i], "verdict",
                                             names[hearing->votes[i].verdict], "confidence",
                                             hearing->votes[i].confidence, "why", hearing->votes[i].why));
   json_t *root =
      json_pack("{s:s, s:f, s:f, s:f, s:o}", "judge", JUDGES[me->judge], "confidence", result->confidence,
                "share", result->share, "cost_usd", hearing->worth_usd, "votes", votes);
   if (root && result->verdict != VOTE_ABSTAINS && speaker->line[0]) {
      json_object_set_new(root, "quoted", json_string(speaker->line));
      json_object_set_new(root, "line", json_integer(vote_line(source, speaker->line)));
   }
   char *text = root ? json_dumps(root, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
   json_decref(root);
   return text;
}

static int give_verdict(const verifier_t *me, rkb_job_t job, const hearing_t *hearing, const char *source,
                        rkb_error_t *err) {
   vote_result_t result = vote_count(hearing->votes, hearing->count,
                                     strcmp(me->config->vote, "weighted") == 0, me->config->least_confidence);
   const vote_t *speaker = &hearing->votes[result.speaker];
   char *evidence = evidence_of(me, hearing, &result, source), message[420];
   const char *standing = RKB_UNKNOWN, *reason = "judge.abstained";
   if (!evidence)
      return rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   if (result.verdict == VOTE_RIGHT) {
      standing = RKB_ACCEPT;
      reason = "";
      snprintf(message, sizeof message, "%u of %u say it is right", result.right, hearing->count);
   } else if (result.verdict == VOTE_WRONG) {
      standing = RKB_REJECT;
      reason = WRONG[me->judge];
      snprintf(message, sizeof message, "%u of %u say it is wrong: %.300s", result.wrong, hearing->count,
               speaker->why);
   } else if (hearing->unheard == hearing->count) {
      reason = hearing->over_budget ? "limit.budget" : "tool.model";
      snprintf(message, sizeof message, "no model gave a verdict; %.280s", hearing->trouble);
   } else {
      snprintf(message, sizeof message, "%u right, %u wrong, %u unsure or silent: no verdict", result.right,
               result.wrong, result.abstained);
   }
   int status = rkb_emit_verdict_full(me->host, job, standing, reason, message, evidence, NULL);
   free(evidence);
   return status == RKB_OK ? RKB_OK : rkb_fail(err, status, "the verdict could not be emitted");
}

/* Numbers for promote.by and for calibration; none when no model answered. */
static int give_numbers(const verifier_t *me, rkb_job_t job, const hearing_t *hearing) {
   double probability, severity;
   if (!vote_numbers(hearing->votes, hearing->count, &probability, &severity))
      return RKB_OK;
   rkb_measurement_t measurement = {.name = "confidence",
                                    .value = probability,
                                    .unit = "1",
                                    .better = "higher",
                                    .method = "the mean of the judges' answers, by weight",
                                    .spread = -1};
   int status = rkb_emit_measurement(me->host, job, &measurement);
   measurement.name = "severity";
   measurement.value = severity;
   measurement.better = "lower";
   return status == RKB_OK ? rkb_emit_measurement(me->host, job, &measurement) : status;
}

static int verifier_run(void *self, rkb_job_t job, const rkb_item_t *in, rkb_error_t *err) {
   const verifier_t *me = self;
   const choice_model_t *models = me->config->models.rows;
   const char *source = me->host->item_text(me->host, in, "source");
   context_t *context = malloc(sizeof *context);
   hearing_t *hearing = calloc(1, sizeof *hearing);
   int status = context && hearing ? RKB_OK : rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   if (status == RKB_OK) {
      context_open(context, me->host, job, &me->services);
      context_add_task(context);
      context_add_contract(context);
      context_add_device(context);
      context_add_candidate(context, "kernel", in, 0);
      for (uint32_t i = 0; i < me->config->models.count && status == RKB_OK; i++)
         for (uint32_t j = 0; j < (uint32_t)me->config->votes && status == RKB_OK; j++)
            status = hear(me, context, &models[i], i * (uint32_t)me->config->votes + j, hearing, err);
      context_close(context);
   }
   if (status == RKB_OK)
      status = give_verdict(me, job, hearing, source ? source : "", err);
   if (status == RKB_OK && give_numbers(me, job, hearing) != RKB_OK)
      status = rkb_fail(err, RKB_ERR_NOMEM, "the measurements could not be emitted");
   free(hearing);
   free(context);
   return status;
}

static void verifier_destroy(void *self) {
   free(self);
}

static const char *const SLOTS[] = {"task", "contract", "device", "kernel", NULL};

static const rkb_option_t model_options[] = {CHOICE_OPTIONS};

#define PROMPT(member)                                                                                       \
   {                                                                                                         \
      .name = #member, .type = RKB_OPT_PROMPT, .offset = offsetof(verifier_config_t, member),                \
      .fallback = "prompts/judge_" #member ".md", .choices = SLOTS,                                          \
      .help = "The prompt file for the judge of that name; slots task, contract, device, kernel."            \
   }

static const rkb_option_t options[] = {
   {.name = "judge",
    .type = RKB_OPT_ENUM,
    .flags = RKB_OPT_REQUIRED,
    .offset = offsetof(verifier_config_t, judge),
    .choices = JUDGES,
    .help =
       "What to ask. compile: does it compile; memory: does it use memory correctly; numbers: are its results right."},
   PROMPT(compile),
   PROMPT(memory),
   PROMPT(numbers),
   {.name = "models",
    .type = RKB_OPT_TABLES,
    .flags = RKB_OPT_REQUIRED,
    .offset = offsetof(verifier_config_t, models),
    .members = model_options,
    .member_count = sizeof model_options / sizeof model_options[0],
    .member_size = sizeof(choice_model_t),
    .help = "The judges; every model is asked and votes with its weight."},
   {.name = "votes",
    .type = RKB_OPT_INT,
    .offset = offsetof(verifier_config_t, votes),
    .fallback = "1",
    .min = 1,
    .max = 8,
    .help = "How often to ask each model."},
   {.name = "vote",
    .type = RKB_OPT_ENUM,
    .offset = offsetof(verifier_config_t, vote),
    .fallback = "majority",
    .choices = (const char *const[]){"majority", "weighted", NULL},
    .help = "majority: each vote counts once; weighted: each vote counts weight times confidence."},
   {.name = "least_confidence",
    .type = RKB_OPT_REAL,
    .offset = offsetof(verifier_config_t, least_confidence),
    .fallback = "0.5",
    .min = 0,
    .max = 1,
    .help = "A vote with less confidence than this abstains."},
};

static const rkb_stage_t verifier = {
   .size = sizeof(rkb_stage_t),
   .kind = RKB_VERIFIER,
   .flags = RKB_STAGE_WAITS,
   .id = "rkb.verifier.llm",
   .summary = "Asks language models whether a kernel is right, and counts their votes; executes nothing.",
   .accepts = (const char *const[]){RKB_ITEM_CANDIDATE, NULL},
   .emits = (const char *const[]){RKB_ITEM_VERDICT, RKB_ITEM_MEASUREMENT, NULL},
   .measures = (const char *const[]){"confidence", "severity", NULL},
   RKB_OPTIONS(options),
   .config_size = sizeof(verifier_config_t),
   .create = verifier_create,
   .run = verifier_run,
   .destroy = verifier_destroy,
   .needs = (const char *const[]){RKB_EXT_LLM, RKB_EXT_PROMPT, RKB_EXT_RANDOM, NULL},
};

RKB_EXPORT const rkb_plugin_t rkb_plugin_entry = {
   RKB_PLUGIN_HEAD,
   .name = "verifier.llm",
   .version = "0.1.0",
   .stages = (const rkb_stage_t *const[]){&verifier, NULL},
};
