/* Extension rkb.archive/1: reads, windowed by the request that a job belongs to. */
#include "stage/extensions.h"
#include "stage/instance.h"

#include <stddef.h>

/* False when the job's request may see no results: a request of the propose section. */
static bool horizon_of(const rkb_host_t *host, rkb_job_t job, int64_t *horizon, rkb_error_t *err,
                       int *status) {
   const rkb_runtime_t *runtime = rkb_owner_of(host)->runtime;
   rkb_scope_t scope;
   *status = RKB_OK;
   if (!rkb_jobs_scope(runtime->jobs, job, &scope)) {
      *status = rkb_fail(err, RKB_ERR_CANCELLED, "the job has ended");
      return false;
   }
   if (scope.section != RKB_SECTION_SEARCH)
      return false;
   *horizon = scope.request - (int64_t)runtime->pipeline->window;
   if (*horizon < -1)
      *horizon = -1;
   return true;
}

static int query(const rkb_host_t *host, rkb_job_t job, const rkb_archive_query_t *query,
                 rkb_archive_rows_t **rows, rkb_error_t *err) {
   int64_t horizon;
   int status;
   rkb_archive_query_t own;
   *rows = NULL;
   if (rkb_versioned_read(&own, sizeof own, query, offsetof(rkb_archive_query_t, parent), "rkb_archive_query_t", err) != RKB_OK)
      return RKB_ERR_CONTRACT;
   if (!horizon_of(host, job, &horizon, err, &status))
      return status;
   return rkb_archive_query(rkb_owner_of(host)->runtime->archive, horizon, &own, rows, err);
}

static uint32_t rows_count(const rkb_archive_rows_t *rows) {
   return rows ? rkb_archive_rows_count(rows) : 0;
}

static const rkb_archive_row_t *rows_at(const rkb_archive_rows_t *rows, uint32_t index) {
   return rows ? rkb_archive_rows_at(rows, index) : NULL;
}

static void rows_free(rkb_archive_rows_t *rows) {
   if (rows)
      rkb_archive_rows_free(rows);
}

static bool measurement(const rkb_host_t *host, rkb_job_t job, int64_t candidate, const char *name,
                        double *value, char *detail, size_t detail_size) {
   rkb_error_t err = {0};
   int64_t horizon;
   int status;
   bool found = false;
   if (!horizon_of(host, job, &horizon, &err, &status))
      return false;
   status = rkb_archive_measurement(rkb_owner_of(host)->runtime->archive, horizon, candidate, name, &found,
                                    value, detail, detail_size, &err);
   return status == RKB_OK && found;
}

static int64_t horizon(const rkb_host_t *host, rkb_job_t job, int64_t *window) {
   rkb_error_t err = {0};
   int64_t last = -1;
   int status;
   if (window)
      *window = (int64_t)rkb_owner_of(host)->runtime->pipeline->window;
   return horizon_of(host, job, &last, &err, &status) ? last : -1;
}

static int measured(const rkb_host_t *host, rkb_job_t job, int64_t candidate,
                    rkb_archive_measured_list_t **list, rkb_error_t *err) {
   int64_t horizon;
   int status;
   *list = NULL;
   if (!horizon_of(host, job, &horizon, err, &status))
      return status;
   return rkb_archive_measured(rkb_owner_of(host)->runtime->archive, horizon, candidate, list, err);
}

static uint32_t measured_count(const rkb_archive_measured_list_t *list) {
   return list ? rkb_archive_measured_count(list) : 0;
}

static const rkb_archive_measured_t *measured_at(const rkb_archive_measured_list_t *list, uint32_t index) {
   return list ? rkb_archive_measured_at(list, index) : NULL;
}

static void measured_free(rkb_archive_measured_list_t *list) {
   rkb_archive_measured_free(list);
}

const rkb_archive_api_t RKB_ARCHIVE_API = {.size = sizeof RKB_ARCHIVE_API,
                                           .query = query,
                                           .rows_count = rows_count,
                                           .rows_at = rows_at,
                                           .rows_free = rows_free,
                                           .measurement = measurement,
                                           .horizon = horizon,
                                           .measured = measured,
                                           .measured_count = measured_count,
                                           .measured_at = measured_at,
                                           .measured_free = measured_free};
