/* Extension rkb.library/1: the library entries that the run read before it began, sorted by nearness to a job. */
#include <stdlib.h>
#include <string.h>
#include "library/library.h"
#include "library/retrieval.h"
#include "stage/extensions.h"
#include "stage/instance.h"
#include "stage/library_subject.h"

/* The bottleneck of a visible candidate, or "". */
static void limiter_of(const rkb_host_t *host, rkb_job_t job, int64_t candidate, char *out, size_t size) {
   rkb_archive_measured_list_t *list = NULL;
   rkb_limiter_t limiter = {0};
   rkb_error_t err = {0};
   out[0] = '\0';
   if (!candidate || !rkb_owner_of(host)->runtime->archive || RKB_ARCHIVE_API.measured(host, job, candidate, &list, &err) != RKB_OK)
      return;
   uint32_t count = list ? rkb_archive_measured_count(list) : 0;
   rkb_measurement_record_t *records = rkb_allocate(count + 1, sizeof *records);
   for (uint32_t i = 0; i < count; i++) {
      const rkb_archive_measured_t *row = rkb_archive_measured_at(list, i);
      records[i] = (rkb_measurement_record_t){.name = row->name, .value = row->value, .case_name = row->case_name, .detail = row->detail};
   }
   if (rkb_limiter_of_slowest(records, count, NULL, &limiter))
      rkb_library_limiter(&limiter, out, size);
   free(records);
   rkb_archive_measured_free(list);
}

/* Keeps the count nearest in order; a run reads few entries (library_record.c), so inserting is quick enough. */
static uint32_t insert(const rkb_elite_t *like, const rkb_elite_t **nearest, uint32_t count, uint32_t limit, const rkb_elite_t *elite) {
   uint32_t at = count;
   while (at && rkb_elite_compare(like, elite, nearest[at - 1]) < 0)
      at--;
   if (at == limit)
      return count;
   const uint32_t kept = count < limit ? count : limit - 1;
   memmove(&nearest[at + 1], &nearest[at], (kept - at) * sizeof nearest[0]);
   nearest[at] = elite;
   return kept + 1;
}

static uint32_t nearest(const rkb_host_t *host, rkb_job_t job, int64_t candidate, rkb_library_row_t *rows, uint32_t limit) {
   const rkb_runtime_t *runtime = rkb_owner_of(host)->runtime;
   const rkb_library_t *library = runtime->library;
   char limiter[RKB_ELITE_MOST_WORD];
   rkb_elite_t like;
   uint32_t count = 0;
   if (!limit || !library->count)
      return 0;
   rkb_library_subject(runtime->pipeline, &like);
   limiter_of(host, job, candidate, limiter, sizeof limiter);
   like.limiter = limiter;
   const rkb_elite_t **found = rkb_allocate(library->count + 1, sizeof *found);
   if (limit > library->count)
      limit = library->count;
   for (uint32_t i = 0; i < library->count; i++)
      count = insert(&like, found, count, limit, &library->elites[i]);
   for (uint32_t i = 0; i < count; i++)
      rows[i] = (rkb_library_row_t){.identity = found[i]->identity,
                                    .task = found[i]->task,
                                    .direction = found[i]->direction,
                                    .device = found[i]->device,
                                    .limiter = found[i]->limiter,
                                    .objective = found[i]->objective,
                                    .score = found[i]->score,
                                    .source = found[i]->source,
                                    .tune = found[i]->tune,
                                    .same_task = strcmp(found[i]->task_hash, like.task_hash) == 0};
   free(found);
   return count;
}

const rkb_library_api_t RKB_LIBRARY_API = {.size = sizeof RKB_LIBRARY_API, .nearest = nearest};
