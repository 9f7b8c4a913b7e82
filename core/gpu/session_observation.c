/* A profiler's observations of a plan from inside the worker: counters, activity, energy.  A session belongs
 * to the thread that began it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "base/text.h"
#include "gpu/session.h"

/* CUPTI repeats the run, and takes about 2 s to load its metrics. */
#define OBSERVE_NS (120ull * 1000000000ull)
enum { MOST_NAMES = 16384 };

static int gather_names(const char *const *metrics, uint32_t count, rkb_text_t *names, rkb_error_t *err) {
   if (count > RKB_WORKER_MAX_METRICS)
      return rkb_fail(err, RKB_ERR_INVALID, "%u metrics are more than %d", count, RKB_WORKER_MAX_METRICS);
   for (uint32_t i = 0; i < count; i++)
      rkb_text_append(names, metrics[i], strlen(metrics[i]) + 1);
   return names->cut ? rkb_fail(err, RKB_ERR_INVALID, "the metrics' names are longer than %d bytes", MOST_NAMES) : RKB_OK;
}

/* Reads a reply: the head, followed by all values or by none. */
static int read_observed(rkb_session_t *s, uint32_t launches, uint32_t width, const char *reply, size_t length,
                         rkb_observation_t *seen, double *values, rkb_error_t *err) {
   const size_t room = (size_t)launches * width * sizeof *values;
   rkb_worker_observed_t head;
   if (length < sizeof head)
      return rkb_session_disbelieve(s, "an observation without its head", err);
   memcpy(&head, reply, sizeof head);
   if (head.seen > RKB_SEEN_FAILED || head.launches != launches || length != sizeof head + (head.seen == RKB_SEEN ? room : 0) ||
       (head.seen == RKB_SEEN && head.metrics != width))
      return rkb_session_disbelieve(s, "an observation of another plan", err);
   *seen = (rkb_observation_t){.observed = head.seen, .passes = head.passes};
   head.message[sizeof head.message - 1] = '\0';
   rkb_worker_text_plain(head.message, strlen(head.message), false);
   memcpy(seen->message, head.message, sizeof seen->message);
   if (head.seen == RKB_SEEN)
      memcpy(values, reply + sizeof head, room);
   return RKB_OK;
}

int rkb_session_observe(rkb_session_t *s, uint32_t instance, uint32_t set, const char *const *metrics, uint32_t count,
                        uint32_t deadline_ms, rkb_observation_t *seen, double *values, rkb_error_t *err) {
   _Static_assert((int)RKB_ACTIVITY_COUNT == (int)RKB_ACTIVITY_VALUES, "activity travels as it is");
   _Static_assert(sizeof seen->message == sizeof((rkb_worker_observed_t *)NULL)->message, "so does the sentence");
   const uint32_t launches = instance < RKB_WORKER_MAX_INSTANCES ? s->launches[instance] : 0,
                  width = count ? count : RKB_ACTIVITY_VALUES;
   const rkb_worker_observe_t head = {.instance = instance,
                                      .set = set,
                                      .what = count ? RKB_OBSERVE_COUNTERS : RKB_OBSERVE_ACTIVITY,
                                      .deadline_ms = deadline_ms,
                                      .metrics = count};
   const size_t room = sizeof(rkb_worker_observed_t) + (size_t)launches * width * sizeof *values;
   size_t length = 0;
   int refusal = 0;
   rkb_text_t names;
   rkb_text_init(&names, MOST_NAMES);
   char *reply = NULL;
   int status = gather_names(metrics, count, &names, err);
   for (size_t i = 0; status == RKB_OK && i < (size_t)launches * width; i++)
      values[i] = NAN;
   if (status == RKB_OK)
      reply = rkb_try_uncleared(room, 1, err);
   if (status == RKB_OK && !reply)
      status = RKB_ERR_NOMEM;
   if (status == RKB_OK) {
      const rkb_piece_t pieces[] = {{&head, sizeof head}, {rkb_text_get(&names), names.length}};
      s->observed = true;
      if (!s->tool)
         rkb_device_settle(s->device);
      status = rkb_session_ask(s, RKB_WORKER_OBSERVE, pieces, 2, reply, room, &length, OBSERVE_NS, &refusal, err);
   }
   if (status == RKB_OK)
      status = refusal ? rkb_session_refused(refusal, err)
                       : read_observed(s, launches, width, reply, length, seen, values, err);
   free(reply);
   rkb_text_free(&names);
   return status;
}

/* No device draws more than this, so a worker that reports more is not believed. */
#define MOST_WATTS 1e5

int rkb_session_energy(rkb_session_t *s, uint32_t instance, uint32_t set, const rkb_energy_rounds_t *rounds, rkb_energy_spent_t *spent,
                       bool *counted, rkb_error_t *err) {
   _Static_assert(sizeof *spent == sizeof(rkb_worker_spent_t), "what was spent travels as it is");
   const rkb_worker_energy_t head = {.instance = instance,
                                     .set = set,
                                     .does = (rounds->prepare ? RKB_ENERGY_PREPARE : 0u) | (rounds->run ? RKB_ENERGY_RUN : 0u),
                                     .rounds = rounds->rounds,
                                     .least_ms = rounds->least_ms,
                                     .deadline_ms = rounds->deadline_ms};
   const uint64_t wait = RKB_REQUEST_NS + (uint64_t)rounds->rounds * (rounds->least_ms + rounds->deadline_ms) * 1000000ull;
   int refusal = 0;
   *counted = false;
   if (rounds->rounds == 0 || rounds->rounds > RKB_WORKER_MAX_ROUNDS)
      return rkb_fail(err, RKB_ERR_INVALID, "%u rounds: 1 to %d", rounds->rounds, RKB_WORKER_MAX_ROUNDS);
   if (!s->tool)
      rkb_device_settle(s->device);
   int status = rkb_session_ask(s, RKB_WORKER_ENERGY, &(rkb_piece_t){&head, sizeof head}, 1, spent,
                                rounds->rounds * sizeof *spent, NULL, wait, &refusal, err);
   if (status != RKB_OK || refusal == RKB_WORKER_NO_DEVICE)
      return status;
   if (refusal)
      return rkb_session_refused(refusal, err);
   for (uint32_t i = 0; i < rounds->rounds; i++)
      if (spent[i].nanoseconds == 0 || spent[i].runs == 0 ||
          !((double)spent[i].millijoules * 1e6 / (double)spent[i].nanoseconds < MOST_WATTS))
         return rkb_session_disbelieve(s, "a power that no device draws", err);
   *counted = true;
   return RKB_OK;
}
