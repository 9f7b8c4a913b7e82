/* From counters to a sentence (hardware_counters.h).  Owns nothing. */
#include "hardware_counters.h"
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include "advice.h"

/* If every unit is below this share of its peak, no unit limits the launch; the time that warps wait limits it.  Nsight Compute's section
 * "GPU Speed Of Light" has the same rule (Kernel Profiling Guide, 2025.3). */
#define LEAST_UTILISATION 60.0
/* A smaller share of wasted sectors is not reported. */
#define WASTE_WORTH_SAYING 0.10
#define WAIT_WORTH_SAYING 0.10
#define CONFLICTS_WORTH_SAYING 1.1

#define STALL(name) "smsp__average_warps_issue_stalled_" name "_per_issue_active.ratio"
#define PIPE(name) "sm__inst_executed_pipe_" name ".avg.pct_of_peak_sustained_active"

const char *const COUNTER_NAMES[COUNTER_COUNT] = {
   [COUNTER_TIME] = "gpu__time_duration.sum",
   [COUNTER_DRAM] = "dram__throughput.avg.pct_of_peak_sustained_elapsed",
   [COUNTER_L2] = "lts__t_sectors.avg.pct_of_peak_sustained_elapsed",
   [COUNTER_SHARED] = "l1tex__data_pipe_lsu_wavefronts_mem_shared.avg.pct_of_peak_sustained_elapsed",
   [COUNTER_LOAD_STORE] = PIPE("lsu"),
   [COUNTER_ISSUE] = "smsp__issue_active.avg.pct_of_peak_sustained_active",
   [COUNTER_FMA] = PIPE("fma"),
   [COUNTER_FP64] = PIPE("fp64"),
   [COUNTER_HALF] = PIPE("fma_type_fp16"),
   [COUNTER_HALF_UNITS] = PIPE("fp16"),
   [COUNTER_ALU] = PIPE("alu"),
   [COUNTER_SPECIAL] = PIPE("xu"),
   [COUNTER_TENSOR] = "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",
   [COUNTER_WARPS] = "sm__warps_active.avg.pct_of_peak_sustained_active",
   [COUNTER_DRAM_BYTES] = "dram__bytes.sum",
   [COUNTER_L2_HITS] = "lts__t_sector_hit_rate.pct",
   [COUNTER_LOAD_SECTORS] = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
   [COUNTER_LOAD_REQUESTS] = "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
   [COUNTER_STORE_SECTORS] = "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
   [COUNTER_STORE_REQUESTS] = "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
   [COUNTER_LOAD_USED] = "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct",
   [COUNTER_STORE_USED] = "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct",
   [COUNTER_CONFLICTS] = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum",
   [COUNTER_WAVEFRONTS] = "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
   [COUNTER_ACTIVE] = "smsp__average_warps_active_per_issue_active.ratio",
   [COUNTER_WAIT_MEMORY] = STALL("long_scoreboard"),
   [COUNTER_WAIT_SHORT] = STALL("short_scoreboard"),
   [COUNTER_WAIT_BARRIER] = STALL("barrier"),
   [COUNTER_WAIT_PIPE] = STALL("math_pipe_throttle"),
   [COUNTER_WAIT_LG] = STALL("lg_throttle"),
   [COUNTER_WAIT_MIO] = STALL("mio_throttle"),
   [COUNTER_WAIT_FETCH] = STALL("no_instruction"),
   [COUNTER_WAIT_GMMA] = STALL("gmma"),
};

/* The resource that each unit's share of its peak is about. */
static const struct {
   enum counter counter;
   enum limiter limiter;
} UNITS[] = {
   {COUNTER_DRAM, LIMIT_MEMORY},    {COUNTER_L2, LIMIT_L2},        {COUNTER_SHARED, LIMIT_SHARED},
   {COUNTER_TENSOR, LIMIT_TENSOR},  {COUNTER_FMA, LIMIT_F32},      {COUNTER_FP64, LIMIT_F64},
   {COUNTER_HALF, LIMIT_F16},       {COUNTER_HALF_UNITS, LIMIT_F16}, {COUNTER_ALU, LIMIT_INTEGER},
   {COUNTER_SPECIAL, LIMIT_SPECIAL}, {COUNTER_LOAD_STORE, LIMIT_LOAD_STORE}, {COUNTER_ISSUE, LIMIT_ISSUE},
};

static double known(double value) {
   return isfinite(value) && value > 0 ? value : 0;
}

/* Returns the largest share of a peak, in percent; *limiter is its resource. */
static double largest_share(const double *values, enum limiter *limiter) {
   double largest = 0;
   *limiter = LIMIT_LATENCY;
   for (size_t i = 0; i < sizeof UNITS / sizeof UNITS[0]; i++)
      if (known(values[UNITS[i].counter]) > largest) {
         largest = values[UNITS[i].counter];
         *limiter = UNITS[i].limiter;
      }
   return largest;
}

enum limiter counted_limiter(const double *values) {
   enum limiter limiter;
   return largest_share(values, &limiter) >= LEAST_UTILISATION ? limiter : LIMIT_LATENCY;
}

/* Returns the share of the bytes in all sectors asked for that no lane wanted; NAN where it was not read. */
static double wasted_share(const double *v) {
   const double loads = known(v[COUNTER_LOAD_SECTORS]), stores = known(v[COUNTER_STORE_SECTORS]);
   const double used = loads * known(v[COUNTER_LOAD_USED]) + stores * known(v[COUNTER_STORE_USED]);
   return loads + stores > 0 && used > 0 ? fmax(0, 1 - used / 100 / (loads + stores)) : NAN;
}

