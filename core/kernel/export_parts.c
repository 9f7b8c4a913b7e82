/* Parts that every form of an export has: types, tensors, sizes, names and the candidate's text.  Owns nothing; any thread. */
#include "kernel/export_parts.h"
#include "kernel/defined_names.h"
#include "kernel/candidate_finding.h"

#include <string.h>

const char *export_type(uint32_t dtype) {
   static const char *const types[] = {
      [RKB_F16] = "__half",         [RKB_BF16] = "__nv_bfloat16", [RKB_F32] = "float",  [RKB_F64] = "double",
      [RKB_I32] = "int32_t",        [RKB_I64] = "int64_t",        [RKB_U8] = "uint8_t", [RKB_I8] = "int8_t",
      [RKB_E4M3] = "__nv_fp8_e4m3", [RKB_E5M2] = "__nv_fp8_e5m2"};
   return dtype >= RKB_F16 && dtype <= RKB_E5M2 ? types[dtype] : "void";
}

bool export_has_type(const rkb_export_subject_t *subject, uint32_t dtype) {
   for (uint32_t i = 0; i < subject->tensor_count; i++)
      if (subject->tensors[i].dtype == dtype)
         return true;
   return false;
}

void export_eighths(const rkb_export_subject_t *subject, rkb_text_t *out) {
   if (export_has_type(subject, RKB_E4M3) || export_has_type(subject, RKB_E5M2))
      rkb_text_add(out, "#include <cuda_fp8.h>\n");
}

const rkb_export_tensor_t *export_tensor(const exporter_t *exporter, const char *name) {
   for (uint32_t i = 0; i < exporter->subject->tensor_count; i++)
      if (strcmp(exporter->subject->tensors[i].name, name) == 0)
         return &exporter->subject->tensors[i];
   return NULL;
}

bool export_shape(exporter_t *exporter, const rkb_export_tensor_t *tensor, rkb_expression_t ***list,
                  uint32_t *count) {
   const rkb_place_t nowhere = {NULL, 0, 0};
   if (rkb_expression_list(exporter->arena, tensor->shape, strlen(tensor->shape), nowhere, list, count,
                           exporter->problems))
      return true;
   rkb_finding_set(exporter->finding, "plan.manifest", 0, 0, "the shape '%.100s' of '%.64s' cannot be read",
                   tensor->shape, tensor->name);
   *count = 0;
   return false;
}

void export_product(rkb_expression_t *const *list, uint32_t count, rkb_text_t *out) {
   rkb_text_add(out, "INT64_C(1)");
   for (uint32_t i = 0; i < count; i++) {
      rkb_text_add(out, " * ");
      rkb_expression_write(list[i], out);
   }
}

void export_heading(exporter_t *exporter, const char *what) {
   rkb_text_format(exporter->out,
                   "/* %s for %s, %s.\n * Written by rkb from %s; edit that file, not this one. */\n", what,
                   exporter->subject->task, exporter->subject->direction, exporter->subject->file);
}

void export_source(exporter_t *exporter) {
   for (uint32_t i = 0; i < exporter->manifest->public.tune_count; i++)
      rkb_text_format(exporter->out, "#define %s %lld\n", exporter->manifest->public.tune[i].name,
                      (long long)exporter->tune[i]);
   rkb_text_format(exporter->out, "\n%s\n", exporter->source);
   defined_names_forget(exporter->source, strlen(exporter->source), exporter->out);
}

typedef struct mention {
   const char *name;
   bool found;
} mention_t;

static void note_mention(void *argument, const char *name) {
   mention_t *mention = argument;
   mention->found = mention->found || strcmp(mention->name, name) == 0;
}

static void note_arguments(const manifest_argument_t *argument, mention_t *mention) {
   if (argument->whole)
      rkb_expression_names(argument->whole, note_mention, mention);
   for (uint32_t i = 0; i < argument->member_count; i++)
      note_arguments(&argument->members[i], mention);
}

