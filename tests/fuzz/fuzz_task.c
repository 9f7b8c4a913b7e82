/* Any bytes as a task: task.yaml, a line of ====, reference.graph.yaml.  The result is at least one problem,
 * or cases that bind.  Small cases are evaluated; their bounds are neither NaN nor negative. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "task/inputs.h"

#define SMALL (UINT64_C(1) << 22)
#define LITTLE_WORK 1e6

static void evaluate(const rkb_bound_t *bound) {
   rkb_inputs_t *inputs;
   rkb_error_t err = {0};
   rkb_block_t outputs[3 * RKB_MAX_TENSORS] = {{0}};
   if (rkb_task_inputs_open(NULL, &bound->view, &bound->families->entries[0].view, 1, &inputs, &err) !=
       RKB_OK)
      return;
   rkb_source_t source = rkb_inputs_as_source(inputs);
   int status = rkb_evaluate_whole(bound->program, &bound->precision, &source, bound->budget, outputs, &err);
   for (uint32_t t = 0; status == RKB_OK && t < bound->view.tensor_count; t++) {
      for (uint64_t i = 0; outputs[t].value && i < bound->view.tensors[t].elements; i++)
         if (!(outputs[t].flags[i] & RKB_POINT_DONT_CARE) && !(outputs[t].hard[i] >= 0))
            abort();
      rkb_block_free(&outputs[t]);
   }
   rkb_task_inputs_free(inputs);
}

static void bind(const rkb_definition_t *definition, const rkb_case_definition_t *one, bool backward,
                 rkb_problems_t *problems) {
   uint32_t before = problems->errors;
   rkb_bound_t *bound = rkb_bound_new(definition, backward, one->name, one->kind, one->dims, one->attributes,
                                      one->setting, SMALL, one->place, problems);
   if ((bound == NULL) != (problems->errors > before))
      abort();
   if (bound && bound->view.operations < LITTLE_WORK && rkb_evaluate_peak(bound->program) < SMALL)
      evaluate(bound);
   rkb_bound_free(bound);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
   static const char mark[] = "\n====\n";
   const char *text = (const char *)data, *middle = memmem(data, size, mark, sizeof mark - 1);
   if (!middle)
      return 0;
   size_t first = (size_t)(middle - text) + 1, second = first + sizeof mark - 2;
   rkb_task_texts_t texts = {"task.yaml", text, "reference.graph.yaml", text + second, first, size - second};
   rkb_problems_t problems;
   rkb_text_t out;
   rkb_problems_init(&problems);
   rkb_text_init(&out, 1 << 20);
   rkb_definition_t *definition = rkb_definition_parse(&texts, &problems);
   if ((definition == NULL) != (problems.errors > 0))
      abort();
   for (uint32_t i = 0; definition && i < definition->case_count && i < 4; i++) {
      bind(definition, &definition->cases[i], false, &problems);
      bind(definition, &definition->cases[i], true, &problems);
   }
   rkb_problems_write(&problems, &out);
   rkb_text_free(&out);
   rkb_problems_free(&problems);
   rkb_definition_free(definition);
   return 0;
}
