/* What came back, compared by the task's rule.  The answers stay in this process: the worker never sees what is expected,
 * and nothing is evaluated before the candidate has finished with those inputs. */
#include "gpu.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Inputs up to this size are compared whole after every run; of larger ones PAGES pieces of PAGE_BYTES, and the whole once. */
#define SMALL_BYTES (UINT64_C(4) << 20)
enum { PAGES = 64, PAGE_BYTES = 4096 };

static json_t *describe(const struct values *v, const rkb_tensor_t *tensor) {
   return json_pack("{s:s, s:s, s:I, s:s}", "case", v->the_case->name, "family", v->family->name, "seed",
                    (json_int_t)v->seed, "buffer", tensor->name);
}

static int judge(const struct gpu *me, const struct candidate *candidate, const struct values *v, uint32_t t,
                 const void *data, struct found *found, struct tally *tally, rkb_error_t *err) {
   rkb_judgement_t j = {.size = sizeof j};
   const rkb_tensor_t *tensor = &v->the_case->tensors[t];
   rkb_points_t points = sample_points(&v->samples[t]);
   int status = me->task->judge(me->host, v->inputs, t, data, NULL, &points, v->samples[t].elements,
                                candidate->transform, &j, err);
   if (status == RKB_ERR_LIMIT) { /* no finding about the candidate, and no fault of a tool */
      if (tally->refused++ == 0)
         snprintf(tally->refusal, sizeof tally->refusal, "%s", err->message);
      return RKB_OK;
   }
   if (status != RKB_OK)
      return status;
   tally->judged += j.judged;
   tally->ambiguous += j.ambiguous;
   tally->dont_care += j.dont_care;
   tally->worst_hard = j.worst_hard > tally->worst_hard ? j.worst_hard : tally->worst_hard;
   tally->worst_stat = j.worst_stat > tally->worst_stat ? j.worst_stat : tally->worst_stat;
   if (!j.standing_is_reject && !j.suspect)
      return RKB_OK;
   if (found->reason[0] && (found->suspect ? !j.standing_is_reject : true))
      return RKB_OK; /* what is known already weighs as much */
   json_t *evidence = describe(v, tensor);
   if (evidence) {
      json_object_set_new(evidence, "element", json_integer((json_int_t)j.element));
      json_object_set_new(evidence, "bound_name", json_string(j.bound_name));
      json_t *got = json_real(j.got), *want = json_real(j.want), *bound = json_real(j.bound);
      json_object_set_new(evidence, "got", got ? got : json_string("not finite"));
      json_object_set_new(evidence, "want", want ? want : json_string("not finite"));
      json_object_set_new(evidence, "bound", bound ? bound : json_string("not finite"));
   }
   found_set(found, j.reason, evidence,
             "%s[%llu] is %.9g on the GPU and should be %.9g, within %.3g (%s bound; %llu of %llu outside)",
             tensor->name, (unsigned long long)j.element, j.got, j.want, j.bound, j.bound_name,
             (unsigned long long)j.outside, (unsigned long long)j.judged);
   found->suspect = !j.standing_is_reject;
   return RKB_OK;
}

/* The sample's elements, neighbours in one piece. */
static int read_sample(const struct gpu *me, const struct candidate *candidate, uint32_t instance, uint32_t t,
                       uint64_t width, const sample_t *sample, char *out, rkb_error_t *err) {
   int status = RKB_OK;
   for (uint64_t i = 0, run; i < sample->count && status == RKB_OK; i += run) {
      for (run = 1; i + run < sample->count && sample->elements[i + run] == sample->elements[i] + run;)
         run++;
      status = me->device->read(candidate->session, instance, t, sample->elements[i] * width, run * width,
                                out + i * width, err);
   }
   return status;
}

static int judge_output(const struct gpu *me, struct candidate *candidate, struct values *v,
                        uint32_t instance, uint32_t t, struct found *found, struct tally *tally,
                        rkb_error_t *err) {
   const rkb_tensor_t *tensor = &v->the_case->tensors[t];
   const sampler_t sampler = {
      me->host, me->task, me->random, me->store, (uint64_t)me->config->points, me->config->budget};
   sample_t *sample = &v->samples[t];
   uint64_t width = tensor->elements ? tensor->bytes / tensor->elements : 0;
   int status = RKB_OK;
   if (width == 0)
      return RKB_OK;
   if (!sample->elements)
      status =
         sample_open(&sampler, v->inputs, v->the_case, v->family->name, v->seed, t, v->pooled, sample, err);
   if (status != RKB_OK)
      return status;
   if (sample->count == 0) {
      tally->not_judged++;
      return RKB_OK;
   }
   char *data = malloc(sample->count * width);
   status = data ? read_sample(me, candidate, instance, t, width, sample, data, err)
                 : rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   if (status == RKB_OK)
      status = judge(me, candidate, v, t, data, found, tally, err);
   free(data);
   return status;
}

