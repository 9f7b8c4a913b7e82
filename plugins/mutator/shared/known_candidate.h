/* Whether a child would repeat a candidate that its job may see.  Requests that are in flight do not see each
 * other's candidates. */
#ifndef RKB_MUTATOR_SHARED_KNOWN_CANDIDATE_H
#define RKB_MUTATOR_SHARED_KNOWN_CANDIDATE_H

#include <rkb/ext/archive.h>

/* tune: a JSON object as rkb_emit_candidate gets it; NULL: none.  If archive is NULL or cannot be read, no
 * candidate counts as known. */
bool candidate_is_known(const rkb_host_t *host, const rkb_archive_api_t *archive, rkb_job_t job, const char *source, const char *tune);

#endif
