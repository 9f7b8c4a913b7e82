/* Words for what limits a launch.  Owns nothing. */
#include "describe.h"
#include <stdio.h>

/* Below this share of wasted sectors a line is not worth a person's attention. */
#define WASTE_WORTH_SAYING 0.10

static double wasted_share(uint64_t sectors, uint64_t least) {
   return sectors > least ? (double)(sectors - least) / (double)sectors : 0;
}

static const rkb_line_counters_t *worst_line(const rkb_launch_counters_t *c) {
   const rkb_line_counters_t *worst = NULL;
   for (int i = 0; i < RKB_MAX_COUNTED_LINES; i++) {
      const rkb_line_counters_t *line = &c->lines[i];
      if (line->line == 0 || line->sectors <= line->least)
         continue;
      if (!worst || line->sectors - line->least > worst->sectors - worst->least)
         worst = line;
   }
   return worst;
}

void describe_launch(const launch_time_t *t, const rkb_launch_counters_t *c, char *out, size_t size) {
   double share = t->seconds > 0 ? t->part[t->limiter] / t->seconds : 0;
   int used = snprintf(out, size, "%s, %.0f %% of its time at peak", limiter_name(t->limiter), 100 * share);
   if (t->limiter == LIMIT_LATENCY && used > 0 && (size_t)used < size)
      used =
         snprintf(out, size, "latency: %u of %u warps resident a multiprocessor (limited by %s), %.1f waves",
                  t->occupancy.warps,
                  t->occupancy.share > 0 ? (unsigned)(t->occupancy.warps / t->occupancy.share + 0.5) : 0,
                  t->occupancy.limited_by ? t->occupancy.limited_by : "nothing", t->waves);
   if (used < 0 || (size_t)used >= size)
      return;
   uint64_t sectors = c->load_sectors + c->store_sectors, least = c->load_least + c->store_least;
   double wasted = wasted_share(sectors, least);
   const rkb_line_counters_t *line = worst_line(c);
   if (wasted >= WASTE_WORTH_SAYING && line)
      used +=
         snprintf(out + used, size - (size_t)used, "; %.0f %% of sectors wasted, most by the %s at line %u",
                  100 * wasted, line->is_store ? "store" : "load", line->line);
   if (used < 0 || (size_t)used >= size)
      return;
   if (c->shared_requests && c->shared_wavefronts > c->shared_requests)
      snprintf(out + used, size - (size_t)used, "; shared memory takes %.1f wavefronts a request",
               (double)c->shared_wavefronts / (double)c->shared_requests);
}

json_t *describe_launch_json(const rkb_plan_launch_t *launch, const launch_time_t *t,
                             const rkb_launch_counters_t *c) {
   char sentence[320];
   describe_launch(t, c, sentence, sizeof sentence);
   json_t *parts = json_object();
   for (int i = 0; parts && i < LIMIT_COUNT; i++)
      if (t->part[i] > 0)
         json_object_set_new(parts, limiter_name((enum limiter)i), json_real(t->part[i] * 1e6));
   return json_pack("{s:s, s:f, s:s, s:o, s:f, s:s, s:f, s:f, s:f, s:I, s:I, s:s}", "kernel",
                    launch->expression, "us", t->seconds * 1e6, "limiter", limiter_name(t->limiter),
                    "parts_us", parts, "occupancy", t->occupancy.share, "occupancy_limited_by",
                    t->occupancy.limited_by ? t->occupancy.limited_by : "", "waves", t->waves, "memory_bytes",
                    t->memory_bytes, "memory_share", t->memory_share, "blocks", (json_int_t)c->blocks,
                    "blocks_sampled", (json_int_t)c->executed, "sentence", sentence);
}
