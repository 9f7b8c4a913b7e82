/* rkb.translator.llm - asks language models to write a kernel for the task from its PyTorch code.
 *
 * Owns nothing between jobs; runs on threads that only wait. */
#include <stdlib.h>
#include <string.h>
#include "asking/proposal.h"

typedef struct translator_config {
   rkb_prompt_t prompt;
   rkb_table_list_t models;
   int64_t proposals;
   const char *choice, *profile;
   int64_t best, verdicts, library;
} translator_config_t;

typedef struct translator {
   const rkb_host_t *host;
   const translator_config_t *config;
   const rkb_llm_api_t *llm;
   context_services_t services;
} translator_t;

static int translator_create(const rkb_host_t *host, const void *config, void **self, rkb_error_t *err) {
   translator_t *me = calloc(1, sizeof *me);
   if (!me)
      return rkb_fail(err, RKB_ERR_NOMEM, "cannot allocate %zu bytes", sizeof *me);
   me->host = host;
   me->config = config;
   me->llm = host->get_extension(host, RKB_EXT_LLM);
   context_services_find(host, &me->services);
   int status = RKB_OK;
   if (!me->config->models.count || me->config->models.count > CHOICE_MOST)
      status = rkb_fail_option(err, "models", "name 1 to %d models", CHOICE_MOST);
   if (status == RKB_OK)
      *self = me;
   else
      free(me);
   return status;
}

static void fill_context(const translator_t *me, context_t *context, const rkb_item_t *in) {
   const char *objective = me->host->item_text(me->host, in, "objective");
   context->profile = context_profile_named(me->config->profile);
   context->objective = objective;
   context_add_task(context);
   context_add_contract(context);
   context_add_device(context);
   context_add_hints(context);
   context_add_best(context, objective, (uint32_t)me->config->best);
   context_add_verdicts(context, (uint32_t)me->config->verdicts);
   context_add_library(context, NULL, (uint32_t)me->config->library);
}

static int translator_run(void *self, rkb_job_t job, const rkb_item_t *in, rkb_error_t *err) {
   const translator_t *me = self;
   context_t *context = malloc(sizeof *context);
   uint32_t made = 0;
   int status = RKB_OK;
   if (!context)
      return rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   context_open(context, me->host, job, &me->services);
   fill_context(me, context, in);
   for (uint32_t i = 0; i < (uint32_t)me->config->proposals && status == RKB_OK; i++) {
      proposal_t proposal = {.prompt = &me->config->prompt,
                             .models = me->config->models.rows,
                             .model_count = (uint32_t)me->config->models.count,
                             .choice = me->config->choice,
                             .child = i,
                             .what = "translation"};
      uint32_t result;
      status = proposal_make(context, me->llm, &proposal, &result, err);
      made += result == PROPOSAL_MADE;
   }
   /* A request without any candidate has failed and says why; operators that cost nothing continue. */
   if (status == RKB_OK && !made)
      status = err->status;
   context_close(context);
   free(context);
   return status;
}

static void translator_destroy(void *self) {
   free(self);
}

static const rkb_option_t model_options[] = {CHOICE_OPTIONS};

static const rkb_option_t options[] = {
   {.name = "prompt",
    .type = RKB_OPT_PROMPT,
    .offset = offsetof(translator_config_t, prompt),
    .fallback = "prompts/translate.md",
    .choices = (const char *const[]){"task", "contract", "device", "hints", "best", "verdicts", "library", NULL},
    .help = "The prompt file; slots task, contract, device, hints, best, verdicts, library."},
   {.name = "models",
    .type = RKB_OPT_TABLES,
    .flags = RKB_OPT_REQUIRED,
    .offset = offsetof(translator_config_t, models),
    .members = model_options,
    .member_count = sizeof model_options / sizeof model_options[0],
    .member_size = sizeof(choice_model_t),
    .help = "The models to ask, each with its own settings: [{model: NAME}, ...]."},
   {.name = "proposals",
    .type = RKB_OPT_INT,
    .offset = offsetof(translator_config_t, proposals),
    .fallback = "1",
    .min = 1,
    .max = 16,
    .help = "Candidates for one request; each is a question of its own."},
   {.name = "choice",
    .type = RKB_OPT_ENUM,
    .offset = offsetof(translator_config_t, choice),
    .fallback = "weights",
    .choices = (const char *const[]){"weights", "ucb", "thompson", NULL},
    .help = "How to choose a model: by its weight, or (ucb, thompson) by its gain for a dollar so far."},
   PROFILE_OPTION(translator_config_t),
   {.name = "best",
    .type = RKB_OPT_INT,
    .offset = offsetof(translator_config_t, best),
    .fallback = "3",
    .min = 0,
    .max = 16,
    .help = "How many of the best kernels so far to show in the prompt."},
   {.name = "verdicts",
    .type = RKB_OPT_INT,
    .offset = offsetof(translator_config_t, verdicts),
    .fallback = "3",
    .min = 0,
    .max = 16,
    .help = "How many of the last rejections to show in the prompt."},
   {.name = "library",
    .type = RKB_OPT_INT,
    .offset = offsetof(translator_config_t, library),
    .fallback = "2",
    .min = 0,
    .max = 16,
    .help = "How many kernels of the library to show in the prompt, where the run was given one (rkb-run --library)."},
};

static const rkb_stage_t translator = {
   .size = sizeof(rkb_stage_t),
   .kind = RKB_TRANSLATOR,
   .flags = RKB_STAGE_WAITS,
   .id = "rkb.translator.llm",
   .summary = "Asks language models to write kernels from the task's PyTorch code.",
   .accepts = (const char *const[]){RKB_ITEM_REQUEST, NULL},
   .emits = (const char *const[]){RKB_ITEM_CANDIDATE, NULL},
   RKB_OPTIONS(options),
   .config_size = sizeof(translator_config_t),
   .create = translator_create,
   .run = translator_run,
   .destroy = translator_destroy,
   .needs = (const char *const[]){RKB_EXT_LLM, RKB_EXT_TASK, RKB_EXT_PROMPT, RKB_EXT_RANDOM, NULL},
};

RKB_EXPORT const rkb_plugin_t rkb_plugin_entry = {
   RKB_PLUGIN_HEAD,
   .name = "translator.llm",
   .version = "0.1.0",
   .stages = (const rkb_stage_t *const[]){&translator, NULL},
};
