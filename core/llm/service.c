/* Opening and closing the service (llm.h). */
#include <stdlib.h>
#include "base/memory.h"
#include "llm/llm_internal.h"

int rkb_llm_open(const rkb_llm_options_t *options, rkb_llm_t **out, rkb_error_t *err) {
   rkb_llm_t *llm = rkb_allocate(1, sizeof *llm);
   llm->options = *options;
   int status = RKB_OK;
   if (rkb_models_need_http(options->models) && !options->http)
      status = rkb_fail(err, RKB_ERR_UNAVAILABLE,
                        "this build has no HTTP client (it was configured with RKB_HTTP=OFF), and the "
                        "pipeline's models need one; only command: and replay: work without");
   if (status == RKB_OK)
      status = rkb_keys_open(options->models, &llm->keys, err);
   if (status == RKB_OK)
      status = rkb_ledger_open(options->archive, options->cost_limit, &llm->ledger, err);
   if (status == RKB_OK)
      llm->limits = rkb_limits_new(options->models);
   if (status != RKB_OK) {
      rkb_llm_close(llm);
      return status;
   }
   *out = llm;
   return RKB_OK;
}

void rkb_llm_close(rkb_llm_t *llm) {
   if (!llm)
      return;
   rkb_limits_free(llm->limits);
   rkb_ledger_close(llm->ledger);
   rkb_keys_close(llm->keys);
   free(llm);
}

void rkb_llm_money(rkb_llm_t *llm, double *charged, double *reserved) {
   rkb_ledger_state(llm->ledger, charged, reserved);
}

double rkb_llm_spent(rkb_llm_t *llm) {
   double charged, reserved;
   rkb_llm_money(llm, &charged, &reserved);
   return charged + reserved;
}

bool rkb_llm_is_over_budget(const rkb_llm_t *llm) {
   return __atomic_load_n(&llm->told_over_budget, __ATOMIC_RELAXED);
}

void rkb_llm_tell_over_budget(rkb_llm_t *llm, const rkb_model_t *model, double reservation) {
   char text[320];
   if (__atomic_exchange_n(&llm->told_over_budget, true, __ATOMIC_RELAXED))
      return;
   snprintf(text, sizeof text,
            "%.4f of %.2f USD are spent and reserved, and a question to model '%.60s' may cost %.4f: such "
            "questions "
            "are not asked any more; what is free goes on",
            rkb_llm_spent(llm), llm->options.cost_limit, model->face.name, reservation);
   if (llm->options.over_budget)
      llm->options.over_budget(llm->options.argument, text);
}
