/* Extension rkb.random/1.  A stage that proposes gets a stream keyed by the run's seed, the entry, the request and the child.  A
 * stage that judges gets one keyed by the run's secret, so that no candidate can be written for the sample. */
#include "base/random.h"
#include "base/secret.h"
#include "stage/candidate.h"
#include "stage/confined/confined.h"
#include "stage/extensions.h"
#include "stage/instance.h"

static rkb_random_t for_job(const rkb_host_t *host, rkb_job_t job, uint32_t child) {
   const rkb_owner_t *owner = rkb_owner_of(host);
   rkb_scope_t scope = {.section = RKB_SECTION_SEARCH, .request = -1};
   rkb_jobs_scope(owner->runtime->jobs, job, &scope);
   if (owner->runtime->confined_job) /* it never holds the secret */
      return rkb_confined_stream(owner->runtime->confined_job, child);
   if (scope.candidate)
      return rkb_secret_stream(&owner->runtime->secret, child & RKB_RANDOM_OF_RUN ? "" : scope.candidate->hash,
                               owner->entry->node.id, child);
   return rkb_random_stream(owner->runtime->pipeline->seed, owner->entry->node.id,
                            rkb_request_key(scope.section, scope.request), child);
}

const rkb_random_api_t RKB_RANDOM_API = {.size = sizeof RKB_RANDOM_API,
                                         .for_job = for_job,
                                         .next = rkb_random_next,
                                         .below = rkb_random_below,
                                         .real = rkb_random_real,
                                         .normal = rkb_random_normal};
