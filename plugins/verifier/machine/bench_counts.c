/* A sample of the blocks of each bench case's launches, executed for their counts: what the speed model scales by
 * blocks / executed.  Only inputs that decided control or addresses on the check cases are filled; the others may hold zeros,
 * since no count depends on them, and their pages are never touched but where the sampled blocks read.  Nothing is judged
 * here but by bench_values.c, in a run of its own; a case that is left out is named. */
#include "verifier.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* One launch's blocks at a bench shape are counted until so many thread-instructions have been executed, but one always. */
#define SAMPLE_INSTRUCTIONS 5000000u

struct counted {
   rkb_counters_t head;
   rkb_launch_counters_t *launches;
   uint32_t room;
};

static int add_launches(struct counted *counted, const rkb_machine_report_t *report, uint32_t case_index,
                        rkb_error_t *err) {
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

static bool decides(const struct outcome *outcome, const char *name) {
   for (size_t n = 0; n < json_array_size(outcome->deciding_inputs); n++)
      if (strcmp(json_string_value(json_array_get(outcome->deciding_inputs, n)), name) == 0)
         return true;
   return false;
}

static void release(const rkb_plan_t *plan, rkb_machine_buffer_t *buffers) {
   for (uint32_t n = 0; buffers && n < plan->buffer_count; n++)
      if (buffers[n].data)
         munmap(buffers[n].data, plan->buffers[n].bytes + 64);
   free(buffers);
}

/* Counts need numbers of the right kind, not each its own: the first piece of an input stands for all of it, and the pages that
 * hold it are mapped again and again. */
#define PIECE_BYTES (1u << 20)

static int fill_repeated(const struct verifier *me, const rkb_inputs_t *inputs,
                         const rkb_plan_buffer_t *buffer, char *data, rkb_error_t *err) {
   if (buffer->bytes <= PIECE_BYTES)
      return me->task->inputs_fill(inputs, buffer->tensor, 0, buffer->elements, data, err);
   const int file = memfd_create("piece", MFD_CLOEXEC);
   if (file < 0 || ftruncate(file, PIECE_BYTES) != 0) {
      if (file >= 0)
         close(file);
      return rkb_fail(err, RKB_ERR_LIMIT, "no memory for a piece of %s", buffer->name);
   }
   int status = RKB_OK;
   for (uint64_t at = 0; at < buffer->bytes && status == RKB_OK; at += PIECE_BYTES) {
      const uint64_t bytes = buffer->bytes - at < PIECE_BYTES ? buffer->bytes - at : PIECE_BYTES;
      if (mmap(data + at, bytes, PROT_READ | PROT_WRITE,
               at ? MAP_PRIVATE | MAP_FIXED : MAP_SHARED | MAP_FIXED, file, 0) == MAP_FAILED)
         status = rkb_fail(err, RKB_ERR_LIMIT, "no addresses for %s", buffer->name);
      else if (at == 0)
         status = me->task->inputs_fill(inputs, buffer->tensor, 0,
                                        PIECE_BYTES * buffer->elements / buffer->bytes, data, err);
   }
   close(file);
   return status;
}

static int make_buffers(const struct verifier *me, const rkb_case_t *the_case, const rkb_plan_t *plan,
                        const struct outcome *outcome, rkb_machine_buffer_t *buffers, rkb_error_t *err) {
   rkb_inputs_t *inputs = NULL;
   int status =
      me->task->inputs_open(me->host, the_case, me->task->family_at(me->host, the_case, 0), 1, &inputs, err);
   for (uint32_t n = 0; n < plan->buffer_count && status == RKB_OK; n++) {
      const rkb_plan_buffer_t *buffer = &plan->buffers[n];
      void *data = mmap(NULL, buffer->bytes + 64, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (data == MAP_FAILED)
         return rkb_fail(err, RKB_ERR_LIMIT, "no addresses for %s", buffer->name);
      buffers[n] = (rkb_machine_buffer_t){data, true};
      if ((buffer->role != RKB_IN && buffer->role != RKB_INOUT) || !decides(outcome, buffer->name))
         continue;
      status = fill_repeated(me, inputs, buffer, data, err);
   }
   if (inputs)
      me->task->inputs_free(inputs);
   return status;
}

static int count_case(const struct verifier *me, struct candidate *candidate, const rkb_case_t *the_case,
                      uint32_t case_index, struct outcome *outcome, struct counted *counted,
                      rkb_error_t *err) {
   rkb_plan_t *plan = NULL;
   rkb_finding_t finding = {0};
   rkb_machine_t *machine = NULL;
   rkb_machine_buffer_t *buffers = NULL;
   bool stopped = false;
   int status = me->kernel->plan(me->host, candidate->job, candidate->item, candidate->build, the_case, &plan,
                                 &finding, err);
   if (status != RKB_OK || !plan)
      return status;
   rkb_machine_options_t options = {.counts_only = true,
                                    .requests = true,
                                    .sample = (uint32_t)me->config->bench_blocks,
                                    .sample_instructions = SAMPLE_INSTRUCTIONS,
                                    .memory_bytes = me->config->memory,
                                    .thread_instructions = candidate->budget};
   buffers = calloc(plan->buffer_count + 1, sizeof *buffers);
   status = buffers ? make_buffers(me, the_case, plan, outcome, buffers, err)
                    : rkb_fail(err, RKB_ERR_NOMEM, "no memory for buffers");
   if (status == RKB_OK)
      status = rkb_machine_open(candidate->module, plan, &options, &machine, err);
   if (status == RKB_OK)
      status = rkb_machine_run(machine, buffers, err);
   if (status == RKB_OK) {
      rkb_machine_report_t report;
      rkb_machine_report(machine, &report);
      candidate->budget -=
         report.thread_instructions < candidate->budget ? report.thread_instructions : candidate->budget;
      stopped = report.finding_count != 0;
      status = stopped ? RKB_OK : add_launches(counted, &report, case_index, err);
   }
   if (status == RKB_OK && me->config->bench_points && outcome->rank < RKB_MACHINE_UNKNOWN)
      status = sample_judge(me, candidate, the_case, plan, outcome, err);
   if (status == RKB_OK && stopped)
      status = RKB_ERR_LIMIT;
   rkb_machine_close(machine);
   release(plan, buffers);
   me->kernel->plan_free(plan);
   return status;
}

static int hand_over(const struct verifier *me, rkb_job_t job, const struct counted *counted,
                     rkb_error_t *err) {
   size_t bytes = sizeof counted->head + counted->head.launch_count * sizeof *counted->launches;
   char *blob = malloc(bytes);
   if (!blob)
      return rkb_fail(err, RKB_ERR_NOMEM, "no memory for counters");
   memcpy(blob, &counted->head, sizeof counted->head);
   if (counted->head.launch_count)
      memcpy(blob + sizeof counted->head, counted->launches,
             counted->head.launch_count * sizeof *counted->launches);
   int status = me->kernel->note_set(me->host, job, RKB_NOTE_COUNTERS, blob, bytes);
   free(blob);
   return status == RKB_OK ? RKB_OK : rkb_fail(err, status, "the counters could not be kept");
}

int bench_counts(const struct verifier *me, struct candidate *candidate, struct outcome *outcome,
                 rkb_error_t *err) {
   struct counted counted = {
      .head = {.size = sizeof(rkb_counters_t), .launch_size = sizeof(rkb_launch_counters_t)}};
   int status = RKB_OK;
   for (uint32_t n = 0; status == RKB_OK; n++) {
      const rkb_case_t *the_case = me->task->case_at(me->host, RKB_CASE_BENCH, n);
      if (!the_case)
         break;
      status = count_case(me, candidate, the_case, n, outcome, &counted, err);
      if (status == RKB_ERR_LIMIT) {
         char text[256];
         snprintf(
            text, sizeof text,
            "case %s: its blocks could not be executed within memory and budget, nothing was counted there",
            the_case->name);
         json_array_append_new(outcome->not_run, json_string(text));
         status = RKB_OK;
      } else if (status == RKB_OK) {
         char text[256];
         snprintf(
            text, sizeof text,
            "case %s: some of its blocks were executed for their counts alone; nothing was judged there",
            the_case->name);
         json_array_append_new(outcome->not_run, json_string(text));
      }
   }
   if (status == RKB_OK)
      status = hand_over(me, candidate->job, &counted, err);
   free(counted.launches);
   return status;
}
