/* rkb.mutator.llm - asks language models to change kernels: improve one by its bottleneck, fix one by its
 * findings, cross several, or explore another algorithm.
 *
 * Owns the structures of kernels that replies were compared with, which no answer depends on; runs on threads that only wait. */
#include "mutator_context.h"

#include <stdlib.h>
#include <string.h>
#include "asking/lessons.h"
#include "asking/proposal.h"
#include "asking/recommendations.h"
#include "asking/evolving_guidance.h"

/* Number among a job's random streams, apart from those of proposals and side questions. */
#define LEAN_STREAM 8192
#define MOST_ADVICE 2048 /* bytes */
#define MOST_PLAN 4096
#define MOST_GUIDANCE 1024

static const char *const MODES[] = {"improve", "fix", "crossover", "explore", NULL};

static int mutator_create(const rkb_host_t *host, const void *config, void **self, rkb_error_t *err) {
   mutator_t *me = calloc(1, sizeof *me);
   if (!me)
      return rkb_fail(err, RKB_ERR_NOMEM, "cannot allocate %zu bytes", sizeof *me);
   me->host = host;
   me->config = config;
   me->llm = host->get_extension(host, RKB_EXT_LLM);
   context_services_find(host, &me->services);
   while (strcmp(MODES[me->mode], me->config->mode) != 0)
      me->mode++;
   int status = RKB_OK;
   if (!me->config->models.count || me->config->models.count > CHOICE_MOST)
      status = rkb_fail_option(err, "models", "name 1 to %d models", CHOICE_MOST);
   else if (me->config->planner.count > CHOICE_MOST)
      status = rkb_fail_option(err, "planner", "name at most %d models", CHOICE_MOST);
   else if (me->config->advisor.count > CHOICE_MOST)
      status = rkb_fail_option(err, "advisor", "name at most %d models", CHOICE_MOST);
   if (status == RKB_OK) {
      me->structures = structure_cache_new();
      if (!me->structures)
         status = rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   }
   if (status == RKB_OK)
      *self = me;
   else
      free(me);
   return status;
}

/* Whether a request gets the lean prompt.  A share of the requests that improve a kernel get it, drawn from
 * the request's own stream. */
static bool is_lean(const mutator_t *me, rkb_job_t job) {
   rkb_random_t stream = me->services.random->for_job(me->host, job, LEAN_STREAM);
   return me->mode == IMPROVE && me->services.random->real(&stream) < me->config->lean;
}

static const rkb_prompt_t *prompt_of(const mutator_t *me, bool lean) {
   const rkb_prompt_t *const prompts[] = {&me->config->improve, &me->config->fix, &me->config->crossover,
                                          &me->config->explore};
   return lean ? &me->config->lean_prompt : prompts[me->mode];
}

/* Writes the lessons for the note of this request's first candidate, if it is this request's turn. */
static int distil(const mutator_t *me, const context_t *context, const rkb_item_t *in, char **lessons,
                  rkb_error_t *err) {
   int64_t number = 0;
   *lessons = NULL;
   me->host->item_int(me->host, in, "number", &number);
   if (!lessons_due(context, number, me->config->scratchpad))
      return RKB_OK;
   return lessons_distil(context, me->llm, &me->config->distil, me->config->models.rows,
                         (uint32_t)me->config->models.count, me->config->choice,
                         me->host->item_text(me->host, in, "objective"), lessons, err);
}

/* Asks other models first: for recommendations from the parent's profiles, then for a plan, which may follow
 * the recommendations. */
static int ask_before(const mutator_t *me, context_t *context, const rkb_item_t *in, char **advice, double *worth, rkb_error_t *err) {
   const mutator_config_t *config = me->config;
   const rkb_item_t *parent = me->host->item_reference(me->host, in, "parent", 0);
   int64_t number = 0;
   int status = RKB_OK;
   if (config->advisor.count && me->mode != FIX && parent) {
      const side_question_t question = {.prompt = &config->advise,
                                        .models = config->advisor.rows,
                                        .model_count = (uint32_t)config->advisor.count,
                                        .choice = "weights",
                                        .child = SIDE_ADVICE,
                                        .what = "advice",
                                        .most_bytes = MOST_ADVICE};
      me->host->item_int(me->host, parent, "number", &number);
      status = advice_add(context, me->llm, &question, number, advice, err);
   }
   if (status == RKB_OK && config->planner.count) {
      const side_question_t question = {.prompt = &config->plan,
                                        .models = config->planner.rows,
                                        .model_count = (uint32_t)config->planner.count,
                                        .choice = "weights",
                                        .child = SIDE_PLAN,
                                        .what = "plan",
                                        .most_bytes = MOST_PLAN};
      status = plan_add(context, me->llm, &question, worth, err);
   }
   return status;
}

