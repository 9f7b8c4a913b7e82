/* Inputs made by counter, sent to the device, compared with what came back; outputs judged by the task's rule.  The values
 * and the answers stay in this process: the worker never sees what is expected. */
#include "gpu.h"
#include <stdlib.h>
#include <string.h>

/* Whole outputs are evaluated up to this many operations of the reference; beyond, points. */
#define WHOLE_OPERATIONS 2e8

int values_open(const struct gpu *me, const rkb_case_t *c, const rkb_family_t *family, uint64_t seed, struct values *v, rkb_error_t *err) {
   *v = (struct values){.tensors = calloc(c->tensor_count, sizeof *v->tensors)};
   if (!v->tensors)
      return rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   int status = me->task->inputs_open(me->host, c, family, seed, &v->inputs, err);
   for (uint32_t t = 0; t < c->tensor_count && status == RKB_OK; t++) {
      const rkb_tensor_t *tensor = &c->tensors[t];
      if (tensor->role == RKB_OUT)
         continue;
      v->tensors[t] = malloc(tensor->bytes ? tensor->bytes : 1);
      status = v->tensors[t] ? me->task->inputs_fill(v->inputs, t, 0, tensor->elements, v->tensors[t], err)
                             : rkb_fail(err, RKB_ERR_NOMEM, "no memory for %s", tensor->name);
   }
   if (status != RKB_OK)
      values_free(me, c, v);
   return status;
}

void values_free(const struct gpu *me, const rkb_case_t *c, struct values *v) {
   for (uint32_t t = 0; v->tensors && t < c->tensor_count; t++)
      free(v->tensors[t]);
   free(v->tensors);
   if (v->inputs)
      me->task->inputs_free(v->inputs);
   *v = (struct values){0};
}

int values_stage(const struct gpu *me, struct candidate *candidate, const rkb_case_t *c, const struct values *v, uint32_t set,
                 rkb_error_t *err) {
   int status = RKB_OK;
   for (uint32_t t = 0; t < c->tensor_count && status == RKB_OK; t++)
      if (v->tensors[t])
         status = me->device->stage(candidate->session, set, t, c->tensors[t].bytes, 0, v->tensors[t], c->tensors[t].bytes, err);
   return status;
}

static json_t *describe(const rkb_case_t *c, const rkb_family_t *family, uint64_t seed, const rkb_tensor_t *tensor) {
   return json_pack("{s:s, s:s, s:I, s:s}", "case", c->name, "family", family->name, "seed", (json_int_t)seed, "buffer", tensor->name);
}

static int judge(const struct gpu *me, const struct candidate *candidate, const rkb_case_t *c, const rkb_family_t *family,
                 const struct values *v, uint64_t seed, uint32_t t, const void *data, const rkb_points_t *points,
                 const uint64_t *elements, struct found *found, struct tally *tally, rkb_error_t *err) {
   rkb_judgement_t j = {.size = sizeof j};
   const rkb_tensor_t *tensor = &c->tensors[t];
   int status = me->task->judge(me->host, v->inputs, t, data, NULL, points, elements, candidate->transform, &j, err);
   if (status != RKB_OK)
      return status;
   tally->judged += j.judged;
   tally->worst_hard = j.worst_hard > tally->worst_hard ? j.worst_hard : tally->worst_hard;
   tally->worst_stat = j.worst_stat > tally->worst_stat ? j.worst_stat : tally->worst_stat;
   if (!j.standing_is_reject && !j.suspect)
      return RKB_OK;
   if (found->reason[0] && (found->suspect ? !j.standing_is_reject : true))
      return RKB_OK; /* what is known already weighs as much */
   json_t *evidence = describe(c, family, seed, tensor);
   if (evidence) {
      json_object_set_new(evidence, "element", json_integer((json_int_t)j.element));
      json_object_set_new(evidence, "bound_name", json_string(j.bound_name));
      json_t *got = json_real(j.got), *want = json_real(j.want), *bound = json_real(j.bound);
      json_object_set_new(evidence, "got", got ? got : json_string("not finite"));
      json_object_set_new(evidence, "want", want ? want : json_string("not finite"));
      json_object_set_new(evidence, "bound", bound ? bound : json_string("not finite"));
   }
   found_set(found, j.reason, evidence, "%s[%llu] is %.9g on the GPU and should be %.9g, within %.3g (%s bound; %llu of %llu outside)",
             tensor->name, (unsigned long long)j.element, j.got, j.want, j.bound, j.bound_name, (unsigned long long)j.outside,
             (unsigned long long)j.judged);
   found->suspect = !j.standing_is_reject;
   return RKB_OK;
}

