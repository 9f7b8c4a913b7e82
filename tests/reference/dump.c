/* Writes what the evaluator says, for other implementations to be held against it: inputs, expected values
 * and both bounds of every check case (or sampled elements of the bench cases) of one task and direction.
 *
 *    dump TASK DIRECTION FOLDER SEEDS check|bench|whole FAMILIES [PART/PARTS]
 *
 * SEEDS is "N" (1 to N) or "M-N"; FAMILIES is "normal" or "all".  FOLDER/index.json lists the runs, each tensor
 * with its byte range in FOLDER/data.bin: inputs in their own dtype; outputs as four arrays, value, hard, stat
 * (float64) and flags (uint8).  A bench run holds for each output the numbers (uint64) of 4,096 sampled elements
 * and their points, evaluated in pieces that each stay under the limit of work for one call; with PART/PARTS, the
 * pieces of that part alone, and inputs in the first.  "whole" is the same sample of a whole evaluation, which takes
 * the memory it takes: for sums over whole large tensors, where one element needs them all.
 * Threads: OpenMP's, inside the evaluator. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/random.h"
#include "base/units.h"
#include "task/task.h"

#define BENCH_POINTS 4096u
#define PIECE 64u                        /* of them in one call */
#define WHOLE_BUDGET (UINT64_C(1) << 40) /* bytes */

typedef struct dump {
   const rkb_task_t *task;
   FILE *data;
   json_t *runs;
   uint64_t written;
   bool bench, whole;
   const char *families; /* "all", or the name of one */
   uint64_t part, parts; /* part counts from 0 */
} dump_t;

typedef struct seeds {
   uint64_t first, last;
} seeds_t;

static bool read_seeds(char *text, seeds_t *seeds) {
   int64_t first = 1, last;
   char *dash = strchr(text, '-');
   if (dash != NULL)
      *dash = '\0';
   if ((dash != NULL && !rkb_parse_int(text, &first)) ||
       !rkb_parse_int(dash != NULL ? dash + 1 : text, &last) || first < 1 || last < first)
      return false;
   *seeds = (seeds_t){(uint64_t)first, (uint64_t)last};
   return true;
}

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

static int ascending(const void *a, const void *b) {
   uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
   return (left > right) - (left < right);
}

/* The sampled elements, ascending, for neighbours share what they are computed from. */
static uint64_t *sample(const rkb_tensor_t *info, uint32_t tensor, uint64_t seed, uint64_t *count) {
   *count = info->elements < BENCH_POINTS ? info->elements : BENCH_POINTS;
   uint64_t *elements = calloc(*count + 1, sizeof *elements);
   rkb_random_t stream = rkb_random_stream(seed, "bench points", tensor, 0);
   for (uint64_t i = 0; elements != NULL && i < *count; ++i)
      elements[i] = *count == info->elements ? i : rkb_random_below(&stream, info->elements);
   if (elements != NULL)
      qsort(elements, *count, sizeof *elements, ascending);
   return elements;
}

/* Points of what of the sample belongs to this part; *count becomes their number. */
static int evaluate_sample(const dump_t *dump, const rkb_inputs_t *inputs, const rkb_points_t *whole,
                           uint32_t tensor, uint64_t *elements, uint64_t *count, double *values,
                           uint8_t *flags, rkb_error_t *err) {
   uint64_t kept = 0;
   for (uint64_t i = 0; i < *count; ++i)
      if (i / PIECE % dump->parts == dump->part)
         elements[kept++] = elements[i];
   double *hard = values + *count, *stat = hard + *count;
   *count = kept;
   for (uint64_t i = 0; whole != NULL && i < kept; ++i) {
      values[i] = whole->value[elements[i]];
      hard[i] = whole->hard[elements[i]];
      stat[i] = whole->stat[elements[i]];
      flags[i] = whole->flags[elements[i]];
   }
   int status = RKB_OK;
   for (uint64_t i = 0; whole == NULL && i < kept && status == RKB_OK; i += PIECE)
      status = rkb_task_expect_points(inputs, tensor, elements + i, kept - i < PIECE ? kept - i : PIECE,
                                      values + i, hard + i, stat + i, flags + i, err);
   return status;
}

