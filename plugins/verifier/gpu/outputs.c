/* Compares the outputs that came back by the task's rule.  Expected values stay in this process; the worker never sees them, and
 * none is evaluated before the candidate has finished with those inputs. */
#include "gpu.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE_BYTES = 4 << 20 };

static json_t *describe(const struct values *v, const rkb_tensor_t *tensor) {
   return json_pack("{s:s, s:s, s:I, s:s}", "case", v->the_case->name, "family", v->family->name, "seed",
                    (json_int_t)v->seed, "buffer", tensor->name);
}

int outputs_judge_points(const struct gpu *me, const struct candidate *candidate, const struct values *v, uint32_t t,
                         const void *data, const rkb_points_t *points, const uint64_t *elements, struct found *found,
                         struct tally *tally, rkb_error_t *err) {
   rkb_judgement_t j = {.size = sizeof j};
   const rkb_tensor_t *tensor = &v->the_case->tensors[t];
   int status = me->task->judge(me->host, v->inputs, t, data, NULL, points, elements, candidate->transform, &j, err);
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
      return RKB_OK; /* an earlier finding is at least as bad */
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

static uint64_t width_of(const rkb_tensor_t *tensor) {
   return tensor->elements ? tensor->bytes / tensor->elements : 0;
}

/* Bits that were judged right once, for example in the other placement, are right whenever they come again. */
static bool is_known(const struct values *v, uint32_t t, uint64_t sum) {
   return v->right[t] && v->judged[t] == sum;
}

/* Everything that has to be judged, in one request; list has room for every tensor. */
static int read_outputs(const struct gpu *me, const struct candidate *candidate, const struct values *v,
                        uint32_t instance, const uint64_t *sums, reading_t *list, char **block,
                        rkb_error_t *err) {
   const rkb_case_t *c = v->the_case;
   uint32_t count = 0;
   for (uint32_t t = 0; t < c->tensor_count; t++)
      if (c->tensors[t].role != RKB_IN && v->samples[t].points.count > 0 && !is_known(v, t, sums[t]))
         list[count++] = (reading_t){t, width_of(&c->tensors[t]), &v->samples[t], NULL};
   return readings_take(me->device, candidate->session, instance, list, count, block, err);
}

/* reading: the output's, where it was read. */
static int judge_output(const struct gpu *me, struct candidate *candidate, struct values *v, uint32_t t,
                        uint64_t sum, const reading_t *reading, struct found *found, struct tally *tally,
                        rkb_error_t *err) {
   if (width_of(&v->the_case->tensors[t]) == 0)
      return RKB_OK;
   if (v->samples[t].points.count == 0) {
      tally->not_judged++;
      return RKB_OK;
   }
   if (is_known(v, t, sum))
      return RKB_OK;
   const uint32_t refused = tally->refused;
   int status = outputs_judge_points(me, candidate, v, t, reading->data, &v->samples[t].points, v->samples[t].elements, found,
                                     tally, err);
   v->right[t] = status == RKB_OK && !found->reason[0] && tally->refused == refused;
   v->judged[t] = sum;
   return status;
}

/* Number of the first byte of an input that differs from what was drawn; the input's size when no byte differs. */
static int find_change(const struct gpu *me, const struct candidate *candidate, const struct values *v,
                       uint32_t instance, uint32_t t, uint64_t *at, rkb_error_t *err) {
   const rkb_tensor_t *tensor = &v->the_case->tensors[t];
   uint64_t width = tensor->bytes / tensor->elements, piece = PIECE_BYTES / width;
   char *before = malloc(PIECE_BYTES), *now = malloc(PIECE_BYTES);
   int status = before && now ? RKB_OK : rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   bool found = false;
   *at = tensor->bytes;
   for (uint64_t first = 0; first < tensor->elements && status == RKB_OK && !found; first += piece) {
      uint64_t left = tensor->elements - first, bytes = (left < piece ? left : piece) * width, i = 0;
      status = me->task->inputs_fill(v->inputs, t, first, bytes / width, before, err);
      if (status == RKB_OK)
         status = me->device->read(candidate->session, instance, t, first * width, bytes, now, err);
      while (status == RKB_OK && i < bytes && before[i] == now[i])
         i++;
      found = status == RKB_OK && i < bytes;
      if (found)
         *at = first * width + i;
   }
   free(before);
   free(now);
   return status;
}

/* The task promises that inputs stay as they are.  The device adds them up, and their bytes are read back only if a sum is wrong. */
static int compare_input(const struct gpu *me, const struct candidate *candidate, const struct values *v,
                         uint32_t instance, uint32_t t, uint64_t sum, struct found *found, rkb_error_t *err) {
   const rkb_tensor_t *tensor = &v->the_case->tensors[t];
   uint64_t at = 0;
   if (tensor->elements == 0 || sum == v->sums.sums[t])
      return RKB_OK;
   int status = find_change(me, candidate, v, instance, t, &at, err);
   if (status == RKB_OK && at == tensor->bytes)
      return rkb_fail(err, RKB_ERR_INTERNAL, "the device adds up %s to another sum than its bytes have",
                      tensor->name);
   if (status != RKB_OK)
      return status;
   json_t *evidence = describe(v, tensor);
   if (evidence)
      json_object_set_new(evidence, "offset", json_integer((json_int_t)at));
   found_set(found, "input.modified", evidence, "the input %s was overwritten, first seen at byte %llu",
             tensor->name, (unsigned long long)at);
   return RKB_OK;
}

/* Nobody but this program knows the key, so that no kernel can leave other bits with the same sum. */
static uint64_t key_of(const struct values *v, uint32_t t) {
   return (v->seed + 1) * 0x9e3779b97f4a7c15u ^ ~(uint64_t)t;
}

/* The device's sums of what instance holds, one a tensor: outputs alone, or inputs too. */
static int add_up(const struct gpu *me, const struct candidate *candidate, const struct values *v,
                  uint32_t instance, bool inputs, uint64_t *sums, rkb_error_t *err) {
   const rkb_case_t *c = v->the_case;
   uint64_t *keys = calloc(2 * (size_t)c->tensor_count + 1, sizeof *keys), *found = keys + c->tensor_count;
   uint32_t *buffers = calloc((size_t)c->tensor_count + 1, sizeof *buffers), count = 0;
   int status = keys && buffers ? RKB_OK : rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   for (uint32_t t = 0; t < c->tensor_count && status == RKB_OK; t++)
      if (inputs || c->tensors[t].role != RKB_IN) {
         buffers[count] = t;
         keys[count++] = c->tensors[t].role == RKB_IN ? v->sums.keys[t] : key_of(v, t);
      }
   if (status == RKB_OK && count)
      status = me->device->sums(candidate->session, instance, count, buffers, keys, found, err);
   for (uint32_t i = 0; i < count && status == RKB_OK; i++)
      sums[buffers[i]] = found[i];
   free(buffers);
   free(keys);
   return status;
}

int outputs_judge(const struct gpu *me, struct candidate *candidate, struct values *v, uint32_t instance,
                  struct found *found, struct tally *tally, rkb_error_t *err) {
   const rkb_case_t *c = v->the_case;
   uint64_t *sums = calloc((size_t)c->tensor_count + 1, sizeof *sums);
   reading_t *readings = calloc((size_t)c->tensor_count + 1, sizeof *readings), *reading = readings;
   char *block = NULL;
   int status = sums && readings ? add_up(me, candidate, v, instance, true, sums, err)
                                 : rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   if (status == RKB_OK)
      status = read_outputs(me, candidate, v, instance, sums, readings, &block, err);
   for (uint32_t t = 0; t < c->tensor_count && status == RKB_OK && (!found->reason[0] || found->suspect);
        t++) {
      while (reading->sample && reading->tensor < t)
         reading++;
      if (c->tensors[t].role != RKB_IN)
         status = judge_output(me, candidate, v, t, sums[t], reading, found, tally, err);
      else if (!found->reason[0])
         status = compare_input(me, candidate, v, instance, t, sums[t], found, err);
   }
   free(block);
   free(readings);
   free(sums);
   return status;
}

int outputs_repeat(const struct gpu *me, struct candidate *candidate, const struct values *v,
                   uint32_t instance, uint32_t set, rkb_run_outcome_t *outcome, struct tally *tally,
                   rkb_error_t *err) {
   const rkb_case_t *c = v->the_case;
   uint64_t *sums = calloc(2 * (size_t)c->tensor_count + 1, sizeof *sums), *again = sums + c->tensor_count;
   int status = sums ? add_up(me, candidate, v, instance, false, sums, err)
                     : rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   if (status == RKB_OK)
      status = me->device->run(candidate->session, instance, set, (uint32_t)(me->config->deadline / 1000000),
                               outcome, err);
   if (status == RKB_OK && outcome->outcome == RKB_RAN_WELL) {
      status = add_up(me, candidate, v, instance, false, again, err);
      tally->repeatable &= status != RKB_OK || memcmp(sums, again, c->tensor_count * sizeof *sums) == 0;
   }
   free(sums);
   return status;
}
