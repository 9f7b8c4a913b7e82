/* The incumbent is kept in memory alone.  The archive says which candidate it was, so it can be built and
 * planned again. */
#include "incumbent_restore.h"
#include <rkb/ext/archive.h>
#include <rkb/items.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 64, MOST_CASES = 64 };

/* Returns the number of the row with the least time of this stage; count when none has one. */
static uint32_t fastest(const struct timer *me, const rkb_archive_api_t *archive, rkb_job_t job,
                        const rkb_archive_rows_t *rows, uint32_t count) {
   char name[256];
   uint32_t best = count;
   double least = 0, us;
   snprintf(name, sizeof name, "%s.us", me->host->instance_name);
   for (uint32_t i = 0; i < count; i++)
      if (archive->measurement(me->host, job, archive->rows_at(rows, i)->number, name, &us, NULL, 0) &&
          (best == count || us < least)) {
         best = i;
         least = us;
      }
   return best;
}

static int make_incumbent(const struct timer *me, rkb_job_t job, const rkb_item_t *item, rkb_error_t *err) {
   rkb_build_t *build = NULL;
   rkb_manifest_t *manifest = NULL;
   rkb_finding_t finding = {0};
   const rkb_case_t *the_case;
   uint32_t count = 0;
   rkb_plan_t **plans = calloc(MOST_CASES, sizeof *plans);
   int status = plans ? me->kernel->build(me->host, job, item, 0, &build, &finding, err)
                      : rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   if (status == RKB_OK && build)
      status = me->kernel->manifest(me->host, me->host->item_text(me->host, item, "source"), &manifest,
                                    &finding, err);
   bool whole = status == RKB_OK && build && manifest;
   while (whole && count < MOST_CASES &&
          (the_case = me->task->case_at(me->host, RKB_CASE_BENCH, count)) != NULL) {
      status = me->kernel->plan(me->host, job, item, build, the_case, &plans[count], &finding, err);
      whole = status == RKB_OK && plans[count];
      count += whole;
   }
   if (whole) {
      incumbent_replace(me->holder, NULL, me->kernel, build, manifest->transform, plans, count);
   } else {
      for (uint32_t i = 0; i < count; i++)
         me->kernel->plan_free(plans[i]);
      free(plans);
   }
   if (manifest)
      me->kernel->manifest_free(manifest);
   me->kernel->build_free(build);
   return status;
}

int incumbent_restore(const struct timer *me, rkb_job_t job, rkb_error_t *err) {
   const rkb_archive_api_t *archive = me->host->get_extension(me->host, RKB_EXT_ARCHIVE);
   const rkb_archive_query_t query = {
      .size = sizeof query, .order = RKB_ARCHIVE_BY_OBJECTIVE, .limit = MOST_ROWS, .standing = RKB_ACCEPT};
   rkb_archive_rows_t *rows = NULL;
   incumbent_t *present = incumbent_hold(me->holder);
   incumbent_release(me->holder, present);
   if (present || !archive)
      return RKB_OK;
   int status = archive->query(me->host, job, &query, &rows, err);
   if (status != RKB_OK)
      return status;
   uint32_t count = archive->rows_count(rows), best = fastest(me, archive, job, rows, count);
   if (best < count) {
      const rkb_archive_row_t *row = archive->rows_at(rows, best);
      rkb_item_t *item = me->host->item_new(me->host, RKB_ITEM_CANDIDATE);
      status = item ? me->host->item_set_text(me->host, item, "source", row->source)
                    : rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
      if (status == RKB_OK && row->tune)
         status = me->host->item_set_json(me->host, item, "tune", row->tune);
      if (status == RKB_OK)
         status = make_incumbent(me, job, item, err);
      if (status == RKB_OK)
         rkb_info(me->host, "candidate %lld is the incumbent again", (long long)row->number);
      me->host->item_unref(me->host, item);
   }
   archive->rows_free(rows);
   return status;
}
