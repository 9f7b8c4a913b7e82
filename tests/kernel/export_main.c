/* kernel_export_tool --c|--torch|--operator TASK_DIRECTORY DIRECTION FILE.cu: what the export test compiles.  Reads
 * task.yaml itself, so that core/kernel is tested without core/task. */
#include "kernel/export.h"
#include "base/file.h"
#include "base/yaml.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 64 };

typedef struct subject {
   rkb_export_subject_t of;
   rkb_export_tensor_t tensors[MOST];
   rkb_export_let_t lets[MOST];
   const char *dims[MOST], *attributes[MOST];
} subject_t;

static uint32_t dtype_of(const char *name) {
   static const char *const names[] = {"",      "float16", "bfloat16", "float32",       "float64",    "int32",
                                       "int64", "uint8",   "int8",     "float8_e4m3fn", "float8_e5m2"};
   for (uint32_t i = 1; i < sizeof names / sizeof *names; i++)
      if (strcmp(names[i], name) == 0)
         return i;
   return 0;
}

static bool listed(const rkb_yaml_t *list, const char *name) {
   for (uint32_t i = 0; list && i < list->count; i++)
      if (strcmp(list->items[i]->text, name) == 0)
         return true;
   return false;
}

static void add(subject_t *subject, rkb_arena_t *arena, const char *prefix, const char *name, uint32_t role,
                const rkb_yaml_t *tensor) {
   subject->tensors[subject->of.tensor_count++] = (rkb_export_tensor_t){
      rkb_arena_format(arena, "%s%s", prefix, name), role, dtype_of(rkb_yaml_get(tensor, "dtype")->text),
      rkb_yaml_get(tensor, "shape")->text, 256};
}

/* docs/task-format.md: the output gradients, then all forward inputs; out: the gradient of each wanted input.
 */
static void add_tensors(subject_t *subject, rkb_arena_t *arena, const rkb_yaml_t *task, bool backward) {
   const rkb_yaml_t *tensors = rkb_yaml_get(task, "tensors");
   for (int pass = 0; pass < 3; pass++) {
      for (uint32_t i = 0; i < tensors->count; i++) {
         const rkb_yaml_t *tensor = tensors->items[i];
         const char *name = tensors->keys[i]->text, *role = rkb_yaml_get(tensor, "role")->text;
         const bool out = strcmp(role, "out") == 0,
                    floating = strstr(rkb_yaml_get(tensor, "dtype")->text, "float") != NULL;
         if (!backward && pass == 0)
            add(subject, arena, "", name,
                out                          ? RKB_OUT
                : strcmp(role, "inout") == 0 ? RKB_INOUT
                                             : RKB_IN,
                tensor);
         else if (backward && pass == 0 && out && floating)
            add(subject, arena, "grad_", name, RKB_IN, tensor);
         else if (backward && pass == 1 && !out)
            add(subject, arena, "", name, RKB_IN, tensor);
         else if (backward && pass == 2 && listed(rkb_yaml_get(task, "wants_grad"), name))
            add(subject, arena, "grad_", name, RKB_OUT, tensor);
      }
   }
}

static void fill(subject_t *subject, rkb_arena_t *arena, const rkb_yaml_t *task, const char *direction,
                 const char *file) {
   const rkb_yaml_t *dims = rkb_yaml_get(task, "dims"), *attributes = rkb_yaml_get(task, "attributes"),
                    *lets = rkb_yaml_get(task, "let");
   for (uint32_t i = 0; dims && i < dims->count; i++)
      subject->dims[subject->of.dim_count++] = dims->keys[i]->text;
   for (uint32_t i = 0; attributes && i < attributes->count; i++)
      subject->attributes[subject->of.attribute_count++] = attributes->keys[i]->text;
   for (uint32_t i = 0; lets && i < lets->count; i++)
      subject->lets[subject->of.let_count++] = (rkb_export_let_t){lets->keys[i]->text, lets->items[i]->text};
   add_tensors(subject, arena, task, strcmp(direction, "backward") == 0);
   subject->of.task = rkb_yaml_get(task, "name")->text;
   subject->of.direction = direction;
   subject->of.file = file;
   subject->of.tensors = subject->tensors;
   subject->of.dims = subject->dims;
   subject->of.attributes = subject->attributes;
   subject->of.lets = subject->lets;
}

static enum rkb_export_form form_of(const char *option) {
   return strcmp(option, "--c") == 0 ? RKB_EXPORT_C : strcmp(option, "--torch") == 0 ? RKB_EXPORT_TORCH : RKB_EXPORT_OPERATOR;
}

int main(int argc, char **argv) {
   static subject_t subject;
   rkb_arena_t *arena = rkb_arena_new(0);
   rkb_problems_t problems;
   rkb_finding_t finding;
   rkb_error_t err = {0};
   rkb_text_t out, header;
   const rkb_yaml_t *task;
   rkb_device_t *device;
   char *source, path[4096];
   size_t length;
   int status;
   if (argc != 5)
      return 2;
   rkb_problems_init(&problems);
   rkb_text_init(&out, 4u << 20);
   rkb_text_init(&header, 1u << 20);
   snprintf(path, sizeof path, "%s/task.yaml", argv[2]);
   task = rkb_yaml_load(arena, path, &problems);
   device = rkb_device_load("h200", &problems);
   if (!task || !device || rkb_file_read(argv[4], 1u << 20, &source, &length, &err) != RKB_OK) {
      fprintf(stderr, "%s %s\n", problems.count ? problems.list[0].message : "", err.message);
      return 2;
   }
   fill(&subject, arena, task, argv[3], argv[4]);
   subject.of.library = subject.of.task;
   subject.of.operator_name = argv[3];
   status = rkb_export(form_of(argv[1]), &subject.of, source, NULL, device, &out, &header, &finding, &err);
   if (status != RKB_OK || finding.reason[0]) {
      fprintf(stderr, "%s: %s %s: %s (%u:%u)\n", argv[4], err.message, finding.reason, finding.message,
              finding.line, finding.column);
      return 1;
   }
   fputs(rkb_text_get(&out), stdout);
   rkb_text_free(&header);
   rkb_text_free(&out);
   free(source);
   rkb_device_free(device);
   rkb_problems_free(&problems);
   rkb_arena_free(arena);
   return 0;
}