/* Elements to compare at a large shape: the first and last, and others drawn from the seed. */
static uint64_t *choose_points(const struct gpu *me, uint64_t elements, uint64_t count, uint64_t seed) {
   uint64_t *chosen = malloc(count * sizeof *chosen);
   rkb_random_t stream = {.key = {(uint32_t)seed, (uint32_t)(seed >> 32)}, .stream = {0x706f696e, 0x74}};
   for (uint64_t i = 0; chosen && i < count; i++)
      chosen[i] = i == 0 ? 0 : i == 1 ? elements - 1 : me->random->below(&stream, elements);
   return chosen;
}

static int judge_points(const struct gpu *me, const struct candidate *candidate, const rkb_case_t *c, const rkb_family_t *family,
                        const struct values *v, uint64_t seed, uint32_t t, const char *data, struct found *found,
                        struct tally *tally, rkb_error_t *err) {
   const rkb_tensor_t *tensor = &c->tensors[t];
   uint64_t count = (uint64_t)me->config->points < tensor->elements ? (uint64_t)me->config->points : tensor->elements;
   uint64_t width = tensor->elements ? tensor->bytes / tensor->elements : 0;
   uint64_t *elements = choose_points(me, tensor->elements, count, seed + t);
   double *numbers = malloc(3 * count * sizeof *numbers + 1);
   uint8_t *flags = malloc(count + 1);
   char *picked = malloc(count * width + 1);
   int status = elements && numbers && flags && picked ? RKB_OK : rkb_fail(err, RKB_ERR_NOMEM, "out of memory");
   if (status == RKB_OK)
      status = me->task->expect_points(me->host, v->inputs, t, elements, count, numbers, numbers + count, numbers + 2 * count, flags, err);
   if (status == RKB_OK) {
      rkb_points_t points = {numbers, numbers + count, numbers + 2 * count, flags, count};
      for (uint64_t i = 0; i < count; i++)
         memcpy(picked + i * width, data + elements[i] * width, width);
      status = judge(me, candidate, c, family, v, seed, t, picked, &points, elements, found, tally, err);
   }
   free(picked);
   free(flags);
   free(numbers);
   free(elements);
   return status;
}

/* The task promises that inputs stay as they are. */
static void compare_input(const rkb_case_t *c, const rkb_family_t *family, uint64_t seed, uint32_t t, const char *before,
                          const char *after, struct found *found) {
   const rkb_tensor_t *tensor = &c->tensors[t];
   uint64_t at = 0;
   if (found->reason[0] || memcmp(before, after, tensor->bytes) == 0)
      return;
   while (before[at] == after[at])
      at++;
   json_t *evidence = describe(c, family, seed, tensor);
   if (evidence)
      json_object_set_new(evidence, "offset", json_integer((json_int_t)at));
   found_set(found, "input.modified", evidence, "the input %s was overwritten, first at byte %llu", tensor->name, (unsigned long long)at);
}

int values_judge(const struct gpu *me, struct candidate *candidate, const rkb_case_t *c, const rkb_family_t *family,
                 const struct values *v, uint64_t seed, uint32_t instance, struct found *found, struct tally *tally, rkb_error_t *err) {
   rkb_expected_t *expected = NULL;
   int status = RKB_OK;
   if (c->operations <= WHOLE_OPERATIONS)
      status = me->task->expect(me->host, v->inputs, &expected, err);
   for (uint32_t t = 0; t < c->tensor_count && status == RKB_OK && (!found->reason[0] || found->suspect); t++) {
      const rkb_tensor_t *tensor = &c->tensors[t];
      char *data = malloc(tensor->bytes ? tensor->bytes : 1);
      status = data ? me->device->read(candidate->session, instance, t, 0, tensor->bytes, data, err)
                    : rkb_fail(err, RKB_ERR_NOMEM, "no memory for %s", tensor->name);
      if (status == RKB_OK && tensor->role == RKB_IN) {
         compare_input(c, family, seed, t, v->tensors[t], data, found);
      } else if (status == RKB_OK && expected) {
         rkb_points_t points = me->task->expected_points(expected, t);
         status = judge(me, candidate, c, family, v, seed, t, data, &points, NULL, found, tally, err);
      } else if (status == RKB_OK) {
         status = judge_points(me, candidate, c, family, v, seed, t, data, found, tally, err);
      }
      free(data);
   }
   if (expected)
      me->task->expected_free(expected);
   return status;
}
