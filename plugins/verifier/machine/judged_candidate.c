/* Opens and closes the candidate of a job (judged_candidate.h).  The worker thread of the job. */
#include "judged_candidate.h"

/* How much work is executed in a second on the machine that limits.execute speaks of. */
#define WORK_PER_SECOND 200e6

struct verifier verifier_of(const rkb_host_t *host, const struct verifier_config *config) {
   return (struct verifier){host,
                            config,
                            host->get_extension(host, RKB_EXT_TASK),
                            host->get_extension(host, RKB_EXT_KERNEL),
                            host->get_extension(host, RKB_EXT_RANDOM),
                            host->get_extension(host, RKB_EXT_WORKERS),
                            host->get_extension(host, RKB_EXT_CONFINED),
                            host->get_extension(host, RKB_EXT_INTERMEDIATES),
                            host->get_extension(host, RKB_EXT_SURVEY),
                            false};
}

static uint64_t budget_of(const struct verifier *me) {
   const double seconds = 1e-9 * (double)me->confined->processor_ns(me->host);
   return me->config->budget ? (uint64_t)me->config->budget : (uint64_t)(seconds * WORK_PER_SECOND);
}

int judged_candidate_open(const struct verifier *me, rkb_job_t job, const rkb_item_t *in,
                          struct candidate *candidate, rkb_error_t *err) {
   rkb_random_t environments = me->random->for_job(me->host, job, STREAM_ENVIRONMENT);
   const uint32_t flags = me->early ? RKB_BUILD_BENCH : me->config->debug ? RKB_BUILD_DEBUG : 0;
   rkb_manifest_t *manifest = NULL;
   rkb_finding_t finding = {0};
   *candidate = (struct candidate){.job = job,
                                   .item = in,
                                   .environment = me->random->next(&environments) >> 1 & ~UINT64_C(3),
                                   .seeds = me->random->for_job(me->host, job, STREAM_SEEDS),
                                   .budget = budget_of(me),
                                   .given = budget_of(me)};
   candidate->key = me->random->next(&environments);
   int status = me->kernel->build(me->host, job, in, flags, &candidate->build, &finding, err);
   if (status == RKB_OK && !candidate->build && me->early)
      return RKB_OK;
   if (status == RKB_OK && !candidate->build)
      status = rkb_fail(err, RKB_ERR_INTERNAL, "the candidate has no build: %s", finding.message);
   if (status == RKB_OK)
      status = me->kernel->manifest(me->host, me->host->item_text(me->host, in, "source"), &manifest,
                                    &finding, err);
   if (status == RKB_OK) {
      candidate->transform = manifest && manifest->transform;
      candidate->module = rkb_machine_module_read(candidate->build->ptx, candidate->build->ptx_bytes);
      candidate->word_count =
         candidate->module ? rkb_machine_words(candidate->module, candidate->words, MOST_WORDS) : 0;
      if (!candidate->module)
         status = rkb_fail(err, RKB_ERR_NOMEM, "no memory for the PTX");
   }
   if (manifest)
      me->kernel->manifest_free(manifest);
   return status;
}

void judged_candidate_close(const struct verifier *me, struct candidate *candidate) {
   for (uint32_t n = 0; n < candidate->large_count; n++)
      me->task->case_free(candidate->large[n]);
   for (uint32_t n = 0; n < candidate->wide_count; n++)
      me->task->case_free(candidate->wide[n]);
   rkb_machine_module_free(candidate->module);
   if (candidate->build)
      me->kernel->build_free(candidate->build);
}