/* Returns wavefronts, divided by those without bank conflicts: 1 when there are no conflicts. */
static double conflict_factor(const double *v) {
   const double all = known(v[COUNTER_WAVEFRONTS]), without = all - known(v[COUNTER_CONFLICTS]);
   return without > 0 ? all / without : NAN;
}

static double waiting(const double *v, enum counter counter) {
   return known(v[COUNTER_ACTIVE]) > 0 ? fmin(1, known(v[counter]) / v[COUNTER_ACTIVE]) : 0;
}

static launch_figures_t figures_of(const counted_launch_t *l) {
   const double *v = l->values;
   enum limiter largest;
   const double share = largest_share(v, &largest), tensor = known(v[COUNTER_TENSOR]), fma = known(v[COUNTER_FMA]);
   const enum limiter limiter = counted_limiter(v);
   return (launch_figures_t){
      .resource = limiter_name(limiter),
      .share = limiter == LIMIT_LATENCY ? 1 - share / 100 : share / 100,
      .fixed_share = l->empty_launch_s * 1e9 / v[COUNTER_TIME],
      .wasted_sectors = wasted_share(v),
      .memory_share = v[COUNTER_DRAM] / 100,
      .wavefronts = conflict_factor(v),
      .occupancy = v[COUNTER_WARPS] / 100,
      .waves = l->waves,
      .tensor_share = tensor + fma > 0 ? tensor / (tensor + fma) : 0,
      .waits_barrier = waiting(v, COUNTER_WAIT_BARRIER),
      .waits_memory = waiting(v, COUNTER_WAIT_MEMORY),
      .waits_shared = waiting(v, COUNTER_WAIT_SHORT),
      .waits_queue = fmin(1, waiting(v, COUNTER_WAIT_LG) + waiting(v, COUNTER_WAIT_MIO)),
      .waits_pipe = waiting(v, COUNTER_WAIT_PIPE),
      .waits_fetch = waiting(v, COUNTER_WAIT_FETCH),
      .waits_tensor = waiting(v, COUNTER_WAIT_GMMA),
      .occupancy_by = l->occupancy_by};
}

/* Finds what warps wait for most, and for which share of their time. */
static double longest_wait(const launch_figures_t *f, const char **what) {
   const struct {
      double share;
      const char *what;
   } waits[] = {
      {f->waits_memory, "global memory"}, {f->waits_barrier, "barriers"},       {f->waits_shared, "shared memory"},
      {f->waits_queue, "room in the load and store queues"},                   {f->waits_pipe, "a busy unit"},
      {f->waits_fetch, "instructions"},   {f->waits_tensor, "matrix instructions"},
   };
   double longest = 0;
   for (size_t i = 0; i < sizeof waits / sizeof waits[0]; i++)
      if (waits[i].share > longest) {
         longest = waits[i].share;
         *what = waits[i].what;
      }
   return longest;
}

static void append(char *out, size_t size, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static void append(char *out, size_t size, const char *fmt, ...) {
   const size_t used = strlen(out);
   va_list ap;
   va_start(ap, fmt);
   vsnprintf(out + used, size - used, fmt, ap);
   va_end(ap);
}

static void describe(const counted_launch_t *l, const launch_figures_t *f, char *out, size_t size) {
   enum limiter largest;
   const double share = largest_share(l->values, &largest);
   const char *what = "";
   const double wait = longest_wait(f, &what);
   out[0] = '\0';
   if (counted_limiter(l->values) == LIMIT_LATENCY)
      append(out, size, "latency: no unit above %.0f %% of its peak (%s)", share, share > 0 ? limiter_name(largest) : "none");
   else
      append(out, size, "%s, %.0f %% of peak", limiter_name(largest), share);
   if (wait >= WAIT_WORTH_SAYING)
      append(out, size, "; warps wait %.0f %% of their time for %s", 100 * wait, what);
   if (f->wasted_sectors >= WASTE_WORTH_SAYING)
      append(out, size, "; %.0f %% of sectors wasted", 100 * f->wasted_sectors);
   if (f->wavefronts >= CONFLICTS_WORTH_SAYING)
      append(out, size, "; bank conflicts make %.1f wavefronts of one", f->wavefronts);
   if (isfinite(f->occupancy))
      append(out, size, "; %.0f %% of the warps resident%s%s", 100 * f->occupancy, l->occupancy_by ? ", limited by " : "",
             l->occupancy_by ? l->occupancy_by : "");
   if (isfinite(l->waves))
      append(out, size, ", %.1f waves", l->waves);
}

json_t *counted_launch_json(const counted_launch_t *l) {
   const launch_figures_t figures = figures_of(l);
   char sentence[256];
   describe(l, &figures, sentence, sizeof sentence);
   json_t *counters = json_object();
   for (int i = 0; counters && i < COUNTER_COUNT; i++)
      if (isfinite(l->values[i]))
         json_object_set_new(counters, COUNTER_NAMES[i], json_real(l->values[i]));
   return json_pack("{s:s, s:f, s:s, s:s, s:o*, s:o}", "kernel", l->kernel, "us", known(l->values[COUNTER_TIME]) / 1e3,
                    "limiter", limiter_name(counted_limiter(l->values)), "sentence", sentence, "advice",
                    advice_json(&figures), "counters", counters);
}
