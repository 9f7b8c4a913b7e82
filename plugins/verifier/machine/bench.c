/* A sample of the blocks of each bench case's launches, executed for their counts: what the speed model scales by
 * blocks / executed.  Inputs are the case's first family.  Nothing is judged here, and a case too large for the machine's
 * memory is left out and said so. */
#include "verifier.h"

#include <stdlib.h>
#include <string.h>

struct counted {
   rkb_counters_t head;
   rkb_launch_counters_t *launches;
   uint32_t room;
};

static int add_launches(struct counted *counted, const rkb_machine_report_t *report, uint32_t case_index, rkb_error_t *err) {
   uint32_t count = counted->head.launch_count + report->launch_count;
   rkb_launch_counters_t *larger = realloc(counted->launches, (count + 1) * sizeof *larger);
   if (!larger)
      return rkb_fail(err, RKB_ERR_NOMEM, "no memory for counters");
   counted->launches = larger;
   for (uint32_t n = 0; n < report->launch_count; n++) {
      rkb_launch_counters_t *c = &larger[counted->head.launch_count++];
      *c = report->launches[n];
      c->case_index = case_index;
   }
   counted->head.case_count++;
   return RKB_OK;
}

static int fill_inputs(const struct verifier *me, const rkb_case_t *the_case, const rkb_plan_t *plan, rkb_machine_buffer_t *buffers,
                       rkb_error_t *err) {
   rkb_inputs_t *inputs = NULL;
   const rkb_family_t *family = me->task->family_at(me->host, the_case, 0);
   int status = me->task->inputs_open(me->host, the_case, family, 1, &inputs, err);
   for (uint32_t n = 0; n < plan->buffer_count && status == RKB_OK; n++) {
      const rkb_plan_buffer_t *buffer = &plan->buffers[n];
      buffers[n].defined = true; /* blocks left out wrote nothing: what others would have left is taken as given */
      buffers[n].data = calloc(buffer->bytes + 64, 1);
      if (!buffers[n].data)
         status = rkb_fail(err, RKB_ERR_NOMEM, "no memory for %s", buffer->name);
      else if (buffer->role == RKB_IN || buffer->role == RKB_INOUT)
         status = me->task->inputs_fill(inputs, buffer->tensor, 0, buffer->elements, buffers[n].data, err);
   }
   if (inputs)
      me->task->inputs_free(inputs);
   return status;
}

static int count_case(const struct verifier *me, struct candidate *candidate, const rkb_case_t *the_case, uint32_t case_index,
                      struct counted *counted, rkb_error_t *err) {
   rkb_plan_t *plan = NULL;
   rkb_finding_t finding = {0};
   rkb_machine_t *machine = NULL;
   rkb_machine_buffer_t *buffers = NULL;
   uint64_t bytes = 0;
   int status = me->kernel->plan(me->host, candidate->job, candidate->item, candidate->build, the_case, &plan, &finding, err);
   if (status != RKB_OK || !plan)
      return status;
   for (uint32_t n = 0; n < plan->buffer_count; n++)
      bytes += plan->buffers[n].bytes;
   if (6 * bytes > me->config->memory) { /* data, definedness and race records of what is written */
      status = RKB_ERR_LIMIT;
   } else {
      rkb_machine_options_t options = {.checks = RKB_MACHINE_RACES, .sample = (uint32_t)me->config->bench_blocks,
                                       .memory_bytes = me->config->memory, .thread_instructions = candidate->budget};
      buffers = calloc(plan->buffer_count + 1, sizeof *buffers);
      status = buffers ? fill_inputs(me, the_case, plan, buffers, err) : rkb_fail(err, RKB_ERR_NOMEM, "no memory for buffers");
      if (status == RKB_OK)
         status = rkb_machine_open(candidate->module, plan, &options, &machine, err);
      if (status == RKB_OK)
         status = rkb_machine_run(machine, buffers, err);
      if (status == RKB_OK) {
         rkb_machine_report_t report;
         rkb_machine_report(machine, &report);
         candidate->budget -= report.thread_instructions < candidate->budget ? report.thread_instructions : candidate->budget;
         status = add_launches(counted, &report, case_index, err);
      }
   }
   rkb_machine_close(machine);
   for (uint32_t n = 0; buffers && n < plan->buffer_count; n++)
      free(buffers[n].data);
   free(buffers);
   me->kernel->plan_free(plan);
   return status;
}

static int hand_over(const struct verifier *me, rkb_job_t job, const struct counted *counted, rkb_error_t *err) {
   size_t bytes = sizeof counted->head + counted->head.launch_count * sizeof *counted->launches;
   char *blob = malloc(bytes);
   if (!blob)
      return rkb_fail(err, RKB_ERR_NOMEM, "no memory for counters");
   memcpy(blob, &counted->head, sizeof counted->head);
   if (counted->head.launch_count)
      memcpy(blob + sizeof counted->head, counted->launches, counted->head.launch_count * sizeof *counted->launches);
   int status = me->kernel->note_set(me->host, job, RKB_NOTE_COUNTERS, blob, bytes);
   free(blob);
   return status == RKB_OK ? RKB_OK : rkb_fail(err, status, "the counters could not be kept");
}

int bench_counts(const struct verifier *me, struct candidate *candidate, struct outcome *outcome, rkb_error_t *err) {
   struct counted counted = {.head = {.size = sizeof(rkb_counters_t), .launch_size = sizeof(rkb_launch_counters_t)}};
   int status = RKB_OK;
   for (uint32_t n = 0; status == RKB_OK; n++) {
      const rkb_case_t *the_case = me->task->case_at(me->host, RKB_CASE_BENCH, n);
      if (!the_case)
         break;
      status = count_case(me, candidate, the_case, n, &counted, err);
      if (status == RKB_ERR_LIMIT) {
         char text[256];
         snprintf(text, sizeof text, "case %s: too large for the machine's memory, nothing was counted there", the_case->name);
         json_array_append_new(outcome->not_run, json_string(text));
         status = RKB_OK;
      }
   }
   if (status == RKB_OK)
      status = hand_over(me, candidate->job, &counted, err);
   free(counted.launches);
   return status;
}
