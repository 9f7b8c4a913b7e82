/* rkb.verifier.machine - executes a candidate's launch plan on the CPU from its PTX, every access checked, and judges what it
 * leaves by the task's rule: all check cases on their input families, and shapes drawn anew.  Emits one verdict with evidence,
 * a certificate and counts.  A thin stage over the library of machine.h; blocks on workers. */
#include "counting_stage.h"
#include "judged_candidate.h"
#include "stage_options.h"

#include <stdlib.h>
#include <string.h>

static int machine_create(const rkb_host_t *host, const void *config, void **self, rkb_error_t *err) {
   struct verifier *me = malloc(sizeof *me);
   if (!me)
      return rkb_fail(err, RKB_ERR_NOMEM, "no memory for the stage");
   *me = verifier_of(host, config);
   *self = me;
   return RKB_OK;
}

/* An output of which nothing was judged anywhere: whatever a kernel writes there would pass. */
static void note_unseen(struct outcome *outcome) {
   const char *name;
   json_t *judged;
   json_object_foreach(outcome->outputs, name, judged)
      if (outcome->rank == 0 && !json_is_true(judged))
         outcome_note(outcome, RKB_MACHINE_UNKNOWN, "coverage.unjudged", json_pack("{s:s}", "output", name),
                      "no element of %s could be judged in any case: what it depends on may overflow in this precision, or leaves the domain of "
                      "what is applied to it; give the task other check cases or recipes",
                      name);
}

/* A case whose numbers were compared, and proved too little. */
static void note_undecided(struct outcome *outcome) {
   if (outcome->rank == 0 && outcome->undecided[0])
      outcome_note(
         outcome, RKB_MACHINE_UNKNOWN, "coverage.unjudged", NULL,
         "%s; an ambiguous element has several right values, such as any of those that scatter puts at its place: give the task check "
         "cases or recipes with fewer of them, or add what meets at a place",
         outcome->undecided);
}

static int run_cases(const struct verifier *me, struct candidate *candidate, struct outcome *outcome,
                     rkb_error_t *err) {
   const unsigned long long budget = candidate->budget;
   int status = cases_run(me, candidate, outcome, err);
   if (status == RKB_OK)
      note_undecided(outcome);
   if (status == RKB_OK && outcome->rank == 0 && outcome->cases_run == 0)
      outcome_note(
         outcome, RKB_MACHINE_UNKNOWN, "limit.budget", NULL,
         "no case could be executed whole within %llu thread-instructions; %s allows more", budget,
         me->config->budget ? "this stage's option budget" : "limits.execute");
   if (status == RKB_OK && outcome->cases_run)
      note_unseen(outcome);
   if (status == RKB_OK && outcome->rank == 0 && outcome->unexecuted)
      outcome_note(
         outcome, RKB_MACHINE_UNKNOWN, "limit.budget", NULL,
         "%u of the check cases, first %s, could not be executed on all their inputs within %llu thread-instructions and the "
         "memory; limits.execute and this stage's option memory allow more",
         outcome->unexecuted, outcome->unexecuted_case, budget);
   if (status == RKB_OK && outcome->rank == 0 && candidate->decides_too_much)
      outcome_note(
         outcome, RKB_MACHINE_UNKNOWN, "limit.budget", NULL,
         "the manifest's expressions compare and divide in more places than are looked at one by one; write "
         "fewer launches, or simpler conditions and arguments");
   if (status == RKB_OK && outcome->rank == 0 && outcome->one_schedule &&
       !(outcome->orders & ORDER_DESCENDING))
      outcome_note(
         outcome, RKB_MACHINE_UNKNOWN, "limit.budget", NULL,
         "what the kernels do may depend on the order of blocks and warps, and the budget was used up before every case "
         "was executed in another one");
   return status;
}

/* Hints that outlive the launch, wherever in the PTX they come from: lint sees only what the text says in one piece. */
static void note_cache_policies(const rkb_build_t *build, const rkb_machine_module_t *module,
                                struct outcome *outcome) {
   const char *opcode;
   uint32_t line;
   static const char *const words[] = {"evict_last", "createpolicy", "applypriority", "discard.global"};
   for (size_t n = 0; n < sizeof words / sizeof *words; n++)
      if (memmem(build->ptx, build->ptx_bytes, words[n], strlen(words[n])))
         outcome_note(outcome, RKB_MACHINE_SUSPECT, "environment.cache_policy", json_pack("{s:s}", "instruction", words[n]),
                      "the PTX has %s: such a hint outlives the launch and would carry one timed run's data into the next", words[n]);
   if (module && rkb_machine_lasting_policy(module, &line, &opcode))
      outcome_note(
         outcome, RKB_MACHINE_SUSPECT, "environment.cache_policy",
         json_pack("{s:s, s:i}", "instruction", opcode, "line", (int)line),
         "line %u of the PTX names a cache policy that may outlive the launch, and is none of the two numbers that are "
         "known not to (evict_normal, evict_first)",
         line);
}

