/* Extension rkb.lift/1: core/lift for plugins. */
#include <stdlib.h>
#include "lift/rewrite.h"
#include "lift/warnings.h"
#include "stage/extensions.h"
#include "stage/instance.h"

typedef struct asking {
   rkb_jobs_t *jobs;
   rkb_job_t job;
} asking_t;

static bool cancelled(void *argument) {
   const asking_t *asking = argument;
   return rkb_jobs_cancelled(asking->jobs, asking->job);
}

static const char *name(uint32_t index, const char **summary) {
   if (index >= LIFT_REWRITE_COUNT)
      return NULL;
   *summary = LIFT_REWRITES[index].summary;
   return LIFT_REWRITES[index].name;
}

static int rewrite(const rkb_host_t *host, rkb_job_t job, rkb_random_t *stream, const char *wanted, const char *source, char **changed,
                   char *note, size_t note_size, rkb_error_t *err) {
   asking_t asking = {rkb_owner_of(host)->runtime->jobs, job};
   return lift_rewrite(source, wanted, stream, cancelled, &asking, changed, note, note_size, err);
}

static void free_text(char *text) {
   free(text);
}

static int warnings(const rkb_host_t *host, rkb_job_t job, const char *source, rkb_lift_warnings_t **list, char *refusal,
                    size_t refusal_size, rkb_error_t *err) {
   asking_t asking = {rkb_owner_of(host)->runtime->jobs, job};
   return lift_warn(source, cancelled, &asking, list, refusal, refusal_size, err);
}

static uint32_t warnings_count(const rkb_lift_warnings_t *list) {
   return list->count;
}

static const rkb_lift_warning_t *warnings_at(const rkb_lift_warnings_t *list, uint32_t index) {
   return index < list->count ? &list->list[index] : NULL;
}

const rkb_lift_api_t RKB_LIFT_API = {.size = sizeof RKB_LIFT_API,
                                     .name = name,
                                     .rewrite = rewrite,
                                     .free_text = free_text,
                                     .warnings = warnings,
                                     .warnings_count = warnings_count,
                                     .warnings_at = warnings_at,
                                     .warnings_free = lift_warnings_free};
