/* Writes what the evaluator says, for other implementations to be held against it: inputs, expected values
 * and both bounds of every check case (or sampled elements of the bench cases) of one task and direction.
 *
 *    dump TASK DIRECTION FOLDER SEEDS check|bench FAMILIES
 *
 * FAMILIES is "normal" or "all".  FOLDER/index.json lists the runs, each tensor with its byte range in
 * FOLDER/data.bin: inputs in their own dtype; outputs as four arrays, value, hard, stat (float64) and flags
 * (uint8).  A bench run holds for each output the sampled element numbers (uint64) and the points of those: 4,096, or
 * as many as the limit of work for one call allows where each of them is a sum over a whole large tensor.
 * One thread. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/random.h"
#include "base/units.h"
#include "task/task.h"

#define BENCH_POINTS 4096u
#define FEWER 16u /* a sample that costs too much becomes so much smaller */

typedef struct dump {
   const rkb_task_t *task;
   FILE *data;
   json_t *runs;
   uint64_t written;
   bool bench, all_families;
} dump_t;

/* Appends bytes to data.bin; the range as [offset, bytes], or NULL. */
static json_t *put(dump_t *dump, const void *bytes, uint64_t count) {
   if (fwrite(bytes, 1, count, dump->data) != count)
      return NULL;
   json_t *range = json_pack("[I, I]", (json_int_t)dump->written, (json_int_t)count);
   dump->written += count;
   return range;
}

static json_t *shape_of(const rkb_tensor_t *tensor) {
   json_t *shape = json_array();
   for (uint32_t i = 0; i < tensor->rank; ++i)
      json_array_append_new(shape, json_integer(tensor->shape[i]));
   return shape;
}

static json_t *describe(const rkb_tensor_t *tensor) {
   return json_pack("{s:s, s:s, s:o}", "name", tensor->name, "dtype", rkb_dtype_name(tensor->dtype), "shape",
                    shape_of(tensor));
}

static int put_points(dump_t *dump, json_t *entry, const rkb_points_t *points) {
   json_t *ranges[] = {put(dump, points->value, points->count * sizeof(double)),
                       put(dump, points->hard, points->count * sizeof(double)),
                       put(dump, points->stat, points->count * sizeof(double)),
                       put(dump, points->flags, points->count)};
   static const char *const names[] = {"value", "hard", "stat", "flags"};
   int status = RKB_OK;
   for (int i = 0; i < 4; ++i)
      if (json_object_set_new(entry, names[i], ranges[i]) != 0)
         status = RKB_ERR_IO;
   return status;
}

static int put_input(dump_t *dump, json_t *list, const rkb_inputs_t *inputs, const rkb_case_t *the_case,
                     uint32_t tensor, rkb_error_t *err) {
   const rkb_tensor_t *info = &the_case->tensors[tensor];
   void *bytes = malloc(info->bytes ? info->bytes : 1);
   if (bytes == NULL)
      return rkb_fail(err, RKB_ERR_NOMEM, "no memory for %s", info->name);
   int status = rkb_task_inputs_fill(inputs, tensor, 0, info->elements, bytes, err);
   if (status == RKB_OK) {
      json_t *entry = describe(info);
      json_object_set_new(entry, "data", put(dump, bytes, info->bytes));
      json_array_append_new(list, entry);
   }
   free(bytes);
   return status;
}

static int put_sampled(dump_t *dump, json_t *entry, const rkb_inputs_t *inputs, const rkb_tensor_t *info,
                       uint32_t tensor, uint64_t seed, rkb_error_t *err) {
   uint64_t count = info->elements < BENCH_POINTS ? info->elements : BENCH_POINTS;
   uint64_t *elements = calloc(count, sizeof *elements);
   double *values = calloc(count * 3, sizeof *values);
   uint8_t *flags = calloc(count, 1);
   int status = RKB_OK;
   if (elements == NULL || values == NULL || flags == NULL) {
      status = rkb_fail(err, RKB_ERR_NOMEM, "no memory for points of %s", info->name);
      goto done;
   }
   rkb_random_t stream = rkb_random_stream(seed, "bench points", tensor, 0);
   for (uint64_t i = 0; i < count; ++i)
      elements[i] = count == info->elements ? i : rkb_random_below(&stream, info->elements);
   double *hard = values + count, *stat = hard + count;
   do {
      status = rkb_task_expect_points(inputs, tensor, elements, count, values, hard, stat, flags, err);
      if (status == RKB_ERR_LIMIT && count >= FEWER) {
         count /= FEWER;
         fprintf(stderr, "%s: over the limit of work; %llu elements are sampled instead\n", info->name,
                 (unsigned long long)count);
      } else {
         break;
      }
   } while (true);
   if (status == RKB_OK) {
      rkb_points_t points = {.value = values, .hard = hard, .stat = stat, .flags = flags, .count = count};
      json_object_set_new(entry, "elements", put(dump, elements, count * sizeof *elements));
      status = put_points(dump, entry, &points);
   }
done:
   free(flags);
   free(values);
   free(elements);
   return status;
}

