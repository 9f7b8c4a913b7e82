/* rkb.strategy.process - a strategy that is the user's own program (docs/process-stages.md).
 *
 * One process.  Asks and tells go to it on the loop's thread, which waits for each answer at most as long as
 * the option `wait` says.  A process that ended cannot be replaced during the run, because the tells that it
 * got are lost.  So the run ends, and --resume replays the dialogue to a new process. */
#include "process_stage/stage_answer.h"
#include "process_stage/stage_program.h"

#include <math.h>
#include <rkb/strategy.h>
#include <stdlib.h>

typedef struct strategy {
   stage_program_t program;
   const rkb_setup_t *setup;
   json_int_t questions;
   bool lost; /* a question failed */
} strategy_t;

static json_t *setup_object(const rkb_host_t *host, const rkb_setup_t *setup, rkb_random_t stream) {
   const rkb_random_api_t *random = host->get_extension(host, RKB_EXT_RANDOM);
   json_t *operators = json_array();
   for (uint32_t i = 0; i < setup->operator_count; i++)
      json_array_append_new(operators, json_pack("{s:s, s:s, s:f}", "id", setup->operators[i].id, "stage", setup->operators[i].stage,
                                                 "weight", setup->operators[i].weight));
   return json_pack("{s:I, s:i, s:s, s:o}", "seed", (json_int_t)(random->next(&stream) >> 11), "window", (int)setup->window, "objective",
                    setup->objective ? setup->objective : "", "operators", operators);
}

static int process_create(const rkb_host_t *host, const void *config, const rkb_setup_t *setup, rkb_random_t stream, void **self,
                          rkb_error_t *err) {
   strategy_t *me = calloc(1, sizeof *me);
   if (!me)
      return rkb_fail(err, RKB_ERR_NOMEM, "cannot allocate %zu bytes", sizeof *me);
   me->setup = setup;
   const int status = stage_program_open(&me->program, host, config, "strategy", setup_object(host, setup, stream), err);
   if (status != RKB_OK)
      free(me);
   else
      *self = me;
   return status;
}

typedef struct asked {
   const rkb_setup_t *setup;
   rkb_request_t *out;
   int answer; /* enum rkb_ask */
} asked_t;

static int use_ask(void *argument, const json_t *answer, rkb_error_t *err) {
   asked_t *asked = argument;
   asked->answer = answer_read_ask(answer, asked->setup, asked->out, err);
   return asked->answer < 0 ? asked->answer : RKB_OK;
}

static int use_nothing(void *argument, const json_t *answer, rkb_error_t *err) {
   (void)argument, (void)answer, (void)err;
   return RKB_OK;
}

static int question(strategy_t *me, const char *about, json_t *said, stage_answer_use_t use, void *argument, rkb_error_t *err) {
   if (me->lost) {
      json_decref(said);
      return rkb_fail(err, RKB_ERR_UNAVAILABLE, "the strategy's program was lost");
   }
   json_object_set_new(said, "question", json_integer(++me->questions));
   const int status = stage_program_ask(&me->program, 0, said, about, use, argument, err);
   me->lost = status != RKB_OK;
   return status;
}

static int process_ask(void *self, rkb_request_t *out, rkb_error_t *err) {
   strategy_t *me = self;
   asked_t asked = {me->setup, out, RKB_ASK_WAIT};
   const int status = question(me, "ask", json_pack("{s:b}", "ask", 1), use_ask, &asked, err);
   return status == RKB_OK ? asked.answer : status;
}

static json_t *told_object(const rkb_told_t *told) {
   json_t *measured = json_object(), *parents = json_array();
   for (uint32_t i = 0; i < told->measurement_count; i++)
      if (isfinite(told->measurement_values[i]))
         json_object_set_new(measured, told->measurement_names[i], json_real(told->measurement_values[i]));
   for (uint32_t i = 0; i < told->parent_count; i++)
      json_array_append_new(parents, json_integer(told->parents[i]));
   json_t *tune = told->tune ? json_loads(told->tune, 0, NULL) : NULL;
   json_t *space = RKB_HAS(told, tune_space) && told->tune_space ? json_loads(told->tune_space, 0, NULL) : NULL;
   json_t *object = json_pack("{s:I, s:s, s:s, s:b, s:s, s:o, s:o, s:o*, s:o*}", "number", (json_int_t)told->number, "standing",
                              told->standing, "reason", told->reason, "promoted", told->promoted, "source_hash", told->source_hash,
                              "parents", parents, "measured", measured, "tune", tune, "tune_space", space);
   if (object && told->duplicate_of)
      json_object_set_new(object, "duplicate_of", json_integer(told->duplicate_of));
   if (object && told->has_objective && isfinite(told->objective))
      json_object_set_new(object, "objective", json_real(told->objective));
   return object;
}

static int process_tell(void *self, const rkb_result_t *result, rkb_error_t *err) {
   strategy_t *me = self;
   json_t *candidates = json_array();
   for (uint32_t i = 0; i < result->candidate_count; i++)
      json_array_append_new(candidates, told_object(result->candidates[i]));
   json_t *said = json_pack("{s:{s:I, s:s, s:o}}", "tell", "request", (json_int_t)result->request, "operator", result->operator_id,
                            "candidates", candidates);
   return said ? question(me, "tell", said, use_nothing, NULL, err) : rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
}

static void process_destroy(void *self) {
   strategy_t *me = self;
   stage_program_close(&me->program);
   free(me);
}

static const rkb_strategy_t process = {
   .size = sizeof(rkb_strategy_t),
   .id = "rkb.strategy.process",
   .summary = "Chooses operators and parents with a program of yours.",
   RKB_OPTIONS(PROCESS_OPTIONS),
   .config_size = sizeof(process_config_t),
   .create = process_create,
   .ask = process_ask,
   .tell = process_tell,
   .destroy = process_destroy,
   .needs = (const char *const[]){RKB_EXT_CONVERSATION, RKB_EXT_RANDOM, NULL},
};

RKB_EXPORT const rkb_plugin_t rkb_plugin_entry = {
   RKB_PLUGIN_HEAD,
   .name = "process",
   .version = "0.1.0",
   .strategies = (const rkb_strategy_t *const[]){&process, NULL},
};
