/* A sample of the blocks of a bench case on its true inputs, and some of the elements that they wrote against the expected values
 * of those elements alone (points mode).  Inputs are made where they are read, outputs are kept where they are written.
 *
 * What blocks that were not executed would have written is undefined here, so an element counts only when every byte it came
 * from was an input or was written by an executed block.  That leaves out what a later launch or an atomic operation changes
 * again: an output that several launches take, and plans with atomics, are not judged, and the certificate says so. */
#include "sample.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define SAMPLE_INSTRUCTIONS 5000000u /* of a launch, after which no further block of it is executed */
#define MOST_WORK 1e6                /* of one call for expected values: about ten milliseconds */
#define MOST_FILLED (4u << 20)       /* bytes of a tensor that is read and written, and so made whole */
#define MOST_ELEMENTS (1u << 20)     /* written ones remembered, of an output */

void sample_leave_out(struct sample *s, const char *why) {
   char text[320];
   snprintf(text, sizeof text, "case %s: sampled blocks were not judged: %s", s->the_case->name, why);
   json_array_append_new(s->outcome->not_run, json_string(text));
}

static int fetch(void *argument, uint32_t buffer, uint64_t first_byte, uint64_t bytes, void *out) {
   struct sample *s = argument;
   const rkb_plan_buffer_t *b = &s->plan->buffers[buffer];
   const uint64_t width = b->bytes / b->elements;
   rkb_error_t err;
   return s->verifier->task->inputs_fill(s->inputs, b->tensor, first_byte / width, bytes / width, out, &err);
}