/* One piece of an input as it is now. */
static int compare_piece(const struct gpu *me, const struct candidate *candidate, const struct values *v,
                         uint32_t instance, uint32_t t, uint64_t offset, uint64_t bytes, char *room,
                         struct found *found, rkb_error_t *err) {
   const rkb_tensor_t *tensor = &v->the_case->tensors[t];
   const char *before = (const char *)v->tensors[t] + offset;
   uint64_t at = 0;
   int status = me->device->read(candidate->session, instance, t, offset, bytes, room, err);
   if (status != RKB_OK || memcmp(before, room, bytes) == 0)
      return status;
   while (before[at] == room[at])
      at++;
   json_t *evidence = describe(v, tensor);
   if (evidence)
      json_object_set_new(evidence, "offset", json_integer((json_int_t)(offset + at)));
   found_set(found, "input.modified", evidence, "the input %s was overwritten, first seen at byte %llu",
             tensor->name, (unsigned long long)(offset + at));
   return RKB_OK;
}

/* The task promises that inputs stay as they are. */
static int compare_input(const struct gpu *me, const struct candidate *candidate, const struct values *v,
                         uint32_t instance, uint32_t t, bool whole, struct found *found, rkb_error_t *err) {
   uint64_t bytes = v->the_case->tensors[t].bytes, pages = bytes / PAGE_BYTES;
   char *room = malloc(SMALL_BYTES);
   int status = room ? RKB_OK : rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   if (whole || bytes <= SMALL_BYTES) {
      for (uint64_t at = 0; at < bytes && status == RKB_OK && !found->reason[0]; at += SMALL_BYTES)
         status = compare_piece(me, candidate, v, instance, t, at,
                                bytes - at < SMALL_BYTES ? bytes - at : SMALL_BYTES, room, found, err);
   } else {
      rkb_random_t stream = {.key = {(uint32_t)v->seed, (uint32_t)(v->seed >> 32)},
                             .stream = {0x70616765, t}};
      for (uint32_t i = 0; i < PAGES && status == RKB_OK && !found->reason[0]; i++) {
         uint64_t page = i == 0 ? 0 : i == 1 ? pages - 1 : me->random->below(&stream, pages);
         status =
            compare_piece(me, candidate, v, instance, t, page * PAGE_BYTES, PAGE_BYTES, room, found, err);
      }
   }
   free(room);
   return status;
}

int outputs_judge(const struct gpu *me, struct candidate *candidate, struct values *v, uint32_t instance,
                  bool inputs_whole, struct found *found, struct tally *tally, rkb_error_t *err) {
   int status = RKB_OK;
   for (uint32_t t = 0;
        t < v->the_case->tensor_count && status == RKB_OK && (!found->reason[0] || found->suspect); t++) {
      if (v->the_case->tensors[t].role != RKB_IN)
         status = judge_output(me, candidate, v, instance, t, found, tally, err);
      else if (!found->reason[0])
         status = compare_input(me, candidate, v, instance, t, inputs_whole, found, err);
   }
   return status;
}

/* A sum over the bytes of an output (FNV-1a over words), read in pieces: two equal ones are taken for equal bits. */
static int digest(const struct gpu *me, const struct candidate *candidate, uint32_t instance, uint32_t t,
                  uint64_t bytes, char *room, uint64_t *sum, rkb_error_t *err) {
   int status = RKB_OK;
   *sum = 0xcbf29ce484222325u;
   for (uint64_t at = 0; at < bytes && status == RKB_OK; at += SMALL_BYTES) {
      uint64_t piece = bytes - at < SMALL_BYTES ? bytes - at : SMALL_BYTES, word;
      status = me->device->read(candidate->session, instance, t, at, piece, room, err);
      for (uint64_t i = 0; i < piece && status == RKB_OK; i += sizeof word) {
         word = 0;
         memcpy(&word, room + i, piece - i < sizeof word ? piece - i : sizeof word);
         *sum = (*sum ^ word) * 0x100000001b3u;
         *sum ^= *sum >> 29;
      }
   }
   return status;
}

int outputs_repeat(const struct gpu *me, struct candidate *candidate, const rkb_case_t *c, uint32_t instance,
                   uint32_t set, rkb_run_outcome_t *outcome, struct tally *tally, rkb_error_t *err) {
   char *room = malloc(SMALL_BYTES);
   uint64_t *sums = calloc(c->tensor_count, sizeof *sums), again;
   int status = room && sums ? RKB_OK : rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   for (uint32_t t = 0; t < c->tensor_count && status == RKB_OK; t++)
      if (c->tensors[t].role != RKB_IN)
         status = digest(me, candidate, instance, t, c->tensors[t].bytes, room, &sums[t], err);
   if (status == RKB_OK)
      status = me->device->run(candidate->session, instance, set, (uint32_t)(me->config->deadline / 1000000),
                               outcome, err);
   for (uint32_t t = 0; t < c->tensor_count && status == RKB_OK && outcome->outcome == RKB_RAN_WELL; t++)
      if (c->tensors[t].role != RKB_IN) {
         status = digest(me, candidate, instance, t, c->tensors[t].bytes, room, &again, err);
         tally->repeatable &= status != RKB_OK || again == sums[t];
      }
   free(sums);
   free(room);
   return status;
}
