/* Estimates a case's times from its sittings: which of them count, and means with intervals (docs/timing.md).
 * Runs on a worker, which holds the device. */
#include "case_times.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Resolution of the driver's events, in milliseconds (CUDA driver API, cuEventElapsedTime). */
#define EVENT_RESOLUTION_MS 0.0005
#define ALPHA 0.01

/* By how much sittings may differ in what the worker's own fixed kernel takes. */
#define MOST_DRIFT 0.01

enum { MOST_SITTINGS = 6 };

/* All sittings' samples of one contender, in clusters. */
static samples_t gather(const struct sitting *sittings, size_t count, uint32_t contender, bool warm,
                        double *times, size_t *counts) {
   size_t at = 0;
   for (size_t i = 0; i < count; i++) {
      counts[i] = sittings[i].count;
      memcpy(times + at, warm ? sittings[i].warm[contender] : sittings[i].cold[contender],
             counts[i] * sizeof *times);
      at += counts[i];
   }
   return (samples_t){times, counts, count};
}

static int estimate(const struct sitting *sittings, size_t count, bool rival, struct timing *timing,
                    rkb_error_t *err) {
   size_t counts[2][MOST_SITTINGS], total = 0;
   timing->ratio = (estimate_t){NAN, NAN, NAN};
   for (size_t i = 0; i < count; i++)
      total += sittings[i].count;
   double *times = malloc((2 * total + 1) * sizeof *times);
   if (!times)
      return rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   samples_t own = gather(sittings, count, CANDIDATE, true, times, counts[0]);
   timing->warm = bootstrap_mean(&own, ALPHA, EVENT_RESOLUTION_MS, 2);
   own = gather(sittings, count, CANDIDATE, false, times, counts[0]);
   timing->cold = bootstrap_mean(&own, ALPHA, EVENT_RESOLUTION_MS, 1);
   if (rival) {
      samples_t other = gather(sittings, count, INCUMBENT, false, times + total, counts[1]);
      timing->ratio = bootstrap_ratio(&own, &other, ALPHA, EVENT_RESOLUTION_MS, 3);
   }
   timing->samples = total;
   size_t copied = 0;
   for (size_t i = 0; i < count; i++) {
      counts[0][i] = sittings[i].copy_count;
      if (copied + counts[0][i] <= 2 * total && counts[0][i])
         memcpy(times + copied, sittings[i].copies, counts[0][i] * sizeof *times);
      copied += counts[0][i];
   }
   timing->copy = copied <= 2 * total
                     ? bootstrap_mean(&(samples_t){times, counts[0], count}, ALPHA, EVENT_RESOLUTION_MS, 4)
                     : (estimate_t){NAN, NAN, NAN};
   free(times);
   return RKB_OK;
}

/* A sitting in which the worker's fixed work took another time was held under other conditions.  Moves such
 * sittings behind the others; returns how many are left. */
static size_t discard(struct sitting *sittings, size_t count) {
   double copies[MOST_SITTINGS], chains[MOST_SITTINGS], copy, chain;
   size_t kept = 0;
   for (size_t i = 0; i < count; i++) {
      copies[i] = sittings[i].copy_anchor;
      chains[i] = sittings[i].chain_anchor;
   }
   copy = trimmed_mean(copies, count);
   chain = trimmed_mean(chains, count);
   for (size_t i = 0; i < count; i++)
      if (fabs(sittings[i].copy_anchor - copy) <= MOST_DRIFT * copy + EVENT_RESOLUTION_MS / 2 &&
          fabs(sittings[i].chain_anchor - chain) <= MOST_DRIFT * chain + EVENT_RESOLUTION_MS / 2) {
         struct sitting swap = sittings[kept];
         sittings[kept++] = sittings[i];
         sittings[i] = swap;
      }
   return kept;
}

static int start_afresh(const struct timer *me, struct subject *subject, rkb_error_t *err) {
   const peer_place_t place = sitting_peer_place(me, subject);
   peer_forget(&place, subject->peer);
   return me->device->restart(subject->session, err);
}

int timing_of_case(const struct timer *me, struct subject *subject, rkb_random_t *stream,
                   struct timing *timing, rkb_error_t *err) {
   bool full = full_mode(me);
   size_t processes = full ? 2 : 1, allocations = full ? 3 : 1, done = 0;
   struct sitting sittings[MOST_SITTINGS] = {{.right = true}};
   int status = RKB_OK;
   timing->right = true;
   for (size_t p = 0; p < processes && status == RKB_OK && timing->right; p++) {
      stopwatch_turn(subject->watch, PHASE_DEVICE);
      if (p > 0)
         status = start_afresh(me, subject, err);
      if (status == RKB_OK)
         status = sitting_prepare(me, subject, err);
      for (size_t a = 0; a < allocations && status == RKB_OK && timing->right; a++) {
         status = sitting_run(me, subject, stream, &sittings[done], err);
         timing->right = sittings[done].right;
         memcpy(timing->wrong, sittings[done].wrong, sizeof timing->wrong);
         /* The candidate caused a fault or a hang of the timed runs, which ended the worker. */
         if (status == RKB_ERR_UNAVAILABLE) {
            timing->right = false;
            snprintf(timing->wrong, sizeof timing->wrong, "the timed runs ended the worker: %.200s",
                     err->message);
            status = start_afresh(me, subject, err);
         }
         done++;
      }
      if (status == RKB_OK)
         status = sitting_clear(me, subject, err);
   }
   stopwatch_turn(subject->watch, PHASE_OTHER);
   if (status == RKB_OK && timing->right) {
      timing->sittings = discard(sittings, done);
      timing->discarded = done - timing->sittings;
      timing->floor = sittings[0].floor;
      timing->copy_anchor = sittings[0].copy_anchor;
      timing->chain_anchor = sittings[0].chain_anchor;
      if (2 * timing->sittings < done) {
         timing->right = false;
         snprintf(
            timing->wrong, sizeof timing->wrong,
            "the device's speed changed between sittings: fewer than half of them agree on the anchors");
      } else {
         status = estimate(sittings, timing->sittings, subject->contender_count > 1, timing, err);
      }
   }
   for (size_t i = 0; i < done; i++)
      sitting_free(&sittings[i]);
   return status;
}