static int put_outputs(dump_t *dump, json_t *list, const rkb_inputs_t *inputs, const rkb_case_t *the_case,
                       uint64_t seed, rkb_error_t *err) {
   rkb_expected_t *expected = NULL;
   int status = dump->bench ? RKB_OK : rkb_task_expect(inputs, &expected, err);
   for (uint32_t i = 0; i < the_case->tensor_count && status == RKB_OK; ++i) {
      const rkb_tensor_t *info = &the_case->tensors[i];
      if (info->role == RKB_IN)
         continue;
      json_t *entry = describe(info);
      json_array_append_new(list, entry);
      if (dump->bench) {
         status = put_sampled(dump, entry, inputs, info, i, seed, err);
      } else {
         rkb_points_t points = rkb_task_expected_points(expected, i);
         status = put_points(dump, entry, &points);
      }
   }
   rkb_task_expected_free(expected);
   return status;
}

static int put_run(dump_t *dump, const rkb_case_t *the_case, const rkb_family_t *family, uint64_t seed,
                   rkb_error_t *err) {
   rkb_inputs_t *inputs = NULL;
   int status = rkb_task_inputs_open(dump->task, the_case, family, seed, &inputs, err);
   if (status != RKB_OK)
      return status;
   json_t *inputs_list = json_array(), *outputs_list = json_array(), *dims = json_object(),
          *attributes = json_object();
   for (uint32_t i = 0; i < the_case->dim_count; ++i)
      json_object_set_new(dims, the_case->dims[i].name, json_integer(the_case->dims[i].value));
   for (uint32_t i = 0; i < the_case->attribute_count; ++i)
      json_object_set_new(attributes, the_case->attributes[i].name,
                          rkb_json_number(the_case->attributes[i].value));
   for (uint32_t i = 0; i < the_case->tensor_count && status == RKB_OK; ++i)
      if (the_case->tensors[i].role != RKB_OUT)
         status = put_input(dump, inputs_list, inputs, the_case, i, err);
   if (status == RKB_OK)
      status = put_outputs(dump, outputs_list, inputs, the_case, seed, err);
   json_array_append_new(dump->runs,
                         json_pack("{s:s, s:s, s:b, s:b, s:I, s:o, s:o, s:o, s:o}", "case", the_case->name,
                                   "family", family->name, "stat", family->stat, "exact", family->exact,
                                   "seed", (json_int_t)seed, "dims", dims, "attributes", attributes, "inputs",
                                   inputs_list, "outputs", outputs_list));
   rkb_task_inputs_free(inputs);
   return status;
}

static int put_all(dump_t *dump, uint64_t seeds, rkb_error_t *err) {
   uint32_t kind = dump->bench ? RKB_CASE_BENCH : RKB_CASE_CHECK;
   int status = RKB_OK;
   for (uint32_t c = 0; status == RKB_OK; ++c) {
      const rkb_case_t *the_case = rkb_task_case(dump->task, kind, c);
      if (the_case == NULL)
         break;
      for (uint32_t f = 0; status == RKB_OK; ++f) {
         const rkb_family_t *family = rkb_task_family(dump->task, the_case, f);
         if (family == NULL)
            break;
         if (!dump->all_families && strcmp(family->name, "normal") != 0)
            continue;
         for (uint64_t seed = 1; seed <= seeds && status == RKB_OK; ++seed)
            status = put_run(dump, the_case, family, seed, err);
      }
   }
   return status;
}

static int run(const char *directory, const char *direction, const char *folder, uint64_t seeds, dump_t *dump,
               rkb_error_t *err) {
   char path[4096];
   snprintf(path, sizeof path, "%s/data.bin", folder);
   dump->data = fopen(path, "wb");
   if (dump->data == NULL)
      return rkb_fail(err, RKB_ERR_IO, "%s: %s", path, strerror(errno));
   dump->runs = json_array();
   int status = put_all(dump, seeds, err);
   if (fclose(dump->data) != 0 && status == RKB_OK)
      status = rkb_fail(err, RKB_ERR_IO, "%s: %s", path, strerror(errno));
   json_t *index =
      json_pack("{s:s, s:s, s:O}", "task", directory, "direction", direction, "runs", dump->runs);
   snprintf(path, sizeof path, "%s/index.json", folder);
   if (status == RKB_OK && json_dump_file(index, path, JSON_REAL_PRECISION(17)) != 0)
      status = rkb_fail(err, RKB_ERR_IO, "%s: cannot be written", path);
   json_decref(index);
   json_decref(dump->runs);
   return status;
}

int main(int argc, char **argv) {
   int64_t seeds = 0;
   if (argc != 7 || !rkb_parse_int(argv[4], &seeds) || seeds < 1) {
      fprintf(stderr, "usage: dump TASK DIRECTION FOLDER SEEDS check|bench normal|all\n");
      return 2;
   }
   rkb_problems_t problems;
   rkb_problems_init(&problems);
   rkb_task_t *task = rkb_task_load(argv[1], argv[2], 0, &problems);
   if (task == NULL) {
      rkb_text_t text;
      rkb_text_init(&text, 1 << 20);
      rkb_problems_write(&problems, &text);
      fputs(rkb_text_get(&text), stderr);
      rkb_text_free(&text);
      rkb_problems_free(&problems);
      return 1;
   }
   dump_t dump = {
      .task = task, .bench = strcmp(argv[5], "bench") == 0, .all_families = strcmp(argv[6], "all") == 0};
   rkb_error_t err = {0};
   int status = run(argv[1], argv[2], argv[3], (uint64_t)seeds, &dump, &err);
   if (status != RKB_OK)
      fprintf(stderr, "%s %s: %s\n", argv[1], argv[2], err.message);
   rkb_task_free(task);
   rkb_problems_free(&problems);
   return status == RKB_OK ? 0 : 1;
}
