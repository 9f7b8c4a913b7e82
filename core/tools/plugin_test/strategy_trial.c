/* Asks and tells one strategy a few times, as the engine would.  Has the trial's process for itself. */
#include <string.h>
#include "base/json.h"
#include "base/random.h"
#include "tools/plugin_test/trial_host.h"
#include "tools/plugin_test/trial.h"
#include "plugin/registry.h"

enum { ASKS = 32, PROPOSED = 3 };

static const rkb_operator_t operators[] = {
   {.id = "tune", .stage = "rkb.mutator.tune", .weight = 3, .kind = RKB_MUTATOR},
   {.id = "seed", .stage = "rkb.translator.seed", .weight = 1, .kind = RKB_TRANSLATOR},
};

/* Tells the strategy a request with one candidate; parent 0: none. */
static int tell_one(const rkb_strategy_t *strategy, void *self, int64_t request, int64_t number,
                    int64_t parent, rkb_error_t *err) {
   static const char *const names[] = {"model.predicted_us"};
   const double values[] = {100.0 / (double)number};
   const rkb_told_t told = {.size = sizeof told,
                            .number = number,
                            .standing = "accept",
                            .reason = "",
                            .promoted = true,
                            .has_objective = true,
                            .objective = values[0],
                            .source_hash = "00000000000000000000000000000000",
                            .tune = "{\"BLOCK\":128}",
                            .parents = &parent,
                            .parent_count = parent ? 1 : 0,
                            .measurement_count = 1,
                            .measurement_names = names,
                            .measurement_values = values};
   const rkb_told_t *const candidates[] = {&told};
   const rkb_result_t result = {.size = sizeof result,
                                .candidate_count = 1,
                                .request = request,
                                .operator_id = request < 0 ? "seed" : "tune",
                                .candidates = candidates};
   return strategy->tell(self, &result, err);
}

/* Says what is wrong with an answer, or NULL.  Results of numbers up to told were told. */
static const char *answer_fault(const rkb_request_t *request, int64_t told) {
   rkb_error_t err;
   json_t *hints;
   bool is_object;
   if (request->operator_index >= sizeof operators / sizeof operators[0])
      return "it names an operator that is not there";
   if (request->parent_count > RKB_MAX_PARENTS || request->inspiration_count > RKB_MAX_PARENTS)
      return "it names more than RKB_MAX_PARENTS parents or inspirations";
   for (uint32_t i = 0; i < request->parent_count; i++)
      if (request->parents[i] < 1 || request->parents[i] > told)
         return "it names a parent that it was not told of";
   for (uint32_t i = 0; i < request->inspiration_count; i++)
      if (request->inspirations[i] < 1 || request->inspirations[i] > told)
         return "it names an inspiration that it was not told of";
   if (memchr(request->hints, '\0', sizeof request->hints) == NULL)
      return "its hints do not end";
   if (!request->hints[0])
      return NULL;
   hints = rkb_json_parse(request->hints, strlen(request->hints), &err);
   is_object = json_is_object(hints);
   json_decref(hints);
   return is_object ? NULL : "its hints are not a JSON object";
}

static const char *converse(const rkb_strategy_t *strategy, void *self, rkb_error_t *err) {
   int64_t told = 0;
   for (int i = 0; i < PROPOSED; i++)
      if (tell_one(strategy, self, -1 - i, ++told, 0, err) != RKB_OK)
         return "tell failed";
   for (int i = 0; i < ASKS; i++) {
      rkb_request_t request = {.size = sizeof request};
      int answer = strategy->ask(self, &request, err);
      if (answer == RKB_ASK_DONE)
         return NULL;
      if (answer < 0)
         return "ask failed";
      if (answer > RKB_ASK_DONE)
         return "ask returned what is not an enum rkb_ask";
      if (answer == RKB_ASK_OK && answer_fault(&request, told))
         return answer_fault(&request, told);
      int64_t parent = answer == RKB_ASK_OK && request.parent_count > 0 ? request.parents[0] : 0;
      if (tell_one(strategy, self, i, ++told, parent, err) != RKB_OK)
         return "tell failed";
   }
   return NULL;
}

void strategy_trial(const rkb_strategy_t *strategy, const char *with, report_t *report) {
   const rkb_setup_t setup = {.size = sizeof setup,
                              .window = 1,
                              .operators = operators,
                              .operator_count = sizeof operators / sizeof operators[0],
                              .objective = "model.predicted_us"};
   rkb_error_t err = {.message = ""};
   trial_config_t config;
   test_host_t host;
   void *self = NULL;
   const char *fault;
   trial_offsets(strategy->id, strategy->options, strategy->option_count, report);
   if (!trial_config_make(strategy->id, strategy->options, strategy->option_count, strategy->config_size,
                          with, &config, report))
      return;
   test_host_init(&host, "search");
   if (!test_host_offers(&host, strategy->id, RKB_NEEDS(strategy), report)) {
      /* the reason was reported already */
   } else if (strategy->create(&host.host, config.bytes, &setup, rkb_random_stream(1, "search", 0, 0), &self,
                               &err) != RKB_OK) {
      if (err.message[0])
         report_untried(report, "%s: create refused here: %s", strategy->id, err.message);
      else
         report_broken(report, "%s: create failed and left no sentence in err", strategy->id);
   } else {
      fault = converse(strategy, self, &err);
      strategy->destroy(self);
      if (fault)
         report_broken(report, "%s: %s%s%s", strategy->id, fault, err.message[0] ? ": " : "", err.message);
      else
         report_kept(report, "%s: it was asked and told %d times, and answered as rkb/strategy.h wants it",
                     strategy->id, ASKS);
   }
   if (!trial_config_intact(&config))
      report_broken(report, "%s: it wrote past the end of its config struct", strategy->id);
   test_host_free(&host);
   trial_config_free(&config);
}