static void note_map(const manifest_map_t *map, mention_t *mention) {
   rkb_expression_t *const single[] = {map->offset, map->channels, map->pixels};
   for (uint32_t k = 0; k < map->rank; k++) {
      rkb_expression_names(map->dims[k], note_mention, mention);
      if (map->box)
         rkb_expression_names(map->box[k], note_mention, mention);
      if (map->strides && k)
         rkb_expression_names(map->strides[k - 1], note_mention, mention);
      if (map->steps)
         rkb_expression_names(map->steps[k], note_mention, mention);
      if (map->lower && k + 2 < map->rank)
         rkb_expression_names(map->lower[k], note_mention, mention);
      if (map->upper && k + 2 < map->rank)
         rkb_expression_names(map->upper[k], note_mention, mention);
   }
   for (size_t n = 0; n < sizeof single / sizeof *single; n++)
      if (single[n])
         rkb_expression_names(single[n], note_mention, mention);
}

static bool is_mentioned(const exporter_t *exporter, const char *name) {
   const manifest_t *manifest = exporter->manifest;
   mention_t mention = {name, false};
   for (uint32_t i = 0; i < manifest->let_count; i++)
      rkb_expression_names(manifest->lets[i].value, note_mention, &mention);
   for (uint32_t i = 0; i < manifest->scratch_count; i++)
      for (uint32_t k = 0; k < manifest->scratch[i].rank; k++)
         rkb_expression_names(manifest->scratch[i].shape[k], note_mention, &mention);
   for (uint32_t i = 0; i < manifest->map_count; i++)
      note_map(&manifest->maps[i], &mention);
   for (uint32_t i = 0; i < manifest->public.launch_count; i++) {
      const manifest_launch_t *launch = &manifest->launches[i];
      for (uint32_t k = 0; k < launch->grid_count; k++)
         rkb_expression_names(launch->grid[k], note_mention, &mention);
      for (uint32_t k = 0; k < launch->block_count; k++)
         rkb_expression_names(launch->block[k], note_mention, &mention);
      for (uint32_t k = 0; k < launch->argument_count; k++)
         note_arguments(&launch->arguments[k], &mention);
      if (launch->shared)
         rkb_expression_names(launch->shared, note_mention, &mention);
      if (launch->when)
         rkb_expression_names(launch->when, note_mention, &mention);
   }
   return mention.found;
}

static void write_properties(exporter_t *exporter) {
   int64_t value;
   uint32_t number = 0;
   const char *name = rkb_device_property(exporter->device, number, &value);
   while (name) {
      if (is_mentioned(exporter, name))
         rkb_text_format(exporter->out, "   const int64_t %s = %lld; /* of %s */\n", name, (long long)value,
                         exporter->device->name);
      name = rkb_device_property(exporter->device, ++number, &value);
   }
}

void export_names(exporter_t *exporter) {
   const rkb_place_t nowhere = {NULL, 0, 0};
   const manifest_t *manifest = exporter->manifest;
   write_properties(exporter);
   for (uint32_t i = 0; i < exporter->subject->let_count; i++) {
      const rkb_export_let_t *let = &exporter->subject->lets[i];
      rkb_expression_t *value =
         rkb_expression_parse(exporter->arena, let->text, strlen(let->text), nowhere, exporter->problems);
      if (!value) {
         rkb_finding_set(exporter->finding, "plan.manifest", 0, 0, "the task's let '%.64s' cannot be read",
                         let->name);
         return;
      }
      rkb_text_format(exporter->out, "   [[maybe_unused]] const auto %s = ", let->name);
      rkb_expression_write(value, exporter->out);
      rkb_text_add(exporter->out, ";\n");
   }
   for (uint32_t i = 0; i < manifest->let_count; i++) {
      bool repeated = false; /* true for a let that the task defines too */
      for (uint32_t k = 0; k < exporter->subject->let_count; k++)
         repeated = repeated || strcmp(exporter->subject->lets[k].name, manifest->lets[i].name) == 0;
      if (repeated)
         continue;
      rkb_text_format(exporter->out, "   [[maybe_unused]] const auto %s = ", manifest->lets[i].name);
      rkb_expression_write(manifest->lets[i].value, exporter->out);
      rkb_text_add(exporter->out, ";\n");
   }
}

void export_scratch_sizes(exporter_t *exporter) {
   for (uint32_t i = 0; i < exporter->manifest->scratch_count; i++) {
      const manifest_scratch_t *scratch = &exporter->manifest->scratch[i];
      rkb_text_format(exporter->out, "   const int64_t %s_bytes = (int64_t)sizeof(%s) * ", scratch->name,
                      export_type(scratch->dtype));
      export_product(scratch->shape, scratch->rank, exporter->out);
      rkb_text_add(exporter->out, ";\n");
   }
}
