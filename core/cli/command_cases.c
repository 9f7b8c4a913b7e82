/* rkb cases: lists the bench cases of a task in one direction, with the data that another timing program
 * needs to run them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/json.h"
#include "base/memory.h"
#include "base/problems.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/shared/run_archive.h"
#include "task/task.h"

enum { DRAWN = 4096 };

/* Writes mean, spread and range of an input's first values. */
static int describe_values(const rkb_inputs_t *inputs, const rkb_tensor_t *tensor, uint32_t index,
                           json_t *out, rkb_error_t *err) {
   uint64_t count = tensor->elements < DRAWN ? tensor->elements : DRAWN;
   double sum = 0, squares = 0, low = INFINITY, high = -INFINITY;
   char *data = rkb_allocate(count + 1, 8);
   int status = rkb_task_inputs_fill(inputs, index, 0, count, data, err);
   for (uint64_t i = 0; i < count && status == RKB_OK; i++) {
      double value = rkb_dtype_load(tensor->dtype, data, i);
      sum += value;
      squares += value * value;
      low = fmin(low, value);
      high = fmax(high, value);
   }
   free(data);
   if (status == RKB_OK && count > 0 && isfinite(sum)) {
      double mean = sum / (double)count;
      json_object_set_new(out, "mean", json_real(mean));
      json_object_set_new(out, "std", json_real(sqrt(fmax(squares / (double)count - mean * mean, 0))));
      json_object_set_new(out, "low", json_real(low));
      json_object_set_new(out, "high", json_real(high));
   }
   return status;
}

static json_t *tensor_json(const rkb_inputs_t *inputs, const rkb_tensor_t *tensor, uint32_t index,
                           rkb_error_t *err) {
   static const char *const roles[] = {"", "in", "out", "inout"};
   json_t *shape = json_array(), *out;
   for (uint32_t i = 0; i < tensor->rank; i++)
      json_array_append_new(shape, json_integer(tensor->shape[i]));
   out = json_pack("{s:s, s:s, s:s, s:o}", "name", tensor->name, "role", roles[tensor->role], "dtype",
                   rkb_dtype_name(tensor->dtype), "shape", shape);
   if (out && tensor->role != RKB_OUT && describe_values(inputs, tensor, index, out, err) != RKB_OK) {
      json_decref(out);
      return NULL;
   }
   return out;
}

static json_t *case_json(const rkb_task_t *task, const rkb_case_t *c, rkb_error_t *err) {
   rkb_inputs_t *inputs = NULL;
   if (rkb_task_inputs_open(task, c, rkb_task_family(task, c, 0), 1, &inputs, err) != RKB_OK)
      return NULL;
   json_t *tensors = json_array(), *settings = json_object();
   bool whole = true;
   for (uint32_t i = 0; i < c->tensor_count && whole; i++)
      whole = json_array_append_new(tensors, tensor_json(inputs, &c->tensors[i], i, err)) == 0;
   for (uint32_t i = 0; i < c->dim_count; i++)
      json_object_set_new(settings, c->dims[i].name, json_integer(c->dims[i].value));
   for (uint32_t i = 0; i < c->attribute_count; i++)
      json_object_set_new(settings, c->attributes[i].name, json_real(c->attributes[i].value));
   rkb_task_inputs_free(inputs);
   json_t *out = json_pack("{s:s, s:o, s:o, s:f, s:f}", "name", c->name, "tensors", tensors, "settings",
                           settings, "operations", c->operations, "bytes", c->bytes);
   if (!whole) {
      json_decref(out);
      return NULL;
   }
   return out;
}

static int run(const rkb_arguments_t *arguments) {
   rkb_problems_t problems;
   rkb_error_t err = {0};
   const rkb_case_t *c;
   int code = RKB_EXIT_OK;
   rkb_problems_init(&problems);
   rkb_task_t *task =
      rkb_task_load(rkb_positional(arguments, 0), rkb_argument(arguments, "direction"), 0, &problems);
   if (!task) {
      rkb_text_t text;
      rkb_text_init(&text, 1 << 16);
      rkb_problems_write(&problems, &text);
      fputs(rkb_text_get(&text), stderr);
      rkb_text_free(&text);
      rkb_problems_free(&problems);
      return RKB_EXIT_USAGE;
   }
   json_t *cases = json_array();
   for (uint32_t i = 0; code == RKB_EXIT_OK && (c = rkb_task_case(task, RKB_CASE_BENCH, i)) != NULL; i++)
      if (json_array_append_new(cases, case_json(task, c, &err)) != 0)
         code = rkb_say_error(&err);
   const rkb_task_info_t *info = rkb_task_info(task);
   if (code == RKB_EXIT_OK)
      code = rkb_print_json(json_pack("{s:s, s:s, s:s, s:s, s:s, s:o}", "task", info->name, "direction",
                                      info->direction, "precision", info->precision, "hash",
                                      rkb_task_hash(task), "directory", info->directory, "cases", cases));
   else
      json_decref(cases);
   rkb_task_free(task);
   rkb_problems_free(&problems);
   return code;
}

static const rkb_cli_option_t options[] = {
   {"direction", "NAME", "forward or backward (default: the task's first).", false},
   {NULL, NULL, NULL, false},
};

const rkb_command_t rkb_command_cases = {
   .name = "cases",
   .arguments = "TASK",
   .summary = "Print the bench cases of a task as JSON.",
   .details =
      "Prints shapes, dims and attributes, least traffic and arithmetic, and how each input's values are distributed, for\n"
      "the program that times PyTorch.\n",
   .options = options,
   .least = 1,
   .most = 1,
   .run = run,
};
