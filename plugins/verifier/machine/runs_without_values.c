/* Runs without values.  They show how often blocks execute each instruction and which bytes they write, and not which values they leave.
 * If no input reaches control or an address, these results are the same on any values.  So no values are made and no matrices are
 * multiplied.  Inputs that reached control or an address in check cases have their values all the same.  Often parameters alone decide
 * which bytes are written; then only the instructions that decide it are executed.  One worker thread a sample. */
#include "bench_values.h"
#include "machine/state/run_counts.h"

#include <string.h>

#define LIGHT_TIMES 4u /* what a block of a far shape may do, times what the last one does */

int sample_run_once(const struct sample *s, const rkb_machine_options_t *options,
                    const rkb_machine_buffer_t *buffers, rkb_machine_t **machine,
                    rkb_machine_report_t *report, rkb_error_t *err) {
   int status = rkb_machine_open(s->candidate->module, s->plan, options, machine, err);
   if (status == RKB_OK)
      status = rkb_machine_run(*machine, buffers, err);
   if (status == RKB_OK)
      rkb_machine_report(*machine, report);
   return status;
}

uint64_t sample_deciding(const struct sample *s) {
   uint64_t deciding = 0;
   for (uint32_t n = 0; s->deciding && n < s->plan->buffer_count && n < RKB_MACHINE_BUFFER_BITS - 1; n++)
      for (size_t k = 0; k < json_array_size(s->deciding); k++)
         if (s->plan->buffers[n].role == RKB_IN &&
             strcmp(json_string_value(json_array_get(s->deciding, k)), s->plan->buffers[n].name) == 0)
            deciding |= UINT64_C(1) << n;
   return deciding;
}

uint32_t sample_writing_launch(const struct sample *s) {
   uint32_t launch = s->plan->launch_count, count = 0;
   for (uint32_t n = 0; n < s->plan->launch_count; n++) {
      bool writes = false;
      for (uint32_t b = 0; b < s->plan->buffer_count; b++)
         writes |= sample_is_output(&s->plan->buffers[b]) && (s->stores[n] >> (b < 63 ? b : 63) & 1);
      launch = writes ? n : launch;
      count += writes;
   }
   return count == 1 ? launch : s->plan->launch_count;
}

bool sample_needs_values(const struct sample *s, uint64_t deciding) {
   uint64_t needed = 0, others = 0;
   for (uint32_t n = 0; n < s->plan->buffer_count; n++)
      if (s->plan->buffers[n].role == RKB_IN)
         *(n < RKB_MACHINE_BUFFER_BITS - 1 && (deciding >> n & 1) ? &needed : &others) +=
            s->plan->buffers[n].bytes;
   return needed > others;
}

bool sample_is_steered(const rkb_machine_options_t *options, const rkb_machine_report_t *report) {
   return (report->control_taint | report->address_taint) & ~options->valued;
}

int sample_run_for_steps(struct sample *s, const rkb_machine_options_t *options,
                         const rkb_machine_buffer_t *buffers, rkb_machine_t **machine,
                         rkb_machine_report_t *report, rkb_error_t *err) {
   rkb_machine_options_t own = *options;
   if (sample_needs_values(s, options->valued))
      return sample_run_once(s, options, buffers, machine, report, err);
   own.no_values = true;
   own.checks |= RKB_MACHINE_TAINT;
   int status = sample_run_once(s, &own, buffers, machine, report, err);
   if (status != RKB_OK || !(report->finding_count || sample_is_steered(&own, report)))
      return status;
   /* An input without values steers the run, or something was found: a run with values may show more. */
   sample_spend(s, report->work);
   own = *options;
   if (own.thread_instructions > s->candidate->budget)
      own.thread_instructions = s->candidate->budget ? s->candidate->budget : 1; /* 0 would be no limit */
   rkb_machine_close(*machine);
   *machine = NULL;
   return sample_run_once(s, &own, buffers, machine, report, err);
}

int sample_run_for_stores(struct sample *s, const rkb_machine_options_t *options,
                          const rkb_machine_buffer_t *buffers, rkb_machine_t **machine,
                          rkb_machine_report_t *report, rkb_error_t *err) {
   rkb_machine_options_t own = *options;
   own.stores_alone = true;
   const int status = sample_run_once(s, &own, buffers, machine, report, err);
   if (status == RKB_OK && report->finding_count)
      sample_spend(s, report->work);
   else if (status != RKB_ERR_INVALID)
      return status;
   /* More than parameters decides which bytes are stored, or something was found: a whole run shows what. */
   own = *options;
   if (own.thread_instructions > s->candidate->budget)
      own.thread_instructions = s->candidate->budget ? s->candidate->budget : 1; /* 0 would be no limit */
   rkb_machine_close(*machine);
   *machine = NULL;
   return sample_run_for_steps(s, &own, buffers, machine, report, err);
}

/* Whether all that was found is that the work ended. */
static bool was_cut(const rkb_machine_report_t *report) {
   bool cut = report->finding_count != 0;
   for (uint32_t n = 0; n < report->finding_count; n++)
      cut &= strcmp(report->findings[n].reason, "limit.budget") == 0;
   return cut;
}

/* Whether the sample surely takes less than its limit, as the last blocks tell. */
static bool is_light(const struct sample *s, const rkb_machine_options_t *options) {
   const uint64_t blocks = s->blocks.judged[0].count;
   return s->last_work && LIGHT_TIMES * blocks * s->last_work <= options->thread_instructions &&
          LIGHT_TIMES * blocks * s->last_products <= MACHINE_FREE_PRODUCTS;
}

int sample_run_to_limit(struct sample *s, const rkb_machine_options_t *options, bool *enough,
                        rkb_error_t *err) {
   const rkb_machine_module_t *module = s->candidate->module;
   const char *entry = s->plan->launches[0].entry;
   rkb_machine_options_t own = *options;
   rkb_machine_report_t report;
   *enough = false;
   if (is_light(s, options) || !rkb_machine_contains(module, entry, "wgmma.mma_async") ||
       !rkb_machine_contains(module, entry, "cp.async.bulk.tensor"))
      return RKB_OK;
   own.no_values = own.charged = true;
   own.checks |= RKB_MACHINE_TAINT;
   const int status = sample_run_once(s, &own, s->buffers, &s->machine, &report, err);
   *enough = status == RKB_OK && was_cut(&report) && !(report.control_taint | report.address_taint);
   if (*enough)
      sample_spend(s, report.work);
   if (status != RKB_OK || *enough)
      return status;
   return sample_start_again(s, err);
}
