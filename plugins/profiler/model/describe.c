/* Puts into words what limits a launch.  Owns nothing. */
#include "describe.h"
#include <math.h>
#include <stdio.h>
#include "shared/advice.h"

/* A line with a smaller share of wasted sectors is not reported. */
#define WASTE_WORTH_SAYING 0.10
/* A line with this share of the waste is named as its cause, and no others are. */
#define NEARLY_ALL 0.9

static double wasted_share(uint64_t sectors, uint64_t least) {
   return sectors > least ? (double)(sectors - least) / (double)sectors : 0;
}

/* Returns the index of the line that wastes most; RKB_MAX_COUNTED_LINES when none wastes any. */
static uint32_t worst_line(const rkb_launch_counters_t *c) {
   uint32_t worst = RKB_MAX_COUNTED_LINES;
   uint64_t most = 0;
   for (uint32_t i = 0; i < RKB_MAX_COUNTED_LINES; i++) {
      const rkb_line_counters_t *line = &c->lines[i];
      if (line->line != 0 && line->sectors > line->least && line->sectors - line->least > most) {
         most = line->sectors - line->least;
         worst = i;
      }
   }
   return worst;
}

/* Writes a name like "stride-2 loads". */
static void name_access(const rkb_line_access_t *access, bool store, char *out, size_t size) {
   const char *what = store ? "stores" : "loads";
   const long long stride = access->stride, bytes = access->bytes ? access->bytes : 1;
   switch ((enum rkb_access_shape)access->shape) {
   case RKB_ACCESS_STRIDED:
      if (stride % bytes == 0)
         snprintf(out, size, "stride-%lld %s", stride / bytes, what);
      else
         snprintf(out, size, "%s %lld bytes apart", what, stride);
      return;
   case RKB_ACCESS_ROWS:
      snprintf(out, size, "%s in rows shorter than a warp", what);
      return;
   case RKB_ACCESS_UNALIGNED:
      snprintf(out, size, "%s that start inside a sector", what);
      return;
   case RKB_ACCESS_SHORT:
      snprintf(out, size, "%s that end inside a sector", what);
      return;
   case RKB_ACCESS_ONE:
      snprintf(out, size, "%s of one address a warp", what);
      return;
   case RKB_ACCESS_SCATTERED:
      snprintf(out, size, "scattered %s", what);
      return;
   case RKB_ACCESS_MIXED:
      break;
   }
   snprintf(out, size, "%s", what);
}

/* Writes a part like "; 31 % of sectors wasted by stride-2 loads at line 41", or nothing. */
static void describe_waste(const rkb_launch_counters_t *c, char *out, size_t size) {
   const uint64_t sectors = c->load_sectors + c->store_sectors, least = c->load_least + c->store_least;
   const double wasted = wasted_share(sectors, least);
   const uint32_t worst = worst_line(c);
   char access[64];
   out[0] = '\0';
   if (wasted < WASTE_WORTH_SAYING || worst == RKB_MAX_COUNTED_LINES)
      return;
   const rkb_line_counters_t *line = &c->lines[worst];
   const double part = (double)(line->sectors - line->least) / (double)(sectors - least);
   name_access(&c->accesses[worst], line->is_store, access, sizeof access);
   snprintf(out, size, "; %.0f %% of sectors wasted%s by %s at line %u", 100 * wasted,
            part >= NEARLY_ALL ? ""
            : part >= 0.5      ? ", most"
                               : ", the largest part",
            access, line->line);
}

void describe_launch(const launch_time_t *t, const rkb_launch_counters_t *c, char *out, size_t size) {
   char waste[192];
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
   describe_waste(c, waste, sizeof waste);
   used += snprintf(out + used, size - (size_t)used, "%s", waste);
   if (used < 0 || (size_t)used >= size)
      return;
   if (c->shared_requests && c->shared_wavefronts > c->shared_requests)
      snprintf(out + used, size - (size_t)used, "; shared memory takes %.1f wavefronts a request",
               (double)c->shared_wavefronts / (double)c->shared_requests);
}

/* The figures by which the table of bottlenecks is asked. */
static launch_figures_t figures_of(const launch_time_t *t, const rkb_launch_counters_t *c) {
   const uint32_t worst = worst_line(c);
   const double ordinary = (double)(c->thread_instructions[RKB_CLASS_F32] + c->thread_instructions[RKB_CLASS_F16] +
                                    c->thread_instructions[RKB_CLASS_F64]);
   double tensor = 0;
   for (int i = 0; i < RKB_TENSOR_TYPE_COUNT; i++)
      tensor += (double)c->tensor_products[i];
   return (launch_figures_t){
      .resource = limiter_name(t->limiter),
      .share = t->seconds > 0 ? fmin(1, t->part[t->limiter] / t->seconds) : 0,
      .fixed_share = t->seconds > 0 ? t->floor / t->seconds : NAN,
      .wasted_sectors =
         wasted_share(c->load_sectors + c->store_sectors, c->load_least + c->store_least),
      .memory_share = t->memory_share,
      .wavefronts =
         c->shared_requests ? (double)c->shared_wavefronts / (double)c->shared_requests : NAN,
      .occupancy = t->occupancy.share,
      .waves = t->waves,
      .tensor_share = tensor + ordinary > 0 ? tensor / (tensor + ordinary) : 0,
      .line = worst < RKB_MAX_COUNTED_LINES ? c->lines[worst].line : 0,
      .occupancy_by = t->occupancy.limited_by};
}

json_t *describe_launch_json(const rkb_plan_launch_t *launch, const launch_time_t *t,
                             const rkb_launch_counters_t *c) {
   char sentence[320];
   describe_launch(t, c, sentence, sizeof sentence);
   json_t *parts = json_object();
   for (int i = 0; parts && i < LIMIT_COUNT; i++)
      if (t->part[i] > 0)
         json_object_set_new(parts, limiter_name((enum limiter)i), json_real(t->part[i] * 1e6));
   if (parts && t->stores > 0)
      json_object_set_new(parts, "stores after products", json_real(t->stores * 1e6));
   if (parts && t->clusters > 0)
      json_object_set_new(parts, "clusters", json_real(t->clusters * 1e6));
   const launch_figures_t figures = figures_of(t, c);
   json_t *advice = advice_json(&figures);
   return json_pack("{s:s, s:f, s:s, s:o, s:f, s:s, s:f, s:f, s:f, s:I, s:I, s:s, s:o*}", "kernel",
                    launch->expression, "us", t->seconds * 1e6, "limiter", limiter_name(t->limiter),
                    "parts_us", parts, "occupancy", t->occupancy.share, "occupancy_limited_by",
                    t->occupancy.limited_by ? t->occupancy.limited_by : "", "waves", t->waves, "memory_bytes",
                    t->memory_bytes, "memory_share", t->memory_share, "blocks", (json_int_t)c->blocks,
                    "blocks_sampled", (json_int_t)c->executed, "sentence", sentence, "advice", advice);
}