static int machine_run(void *self, rkb_job_t job, const rkb_item_t *in, rkb_error_t *err) {
   struct verifier *me = self;
   struct candidate candidate;
   struct outcome outcome;
   outcome_init(&outcome, me->config->debug);
   int status = judged_candidate_open(me, job, in, &candidate, err);
   if (status == RKB_OK) {
      note_cache_policies(candidate.build, candidate.module, &outcome);
      status = run_cases(me, &candidate, &outcome, err);
   }
   if (status == RKB_OK && outcome.rank <= RKB_MACHINE_SUSPECT && me->config->bench_blocks &&
       !me->config->debug)
      status = bench_cases_judge(me, &candidate, &outcome, err);
   if (status == RKB_OK && outcome.rank == 0 && outcome.unsampled)
      outcome_note(&outcome, RKB_MACHINE_UNKNOWN, "limit.budget", NULL,
                   "the budget was used up before blocks were executed at every bench shape; %s allows more",
                   me->config->budget ? "this stage's option budget" : "limits.execute");
   if (status == RKB_OK)
      status = outcome_emit(me, job, &outcome);
   judged_candidate_close(me, &candidate);
   outcome_free(&outcome);
   return status;
}

static void machine_destroy(void *self) {
   free(self);
}

#define AT(member) offsetof(struct verifier_config, member)
static const rkb_option_t options[] = {
   {.name = "families",
    .type = RKB_OPT_INT,
    .offset = AT(families),
    .fallback = "0",
    .min = 0,
    .max = 64,
    .help = "How many input families to execute on each case, the most telling first; 0: all."},
   {.name = "trials",
    .type = RKB_OPT_INT,
    .offset = AT(trials),
    .fallback = "1",
    .min = 1,
    .max = 64,
    .help =
       "Seeds of each family; the first family always has two, because a plan must also be right when repeated."},
   {.name = "shapes",
    .type = RKB_OPT_INT,
    .offset = AT(shapes),
    .fallback = "8",
    .min = 0,
    .max = 64,
    .help =
       "How many shapes to draw from the task's domain beside the check cases; up to half as many more are added until launches have several blocks."},
   {.name = "drawn_work",
    .type = RKB_OPT_REAL,
    .offset = AT(drawn_work),
    .fallback = "1e5",
    .min = 1,
    .max = 1e12,
    .help = "Most operations of a drawn shape."},
   {.name = "family_work",
    .type = RKB_OPT_INT,
    .offset = AT(family_work),
    .fallback = "10000000",
    .min = 0,
    .max = 1e15,
    .help =
       "Thread-instructions of one case for input families; a family that exceeds them is executed on the two or three cheapest cases that show something of it."},
   OPTION_BUDGET(AT(budget)),
   OPTION_MEMORY(AT(memory)),
   {.name = "bench_blocks",
    .type = RKB_OPT_INT,
    .offset = AT(bench_blocks),
    .fallback = "6",
    .min = 0,
    .max = 1024,
    .help =
       "How many blocks of each launch to execute at the bench shapes for the speed model's counts; up to 43 more are drawn and judged; 0: none."},
   {.name = "debug",
    .type = RKB_OPT_BOOL,
    .offset = AT(debug),
    .fallback = "false",
    .help =
       "true: execute the unoptimised -G build instead, to find uses of unwritten values that the optimiser hides; findings are suspect."},
   {.name = "bench_points",
    .type = RKB_OPT_INT,
    .offset = AT(bench_points),
    .fallback = "32",
    .min = 0,
    .max = 4096,
    .help =
       "How many elements of each output to judge at the bench shapes, at least one of each executed block that wrote to it; 0: none."},
};

static const rkb_stage_t machine = {
   .size = sizeof(rkb_stage_t),
   .kind = RKB_VERIFIER,
   .flags = RKB_STAGE_NEEDS_BUILD | RKB_STAGE_EXECUTES | RKB_STAGE_DETERMINISTIC,
   .id = "rkb.verifier.machine",
   .summary = "Executes the candidate's PTX on the CPU with every access checked, and judges its results.",
   .accepts = (const char *const[]){RKB_ITEM_CANDIDATE, NULL},
   .emits = (const char *const[]){RKB_ITEM_VERDICT, RKB_ITEM_MEASUREMENT, NULL},
   .measures = (const char *const[]){"thread_instructions", "worst_hard", "memory_bytes", NULL},
   RKB_OPTIONS(options),
   .config_size = sizeof(struct verifier_config),
   .create = machine_create,
   .run = machine_run,
   .destroy = machine_destroy,
   .needs = (const char *const[]){RKB_EXT_TASK, RKB_EXT_KERNEL, RKB_EXT_RANDOM, RKB_EXT_CONFINED,
                                  RKB_EXT_INTERMEDIATES, RKB_EXT_SURVEY, NULL},
};

RKB_EXPORT const rkb_plugin_t rkb_plugin_entry = {
   RKB_PLUGIN_HEAD,
   .name = "machine",
   .version = "0.1.0",
   .stages = (const rkb_stage_t *const[]){&machine, &COUNTING_STAGE, &EARLY_COUNTING_STAGE, NULL},
};