/* Chooses the guidance of this request, and may make another variant of it for later requests. */
static int guide(const mutator_t *me, context_t *context, const rkb_item_t *in, variants_told_t *told, rkb_error_t *err) {
   const mutator_config_t *config = me->config;
   const side_question_t question = {.prompt = &config->evolve,
                                     .models = config->models.rows,
                                     .model_count = (uint32_t)config->models.count,
                                     .choice = config->choice,
                                     .child = SIDE_VARIANT,
                                     .what = "variant of the guidance",
                                     .most_bytes = MOST_GUIDANCE};
   int64_t number = 0;
   me->host->item_int(me->host, in, "number", &number);
   return evolving_guidance_add(context, me->llm, &question, number, config->variants, told, err);
}

static int mutator_run(void *self, rkb_job_t job, const rkb_item_t *in, rkb_error_t *err) {
   const mutator_t *me = self;
   const rkb_item_t *parents[8];
   const char *edited;
   char *lessons = NULL, *advice = NULL;
   double planned = 0;
   variants_told_t told = {0};
   uint32_t made = 0;
   int status = RKB_OK;
   context_t *context = malloc(sizeof *context);
   if (!context)
      return rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   context_open(context, me->host, job, &me->services);
   bool something = mutator_context_fill(me, context, in, &edited);
   const bool lean = is_lean(me, job);
   proposal_t proposal = {.prompt = prompt_of(me, lean),
                          .models = me->config->models.rows,
                          .model_count = (uint32_t)me->config->models.count,
                          .choice = me->config->choice,
                          .what = lean ? "improve, lean prompt" : me->config->mode,
                          .parents = parents,
                          .again = (uint32_t)me->config->again,
                          /* A fix may be the change of a single number. */
                          .near = me->mode == FIX ? 2 : me->config->near,
                          .structures = me->structures,
                          .embedding = me->mode == FIX ? NULL : me->config->embedding,
                          .alike = me->config->alike,
                          .edited = edited};
   proposal.parent_count = mutator_context_parents(me, in, edited, parents);
   if (something)
      status = distil(me, context, in, &lessons, err);
   if (something && status == RKB_OK && !lean)
      status = ask_before(me, context, in, &advice, &planned, err);
   if (something && status == RKB_OK && !lean)
      status = guide(me, context, in, &told, err);
   for (uint32_t i = 0; something && i < (uint32_t)me->config->proposals && status == RKB_OK; i++) {
      uint32_t result;
      proposal.child = i;
      proposal.lessons = made ? NULL : lessons;
      proposal.advice = made ? NULL : advice;
      proposal.guidance = made ? NULL : told.note;
      proposal.variant = told.variant;
      proposal.worth_usd = made ? 0 : planned;
      status = proposal_make(context, me->llm, &proposal, &result, err);
      made += result == PROPOSAL_MADE;
   }
   if (status == RKB_OK && something && !made)
      status = err->status;
   context_close(context);
   free(context);
   free(lessons);
   free(advice);
   free(told.note);
   return status;
}

static void mutator_destroy(void *self) {
   mutator_t *me = self;
   structure_cache_free(me->structures);
   free(me);
}

static const char *const SLOTS[] = {"task",     "contract", "device",   "hints",   "kernel",
                                    "findings", "siblings", "best",    "verdicts", "lessons", "library", "errors", "advice", "plan", "guidance", NULL};
static const char *const DISTIL_SLOTS[] = {"task", "best", "verdicts", "lessons", NULL};

static const char *const EVOLVE_SLOTS[] = {"task", "outcomes", "errors", NULL};

