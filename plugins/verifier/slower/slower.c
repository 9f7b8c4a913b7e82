/* rkb.verifier.slower - gives unknown to a candidate that is predicted slower than many accepted ones, so that no whole check is spent on it.
 *
 * Says nothing of whether the candidate is right.  Compares with the candidates that its request may see, so that the answer does not
 * depend on the number of cores.  Owns nothing between jobs; runs on workers, any number at a time. */
#include <rkb/ext/archive.h>
#include <rkb/ext/kernel.h>
#include <rkb/items.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "prediction/prediction.h"

#define SAME                                                                                                 \
   1e-9 /* of a time: two kernels whose bench cases execute the same instructions have equal times, but for the order of sums */

typedef struct slower_config {
   const char *measurement;
   int64_t rank;
   double within;
   bool equal;
} slower_config_t;

typedef struct slower {
   const rkb_host_t *host;
   const slower_config_t *config;
   const rkb_kernel_api_t *kernel;
   const rkb_archive_api_t *archive;
} slower_t;

static int slower_create(const rkb_host_t *host, const void *config, void **self, rkb_error_t *err) {
   slower_t *me = malloc(sizeof *me);
   if (!me)
      return rkb_fail(err, RKB_ERR_NOMEM, "cannot allocate %zu bytes", sizeof *me);
   *me = (slower_t){host, config, host->get_extension(host, RKB_EXT_KERNEL),
                    host->get_extension(host, RKB_EXT_ARCHIVE)};
   *self = me;
   return RKB_OK;
}

/* The longest predicted time of the best accepted candidates that were predicted, as many as rank says; infinite where there are fewer
 * among twice as many of the best.  *equal: one of them has the time us. */
static int find_limit(const slower_t *me, rkb_job_t job, double us, double *limit, bool *equal,
                      rkb_error_t *err) {
   const uint32_t rank = (uint32_t)me->config->rank;
   const rkb_archive_query_t query = {
      .size = sizeof query, .limit = 2 * rank, .order = RKB_ARCHIVE_BY_OBJECTIVE, .standing = RKB_ACCEPT};
   rkb_archive_rows_t *rows = NULL;
   double longest = 0, known;
   uint32_t found = 0;
   *equal = false;
   int status = me->archive->query(me->host, job, &query, &rows, err);
   for (uint32_t i = 0; status == RKB_OK && found < rank && i < me->archive->rows_count(rows); i++)
      if (me->archive->measurement(me->host, job, me->archive->rows_at(rows, i)->number,
                                   me->config->measurement, &known, NULL, 0)) {
         longest = fmax(longest, known);
         *equal |= fabs(us - known) <= SAME * known;
         found++;
      }
   *limit = found < rank ? INFINITY : longest;
   me->archive->rows_free(rows);
   return status;
}

static int slower_run(void *self, rkb_job_t job, const rkb_item_t *in, rkb_error_t *err) {
   const slower_t *me = self;
   double us = 0, limit = INFINITY;
   char message[160] = "", evidence[160];
   bool equal = false;
   (void)in;
   const bool predicted = prediction_read(me->kernel, me->host, job, &us);
   int status = predicted ? find_limit(me, job, us, &limit, &equal, err) : RKB_OK;
   if (status != RKB_OK)
      return status;
   if (!predicted)
      return rkb_emit_verdict(me->host, job, RKB_ACCEPT, "", "nothing was predicted, so it is checked");
   if (equal && me->config->equal) {
      snprintf(message, sizeof message,
               "predicted %.4g us, as is one of the best accepted kernels, so it was not checked", us);
      snprintf(evidence, sizeof evidence, "{\"predicted_us\":%.9g}", us);
      return rkb_emit_verdict_full(me->host, job, RKB_UNKNOWN, "search.slower", message, evidence, NULL);
   }
   if (!isfinite(limit))
      return rkb_emit_verdict(me->host, job, RKB_ACCEPT, "",
                              "too few accepted kernels are known to compare with");
   const char *const kernels =
      me->config->rank == 1 ? "the best accepted kernel" : "each of the best accepted kernels";
   if (us <= limit * (1 + me->config->within)) {
      snprintf(message, sizeof message, "predicted %.4g us, not slower than %s (%.4g us)", us, kernels,
               limit);
      return rkb_emit_verdict(me->host, job, RKB_ACCEPT, "", message);
   }
   snprintf(message, sizeof message, "predicted %.4g us, slower than %s (%.4g us), so it was not checked", us,
            kernels, limit);
   snprintf(evidence, sizeof evidence, "{\"kernels\":%lld,\"limit_us\":%.9g,\"predicted_us\":%.9g}",
            (long long)me->config->rank, limit, us);
   return rkb_emit_verdict_full(me->host, job, RKB_UNKNOWN, "search.slower", message, evidence, NULL);
}

static void slower_destroy(void *self) {
   free(self);
}

static const rkb_option_t options[] = {
   {.name = "measurement",
    .type = RKB_OPT_STRING,
    .offset = offsetof(slower_config_t, measurement),
    .fallback = "guess.predicted_us",
    .help =
       "The accepted candidates' time to compare with: the one that the same stage predicted which predicts this candidate's."},
   {.name = "rank",
    .type = RKB_OPT_INT,
    .offset = offsetof(slower_config_t, rank),
    .fallback = "12",
    .min = 1,
    .max = 2048,
    .help =
       "A candidate must be slower than so many accepted ones, the best, to be left unchecked; while fewer are known, all are checked."},
   {.name = "within",
    .type = RKB_OPT_REAL,
    .offset = offsetof(slower_config_t, within),
    .fallback = "0",
    .min = 0,
    .max = 100,
    .help = "How much slower than these it may be and is checked all the same: 0.05 is five percent."},
   {.name = "equal",
    .type = RKB_OPT_BOOL,
    .offset = offsetof(slower_config_t, equal),
    .fallback = "false",
    .help =
       "Whether a candidate with the very time of one of them is left unchecked too: its change is mostly in a launch of other sizes, or none."},
};

static const rkb_stage_t slower = {
   .size = sizeof(rkb_stage_t),
   .kind = RKB_VERIFIER,
   .flags = RKB_STAGE_DETERMINISTIC,
   .id = "rkb.verifier.slower",
   .summary = "Gives unknown to a candidate that is predicted slower than many accepted ones.",
   .accepts = (const char *const[]){RKB_ITEM_CANDIDATE, NULL},
   .emits = (const char *const[]){RKB_ITEM_VERDICT, NULL},
   RKB_OPTIONS(options),
   .config_size = sizeof(slower_config_t),
   .create = slower_create,
   .run = slower_run,
   .destroy = slower_destroy,
   .needs = (const char *const[]){RKB_EXT_KERNEL, RKB_EXT_ARCHIVE, NULL},
};

RKB_EXPORT const rkb_plugin_t rkb_plugin_entry = {
   RKB_PLUGIN_HEAD,
   .name = "slower",
   .version = "0.1.0",
   .stages = (const rkb_stage_t *const[]){&slower, NULL},
};