static int make_buffers(struct sample *s, rkb_error_t *err) {
   s->buffers = calloc(s->plan->buffer_count + 1, sizeof *s->buffers);
   if (!s->buffers)
      return rkb_fail(err, RKB_ERR_NOMEM, "no memory for buffers");
   int status = RKB_OK;
   for (uint32_t n = 0; n < s->plan->buffer_count && status == RKB_OK; n++) {
      const rkb_plan_buffer_t *b = &s->plan->buffers[n];
      void *data = mmap(NULL, b->bytes + 64, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (data == MAP_FAILED)
         return rkb_fail(err, RKB_ERR_LIMIT, "no addresses for %s", b->name);
      s->buffers[n] = (rkb_machine_buffer_t){data, b->role == RKB_IN || b->role == RKB_INOUT};
      if (b->role == RKB_INOUT && b->bytes > MOST_FILLED)
         status =
            rkb_fail(err, RKB_ERR_LIMIT, "%s is read and written, and too large to be made whole", b->name);
      else if (b->role == RKB_INOUT)
         status = s->verifier->task->inputs_fill(s->inputs, b->tensor, 0, b->elements, data, err);
   }
   return status;
}

/* Judging ------------------------------------------------------------------------------------------------------------ */

static void remember(void *argument, uint64_t first, uint64_t bytes) {
   struct sample *s = argument;
   for (uint64_t at = (first + s->width - 1) / s->width; (at + 1) * s->width <= first + bytes; at++)
      if (s->written_count < MOST_ELEMENTS)
         s->written[s->written_count++] = at;
}

static bool written_once(const rkb_plan_t *plan, uint32_t buffer) {
   uint32_t launches = 0;
   for (uint32_t n = 0; n < plan->launch_count; n++) {
      bool takes = false;
      for (uint32_t a = 0; a < plan->launches[n].argument_count; a++)
         takes |= plan->launches[n].arguments[a].buffer == buffer;
      launches += takes;
   }
   return launches == 1;
}

/* count of the written elements, spread evenly, first and last among them; moved to the front. */
static uint64_t choose(struct sample *s, uint64_t most) {
   if (s->written_count <= most)
      return s->written_count;
   for (uint64_t n = 0; n < most; n++)
      s->written[n] = s->written[most > 1 ? n * (s->written_count - 1) / (most - 1) : 0];
   return most;
}

/* *refused: the comparison itself, because too many elements are ambiguous; fewer would say no more. */
static int judge_points(struct sample *s, uint32_t buffer, uint64_t count, bool *refused, rkb_error_t *err) {
   const rkb_task_api_t *task = s->verifier->task;
   const rkb_plan_buffer_t *b = &s->plan->buffers[buffer];
   double *numbers = calloc(3 * count, sizeof *numbers);
   uint8_t *flags = calloc(count, 1), *data = calloc(count, s->width);
   rkb_judgement_t judgement = {.size = sizeof judgement};
   int status = numbers && flags && data ? RKB_OK : rkb_fail(err, RKB_ERR_NOMEM, "no memory for points");
   if (status == RKB_OK)
      status = task->expect_points(s->verifier->host, s->inputs, b->tensor, s->written, count, numbers,
                                   numbers + count, numbers + 2 * count, flags, err);
   if (status == RKB_OK) {
      const rkb_points_t points = {numbers, numbers + count, numbers + 2 * count, flags, count};
      for (uint64_t n = 0; n < count; n++)
         memcpy(data + n * s->width, (uint8_t *)s->buffers[buffer].data + s->written[n] * s->width, s->width);
      status = task->judge(s->verifier->host, s->inputs, b->tensor, data, NULL, &points, s->written,
                           s->candidate->transform, &judgement, err);
      *refused = status == RKB_ERR_LIMIT;
   }
   if (status == RKB_OK) {
      s->judged += judgement.judged;
      outcome_judgement(s->outcome, s->the_case, s->family->name, SAMPLE_SEED, b->name, &judgement, false);
   }
   free(numbers);
   free(flags);
   free(data);
   return status;
}

static int judge_output(struct sample *s, uint32_t buffer, rkb_error_t *err) {
   const rkb_plan_buffer_t *b = &s->plan->buffers[buffer];
   s->width = (uint32_t)(b->bytes / b->elements);
   s->written_count = 0;
   if (!written_once(s->plan, buffer))
      return RKB_OK;
   rkb_machine_written(s->machine, buffer, remember, s);
   uint64_t count = choose(s, (uint64_t)s->verifier->config->bench_points);
   if (count == 0)
      return RKB_OK;
   bool refused = false;
   int status = judge_points(s, buffer, count, &refused, err);
   while (status == RKB_ERR_LIMIT && !refused && count > 1) { /* dear ones: fewer */
      count = choose(s, (count + 7) / 8);
      s->written_count = count;
      status = judge_points(s, buffer, count, &refused, err);
   }
   return status;
}

static int judge_outputs(struct sample *s, rkb_error_t *err) {
   int status = RKB_OK;
   s->written = malloc(MOST_ELEMENTS * sizeof *s->written);
   if (!s->written)
      return rkb_fail(err, RKB_ERR_NOMEM, "no memory for the elements written");
   for (uint32_t n = 0; n < s->plan->buffer_count && status == RKB_OK; n++)
      if (s->plan->buffers[n].role == RKB_OUT && s->plan->buffers[n].elements)
         status = judge_output(s, n, err);
   free(s->written);
   return status;
}

/* The certificate's facet --------------------------------------------------------------------------------------------- */

static void note_sample(struct sample *s, const rkb_machine_report_t *report) {
   json_t *launches = json_array();
   for (uint32_t n = 0; n < report->launch_count; n++)
      if (report->launches[n].blocks)
         json_array_append_new(launches, json_pack("{s:s, s:I, s:I}", "kernel",
                                                   s->plan->launches[report->launches[n].launch].expression,
                                                   "blocks", (json_int_t)report->launches[n].blocks,
                                                   "executed", (json_int_t)report->launches[n].executed));
   json_array_append_new(
      s->outcome->sampled,
      json_pack("{s:s, s:{s:[s], s:s, s:o, s:I}, s:[s, s]}", "facet", "sampled", "scope", "shapes",
                s->the_case->name, "inputs", "the tested values", "launches", launches, "elements",
                (json_int_t)s->judged, "assumptions",
                "bounds, alignment and values of the blocks named; races between blocks were not looked for",
                "blocks that were not executed change nothing that these read or wrote"));
}

/* A fault of a sampled block is one of the kernel, unless it comes of a value that a block which was not executed would have
 * written. */
static bool depends_on_others(const rkb_machine_report_t *report) {
   for (uint32_t n = 0; n < report->finding_count; n++)
      if (strcmp(report->findings[n].reason, "memory.uninitialised") == 0)
         return true;
   return false;
}

static bool is_fault(const rkb_machine_finding_t *finding) {
   return strcmp(finding->reason, "memory.out_of_bounds") == 0 ||
          strcmp(finding->reason, "memory.misaligned") == 0 || strcmp(finding->reason, "input.modified") == 0;
}

static int judge_run(struct sample *s, rkb_error_t *err) {
   rkb_machine_report_t report;
   rkb_machine_report(s->machine, &report);
   s->candidate->budget -=
      report.thread_instructions < s->candidate->budget ? report.thread_instructions : s->candidate->budget;
   if (depends_on_others(&report)) {
      sample_leave_out(s, "they read what blocks that were not executed write");
      return RKB_OK;
   }
   for (uint32_t n = 0; n < report.finding_count; n++)
      if (is_fault(&report.findings[n]))
         outcome_finding(s->outcome, &report.findings[n], s->the_case, s->family->name, SAMPLE_SEED);
   if (report.finding_count) {
      if (s->outcome->rank < RKB_MACHINE_UNKNOWN)
         sample_leave_out(s, report.findings[0].message);
      return RKB_OK;
   }
   if (report.atomics) {
      sample_leave_out(s, "the plan has atomic operations, whose results other blocks add to");
      return RKB_OK;
   }
   int status = judge_outputs(s, err);
   if (status == RKB_OK && s->judged)
      note_sample(s, &report);
   else if (status == RKB_OK)
      sample_leave_out(
         s, "no element they wrote is final: others write it again, or it came from blocks not executed");
   return status;
}

/* The instruction that wrote a wrong value, from a second execution of the same blocks.  Not where a tensor is changed in place:
 * it is not made again. */
static int find_writer(struct sample *s, const rkb_machine_options_t *options, rkb_error_t *err) {
   rkb_machine_t *machine = NULL;
   rkb_machine_finding_t writer;
   uint32_t buffer, width;
   uint64_t byte;
   if (!outcome_wrong_element(s->outcome, s->plan, &buffer, &byte, &width))
      return RKB_OK;
   for (uint32_t n = 0; n < s->plan->buffer_count; n++)
      if (s->plan->buffers[n].role == RKB_INOUT)
         return RKB_OK;
   int status = rkb_machine_open(s->candidate->module, s->plan, options, &machine, err);
   if (status == RKB_OK)
      status = rkb_machine_watch(machine, buffer, byte, width, err);
   if (status == RKB_OK)
      status = rkb_machine_run(machine, s->buffers, err);
   if (status == RKB_OK && rkb_machine_watched(machine, &writer))
      outcome_place(s->outcome, &writer);
   rkb_machine_close(machine);
   return status;
}

int sample_judge(const struct verifier *me, struct candidate *candidate, const rkb_case_t *the_case,
                 const rkb_plan_t *plan, struct outcome *outcome, rkb_error_t *err) {
   struct sample s = {.verifier = me,
                      .candidate = candidate,
                      .the_case = the_case,
                      .plan = plan,
                      .outcome = outcome,
                      .family = me->task->family_at(me->host, the_case, 0)};
   const rkb_machine_options_t options = {.sample = (uint32_t)me->config->bench_blocks,
                                          .sample_instructions = SAMPLE_INSTRUCTIONS,
                                          .memory_bytes = me->config->memory,
                                          .thread_instructions = candidate->budget,
                                          .fetch = fetch,
                                          .fetch_argument = &s};
   if (!s.family || candidate->budget == 0) {
      sample_leave_out(&s, "the budget of thread-instructions was used up");
      return RKB_OK;
   }
   int status = me->task->inputs_open(me->host, the_case, s.family, SAMPLE_SEED, &s.inputs, err);
   if (status == RKB_OK) {
      me->task->inputs_limit(s.inputs, MOST_WORK);
      status = make_buffers(&s, err);
   }
   if (status == RKB_OK)
      status = rkb_machine_open(candidate->module, plan, &options, &s.machine, err);
   if (status == RKB_OK)
      status = rkb_machine_run(s.machine, s.buffers, err);
   if (status == RKB_OK)
      status = judge_run(&s, err);
   if (status == RKB_OK)
      status = find_writer(&s, &options, err);
   if (status == RKB_OK)
      status = sample_find_unwritten(&s, &options, err);
   if (status == RKB_ERR_LIMIT) {
      sample_leave_out(&s, err->message);
      status = RKB_OK;
   }
   rkb_machine_close(s.machine);
   for (uint32_t n = 0; s.buffers && n < plan->buffer_count; n++)
      if (s.buffers[n].data)
         munmap(s.buffers[n].data, plan->buffers[n].bytes + 64);
   free(s.buffers);
   if (s.inputs)
      me->task->inputs_free(s.inputs);
   return status;
}