static const rkb_option_t model_options[] = {CHOICE_OPTIONS};

#define PROMPT_FILE(member, file, what)                                                                                 \
   {                                                                                                         \
      .name = #member, .type = RKB_OPT_PROMPT, .offset = offsetof(mutator_config_t, member),                 \
      .fallback = "prompts/" file ".md", .choices = SLOTS,                                                \
      .help = "The prompt file " what                                                                        \
              "; slots task, contract, device, hints, kernel, findings, siblings, best, verdicts, lessons, library, errors, advice, plan, guidance."            \
   }

#define PROMPT(member, what) PROMPT_FILE(member, #member, what)

static const rkb_option_t options[] = {
   {.name = "mode",
    .type = RKB_OPT_ENUM,
    .flags = RKB_OPT_REQUIRED,
    .offset = offsetof(mutator_config_t, mode),
    .choices = MODES,
    .help =
       "improve: a parent; fix: a rejected kernel; crossover: two or more parents; explore: another algorithm."},
   PROMPT(improve, "for mode improve"),
   PROMPT(fix, "for mode fix"),
   PROMPT(crossover, "for mode crossover"),
   PROMPT(explore, "for mode explore"),
   PROMPT_FILE(lean_prompt, "lean", "for a share of the questions in mode improve: see lean"),
   PROMPT(plan, "for plans: see planner"),
   PROMPT(advise, "for recommendations: see advisor"),
   {.name = "evolve",
    .type = RKB_OPT_PROMPT,
    .offset = offsetof(mutator_config_t, evolve),
    .fallback = "prompts/evolve.md",
    .choices = EVOLVE_SLOTS,
    .help = "The prompt file for new variants of the guidance; slots task, outcomes, errors."},
   {.name = "variants",
    .type = RKB_OPT_INT,
    .offset = offsetof(mutator_config_t, variants),
    .fallback = "0",
    .min = 0,
    .max = 1000,
    .help = "After this many generations one request also has a model write guidance for later prompts; prompts get the variant with "
            "the largest gain; 0: no guidance."},
   {.name = "lean",
    .type = RKB_OPT_REAL,
    .offset = offsetof(mutator_config_t, lean),
    .fallback = "0",
    .min = 0,
    .max = 1,
    .help = "In mode improve: which share of the requests gets the lean prompt, which shows the kernel and little else."},
   {.name = "rejects",
    .type = RKB_OPT_ENUM,
    .offset = offsetof(mutator_config_t, rejects),
    .fallback = "any",
    .choices = (const char *const[]){"any", "models", NULL},
    .help = "In mode fix: whose rejected kernels to mend; models: only those that models wrote."},
   {.name = "planner",
    .type = RKB_OPT_TABLES,
    .offset = offsetof(mutator_config_t, planner),
    .members = model_options,
    .member_count = sizeof model_options / sizeof model_options[0],
    .member_size = sizeof(choice_model_t),
    .help = "Models that plan in words what models: then write; none: who writes plans too."},
   {.name = "advisor",
    .type = RKB_OPT_TABLES,
    .offset = offsetof(mutator_config_t, advisor),
    .members = model_options,
    .member_count = sizeof model_options / sizeof model_options[0],
    .member_size = sizeof(choice_model_t),
    .help = "Models that make three recommendations of the parent's profiles, once for each parent; none: the profiles alone are shown."},
   {.name = "distil",
    .type = RKB_OPT_PROMPT,
    .offset = offsetof(mutator_config_t, distil),
    .fallback = "prompts/distil.md",
    .choices = DISTIL_SLOTS,
    .help = "The prompt file for lessons; slots task, best, verdicts, lessons."},
   {.name = "scratchpad",
    .type = RKB_OPT_INT,
    .offset = offsetof(mutator_config_t, scratchpad),
    .fallback = "0",
    .min = 0,
    .max = 1000,
    .help =
       "After this many generations one request also distils lessons, which later prompts show; 0: never."},
   {.name = "models",
    .type = RKB_OPT_TABLES,
    .flags = RKB_OPT_REQUIRED,
    .offset = offsetof(mutator_config_t, models),
    .members = model_options,
    .member_count = sizeof model_options / sizeof model_options[0],
    .member_size = sizeof(choice_model_t),
    .help = "The models to ask, each with its own settings: [{model: NAME}, ...]."},
   {.name = "choice",
    .type = RKB_OPT_ENUM,
    .offset = offsetof(mutator_config_t, choice),
    .fallback = "weights",
    .choices = (const char *const[]){"weights", "ucb", "thompson", NULL},
    .help = "How to choose a model: by its weight, or (ucb, thompson) by its gain for a dollar so far."},
   {.name = "proposals",
    .type = RKB_OPT_INT,
    .offset = offsetof(mutator_config_t, proposals),
    .fallback = "1",
    .min = 1,
    .max = PROPOSAL_MOST,
    .help = "Candidates for one request; each is a question of its own."},
   {.name = "again",
    .type = RKB_OPT_INT,
    .offset = offsetof(mutator_config_t, again),
    .fallback = "1",
    .min = 0,
    .max = PROPOSAL_MOST_AGAIN,
    .help = "How often to ask again when the reply repeats a candidate; the question then says which, and what became of it."},
   {.name = "near",
    .type = RKB_OPT_REAL,
    .offset = offsetof(mutator_config_t, near),
    .fallback = "1",
    .min = 0.1,
    .max = 2,
    .help = "Replies whose structure is so like a candidate's count as repeating it; 1: only names and numbers differ; 2: the text alone "
            "counts, as it does in mode fix."},
   {.name = "embedding",
    .type = RKB_OPT_MODEL,
    .offset = offsetof(mutator_config_t, embedding),
    .help = "A model with provider: openai-embeddings: a reply whose embedding is near to a candidate's counts as repeating it."},
   {.name = "alike",
    .type = RKB_OPT_REAL,
    .offset = offsetof(mutator_config_t, alike),
    .fallback = "0.98",
    .min = 0.5,
    .max = 1,
    .help = "From which cosine on two embeddings are near."},
   PROFILE_OPTION(mutator_config_t),
   {.name = "best",
    .type = RKB_OPT_INT,
    .offset = offsetof(mutator_config_t, best),
    .fallback = "2",
    .min = 0,
    .max = 16,
    .help = "How many of the best kernels so far to show in the prompt."},
   {.name = "verdicts",
    .type = RKB_OPT_INT,
    .offset = offsetof(mutator_config_t, verdicts),
    .fallback = "2",
    .min = 0,
    .max = 16,
    .help = "How many of the last rejections to show in the prompt."},
   {.name = "library",
    .type = RKB_OPT_INT,
    .offset = offsetof(mutator_config_t, library),
    .fallback = "2",
    .min = 0,
    .max = 16,
    .help = "How many kernels of the library to show in the prompt, where the run was given one (rkb-run --library)."},
   {.name = "siblings",
    .type = RKB_OPT_INT,
    .offset = offsetof(mutator_config_t, siblings),
    .fallback = "12",
    .min = 0,
    .max = 16,
    .help = "How many of the last changes to the same kernel to show in the prompt, with what became of them."},
};

static const rkb_stage_t mutator = {
   .size = sizeof(rkb_stage_t),
   .kind = RKB_MUTATOR,
   .flags = RKB_STAGE_WAITS,
   .id = "rkb.mutator.llm",
   .summary = "Asks language models to improve, fix, cross or rewrite kernels.",
   .accepts = (const char *const[]){RKB_ITEM_REQUEST, NULL},
   .emits = (const char *const[]){RKB_ITEM_CANDIDATE, NULL},
   RKB_OPTIONS(options),
   .config_size = sizeof(mutator_config_t),
   .create = mutator_create,
   .run = mutator_run,
   .destroy = mutator_destroy,
   .needs = (const char *const[]){RKB_EXT_LLM, RKB_EXT_TASK, RKB_EXT_PROMPT, RKB_EXT_RANDOM, NULL},
};

RKB_EXPORT const rkb_plugin_t rkb_plugin_entry = {
   RKB_PLUGIN_HEAD,
   .name = "mutator.llm",
   .version = "0.1.0",
   .stages = (const rkb_stage_t *const[]){&mutator, NULL},
};
