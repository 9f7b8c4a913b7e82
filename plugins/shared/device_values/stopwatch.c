/* A clock that counts time for one phase at a time. */
#include "stopwatch.h"
#include <time.h>

static uint64_t now_ns(void) {
   struct timespec now;
   clock_gettime(CLOCK_MONOTONIC, &now);
   return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void stopwatch_start(stopwatch_t *watch) {
   *watch = (stopwatch_t){.since_ns = now_ns(), .phase = PHASE_OTHER};
}

enum phase stopwatch_turn(stopwatch_t *watch, enum phase phase) {
   const enum phase before = watch->phase;
   const uint64_t now = now_ns();
   watch->spent_ns[before] += now - watch->since_ns;
   watch->since_ns = now;
   watch->phase = phase;
   return before;
}

json_t *stopwatch_json(stopwatch_t *watch) {
   static const char *const names[PHASES] = {"other", "device", "plan",   "open",    "stage", "run",
                                             "time",  "own",    "expect", "compare", "close"};
   json_t *all = json_object();
   double sum = 0;
   stopwatch_turn(watch, watch->phase);
   for (int i = 0; i < PHASES; i++) {
      const double ms = (double)watch->spent_ns[i] * 1e-6;
      sum += ms;
      if (watch->spent_ns[i])
         json_object_set_new(all, names[i], json_real(ms));
   }
   json_object_set_new(all, "all", json_real(sum));
   return all;
}