static int put_sampled(dump_t *dump, json_t *entry, const rkb_inputs_t *inputs, const rkb_points_t *whole,
                       const rkb_tensor_t *info, uint32_t tensor, uint64_t seed, rkb_error_t *err) {
   uint64_t count, room;
   uint64_t *elements = sample(info, tensor, seed, &count);
   double *values = calloc(count * 3 + 1, sizeof *values);
   uint8_t *flags = calloc(count + 1, 1);
   int status = RKB_OK;
   room = count;
   if (elements == NULL || values == NULL || flags == NULL)
      status = rkb_fail(err, RKB_ERR_NOMEM, "no memory for points of %s", info->name);
   else
      status = evaluate_sample(dump, inputs, whole, tensor, elements, &count, values, flags, err);
   if (status == RKB_OK) {
      rkb_points_t points = {
         .value = values, .hard = values + room, .stat = values + 2 * room, .flags = flags, .count = count};
      json_object_set_new(entry, "elements", put(dump, elements, count * sizeof *elements));
      status = put_points(dump, entry, &points);
   }
   free(flags);
   free(values);
   free(elements);
   return status;
}

static int put_outputs(dump_t *dump, json_t *list, const rkb_inputs_t *inputs, const rkb_case_t *the_case,
                       uint64_t seed, rkb_error_t *err) {
   rkb_expected_t *expected = NULL;
   int status = dump->bench && !dump->whole ? RKB_OK : rkb_task_expect(inputs, &expected, err);
   for (uint32_t i = 0; i < the_case->tensor_count && status == RKB_OK; ++i) {
      const rkb_tensor_t *info = &the_case->tensors[i];
      if (info->role == RKB_IN)
         continue;
      json_t *entry = describe(info);
      json_array_append_new(list, entry);
      rkb_points_t points = expected != NULL ? rkb_task_expected_points(expected, i) : (rkb_points_t){0};
      status = dump->bench
                  ? put_sampled(dump, entry, inputs, expected != NULL ? &points : NULL, info, i, seed, err)
                  : put_points(dump, entry, &points);
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
      if (the_case->tensors[i].role != RKB_OUT && dump->part == 0)
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

static int put_all(dump_t *dump, const seeds_t *seeds, rkb_error_t *err) {
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
         if (strcmp(dump->families, "all") != 0 && strcmp(dump->families, family->name) != 0)
            continue;
         for (uint64_t seed = seeds->first; seed <= seeds->last && status == RKB_OK; ++seed)
            status = put_run(dump, the_case, family, seed, err);
      }
   }
   return status;
}

/* "1/4" to "4/4". */
static bool read_part(char *text, dump_t *dump) {
   int64_t part, parts;
   char *slash = strchr(text, '/');
   if (slash == NULL)
      return false;
   *slash = '\0';
   if (!rkb_parse_int(text, &part) || !rkb_parse_int(slash + 1, &parts) || part < 1 || parts < part)
      return false;
   dump->part = (uint64_t)part - 1;
   dump->parts = (uint64_t)parts;
   return true;
}

static int run(const char *directory, const char *direction, const char *folder, const seeds_t *seeds,
               dump_t *dump, rkb_error_t *err) {
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
   dump_t dump = {.parts = 1};
   seeds_t seeds;
   if (argc < 7 || argc > 8 || !read_seeds(argv[4], &seeds) || (argc == 8 && !read_part(argv[7], &dump))) {
      fprintf(stderr, "usage: dump TASK DIRECTION FOLDER N|M-N check|bench|whole normal|all [PART/PARTS]\n");
      return 2;
   }
   dump.whole = strcmp(argv[5], "whole") == 0;
   dump.bench = dump.whole || strcmp(argv[5], "bench") == 0;
   dump.families = argv[6];
   rkb_problems_t problems;
   rkb_problems_init(&problems);
   rkb_task_t *task = rkb_task_load(argv[1], argv[2], dump.whole ? WHOLE_BUDGET : 0, &problems);
   if (task == NULL) {
      rkb_text_t text;
      rkb_text_init(&text, 1 << 20);
      rkb_problems_write(&problems, &text);
      fputs(rkb_text_get(&text), stderr);
      rkb_text_free(&text);
      rkb_problems_free(&problems);
      return 1;
   }
   dump.task = task;
   rkb_error_t err = {0};
   int status = run(argv[1], argv[2], argv[3], &seeds, &dump, &err);
   if (status != RKB_OK)
      fprintf(stderr, "%s %s: %s\n", argv[1], argv[2], err.message);
   rkb_task_free(task);
   rkb_problems_free(&problems);
   return status == RKB_OK ? 0 : 1;
}
