/* Exporting a candidate: the checks and the parts that both forms share.  Owns nothing; any thread. */
#include "kernel/export_parts.h"
#include "kernel/finding.h"

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

static const manifest_scratch_t *find_scratch(const exporter_t *exporter, const char *name) {
   for (uint32_t i = 0; i < exporter->manifest->scratch_count; i++)
      if (strcmp(exporter->manifest->scratch[i].name, name) == 0)
         return &exporter->manifest->scratch[i];
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
}

void export_support(exporter_t *exporter) {
   rkb_text_format(exporter->out, "\n%s", export_support_text);
   export_map_encoder(exporter);
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
   const rkb_device_t *device = exporter->device;
   const struct {
      const char *name;
      int64_t value;
   } table[] = {{"multiprocessors", device->multiprocessors},
                {"warp_size", device->warp_size},
                {"shared_per_block", device->shared_per_block},
                {"shared_per_block_optin", device->shared_per_block_optin},
                {"shared_per_multiprocessor", device->shared_per_multiprocessor},
                {"threads_per_multiprocessor", device->threads_per_multiprocessor},
                {"l2_bytes", (int64_t)device->l2_bytes}};
   for (size_t i = 0; i < sizeof table / sizeof *table; i++)
      if (is_mentioned(exporter, table[i].name))
         rkb_text_format(exporter->out, "   const int64_t %s = %lld; /* of %s */\n", table[i].name,
                         (long long)table[i].value, device->name);
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
      bool repeated = false; /* a let that says what the task's own says */
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

static void write_failure_check(rkb_text_t *out, const char *indent) {
   rkb_text_format(out, "%sif (status != cudaSuccess)\n%s   return status;\n", indent, indent);
}

static void write_fill(exporter_t *exporter, const char *name, double value, rkb_expression_t *const *shape,
                       uint32_t rank) {
   rkb_text_format(exporter->out, "   status = rkb_fill(%s, double(%.17g), ", name, value);
   export_product(shape, rank, exporter->out);
   rkb_text_add(exporter->out, ", stream);\n");
   write_failure_check(exporter->out, "   ");
}

static void write_fills(exporter_t *exporter) {
   const manifest_t *manifest = exporter->manifest;
   for (uint32_t i = 0; i < manifest->fill_count; i++) {
      const rkb_export_tensor_t *tensor = export_tensor(exporter, manifest->fills[i].name);
      rkb_expression_t **shape;
      uint32_t rank;
      if (tensor && manifest->fills[i].fill.declared && export_shape(exporter, tensor, &shape, &rank))
         write_fill(exporter, tensor->name, manifest->fills[i].fill.value, shape, rank);
   }
   for (uint32_t i = 0; i < manifest->scratch_count; i++)
      if (manifest->scratch[i].init.declared)
         write_fill(exporter, manifest->scratch[i].name, manifest->scratch[i].init.value,
                    manifest->scratch[i].shape, manifest->scratch[i].rank);
}

static void write_dimensions(rkb_text_t *out, rkb_expression_t *const *list, uint32_t count) {
   rkb_text_add(out, "{");
   for (uint32_t i = 0; i < 3; i++) {
      rkb_text_add(out, i ? ", " : "");
      if (i < count)
         rkb_expression_write(list[i], out);
      else
         rkb_text_add(out, "1");
   }
   rkb_text_add(out, "}");
}

static void write_argument(exporter_t *exporter, const manifest_argument_t *argument) {
   const bool pointer =
      argument->head && (export_tensor(exporter, argument->head) || find_scratch(exporter, argument->head));
   if (argument->head && export_is_map(exporter, argument->head))
      rkb_text_add(exporter->out, argument->head);
   else if (argument->null)
      rkb_text_add(exporter->out, "rkb_pointer{nullptr}");
   else if (pointer) {
      rkb_text_format(exporter->out, "rkb_pointer{%s", argument->head);
      if (argument->tail) {
         rkb_text_add(exporter->out, " + ");
         rkb_expression_write(argument->tail, exporter->out);
      }
      rkb_text_add(exporter->out, "}");
   } else
      rkb_expression_write(argument->whole, exporter->out);
}

/* A struct is passed as one of the launcher's own with the same members. */
static void write_struct(exporter_t *exporter, const manifest_argument_t *argument, uint32_t number) {
   rkb_text_t *out = exporter->out;
   rkb_text_add(out, "      struct {\n");
   for (uint32_t i = 0; i < argument->member_count; i++) {
      const manifest_member_type_t *type = argument->members[i].type;
      rkb_text_format(out, "         %s m%u;\n", type ? type->c_type : "const void *", i);
   }
   rkb_text_format(out, "      } members%u;\n", number);
   for (uint32_t i = 0; i < argument->member_count; i++) {
      const manifest_argument_t *member = &argument->members[i];
      rkb_text_format(out, "      members%u.m%u = rkb_convert<%s>(", number, i,
                      member->type ? member->type->c_type : "const void *");
      write_argument(exporter, member);
      rkb_text_add(out, ", fits);\n");
   }
}

static void write_structs(exporter_t *exporter, const manifest_launch_t *launch) {
   bool any = false;
   for (uint32_t i = 0; i < launch->argument_count; i++)
      any |= launch->arguments[i].members != NULL;
   if (!any)
      return;
   rkb_text_add(exporter->out, "      bool fits = true;\n");
   for (uint32_t i = 0; i < launch->argument_count; i++)
      if (launch->arguments[i].members)
         write_struct(exporter, &launch->arguments[i], i);
   rkb_text_add(exporter->out, "      if (!fits)\n         return cudaErrorInvalidValue;\n");
}

/* declared: the variable that joins an else to what stands before it has been. */
static bool write_launch(exporter_t *exporter, const manifest_launch_t *launch, bool declared) {
   rkb_text_t *out = exporter->out;
   const bool joined = launch->is_else ||
                       (launch < exporter->manifest->launches + exporter->manifest->public.launch_count - 1 &&
                        launch[1].is_else);
   if (joined && !launch->is_else)
      rkb_text_format(out, "%s   taken = false;\n", declared ? "" : "   bool taken;\n");
   rkb_text_add(out, launch->is_else ? launch->when ? "   if (!taken && " : "   if (!taken"
                     : launch->when  ? "   if ("
                                     : "   if (true");
   if (launch->when)
      rkb_expression_write(launch->when, out);
   rkb_text_add(out, ") {\n      rkb_shape shape = {");
   write_dimensions(out, launch->grid, launch->grid_count);
   rkb_text_add(out, ", ");
   write_dimensions(out, launch->block, launch->block_count);
   rkb_text_add(out, ", ");
   write_dimensions(out, launch->cluster, launch->cluster_count);
   rkb_text_add(out, ", ");
   if (launch->shared)
      rkb_expression_write(launch->shared, out);
   else
      rkb_text_add(out, "0");
   rkb_text_format(out, ", %s, %s};\n", launch->cooperative ? "true" : "false",
                   launch->dependent ? "any" : "false"); /* the first one made depends on none */
   for (uint32_t i = 0; i < launch->constant_count; i++) {
      const rkb_export_tensor_t *tensor = export_tensor(exporter, launch->constants[i].tensor);
      rkb_expression_t **shape;
      uint32_t rank;
      if (!tensor || !export_shape(exporter, tensor, &shape, &rank))
         continue;
      rkb_text_format(out, "      status = cudaMemcpyToSymbolAsync(%s, %s, sizeof(%s) * (size_t)(",
                      launch->constants[i].symbol, tensor->name, export_type(tensor->dtype));
      export_product(shape, rank, out);
      rkb_text_add(out, "), 0, cudaMemcpyDeviceToDevice, stream);\n");
      write_failure_check(out, "      ");
   }
   export_maps(exporter, launch);
   write_structs(exporter, launch);
   rkb_text_format(out, "      any = %strue;\n      status = rkb_launch(%s, shape, stream",
                   joined ? "taken = " : "", launch->kernel);
   for (uint32_t i = 0; i < launch->argument_count; i++) {
      rkb_text_add(out, ",\n                          ");
      if (launch->arguments[i].members)
         rkb_text_format(out, "members%u", i);
      else
         write_argument(exporter, &launch->arguments[i]);
   }
   rkb_text_add(out, ");\n");
   write_failure_check(out, "      ");
   rkb_text_add(out, "   }\n");
   return declared || joined;
}

void export_body(exporter_t *exporter) {
   rkb_text_add(exporter->out, "   cudaError_t status = cudaSuccess;\n   bool any = false;\n");
   bool declared = false;
   write_fills(exporter);
   for (uint32_t i = 0; i < exporter->manifest->public.launch_count; i++)
      declared = write_launch(exporter, &exporter->manifest->launches[i], declared);
   rkb_text_add(
      exporter->out,
      "   return any ? cudaSuccess : cudaErrorInvalidValue; /* no launch is made for such sizes */\n");
}

int rkb_export(enum rkb_export_form form, const rkb_export_subject_t *subject, const char *source,
               const char *tune_json, const rkb_device_t *device, rkb_text_t *out, rkb_text_t *header,
               rkb_finding_t *finding, rkb_error_t *err) {
   int64_t tune[RKB_MANIFEST_MAX_ENTRIES];
   rkb_problems_t problems;
   rkb_manifest_t *manifest;
   int status = RKB_OK;
   rkb_finding_clear(finding);
   rkb_problems_init(&problems);
   manifest = rkb_manifest_parse(subject->file, source, strlen(source), &problems);
   if (!manifest)
      rkb_finding_from_problems(finding, &problems);
   else
      status = rkb_tune_resolve(manifest, tune_json, tune, finding, err);
   if (manifest && status == RKB_OK && !finding->reason[0]) {
      exporter_t exporter = {.subject = subject,
                             .manifest = (const manifest_t *)manifest,
                             .tune = tune,
                             .device = device,
                             .source = source,
                             .arena = ((const manifest_t *)manifest)->arena,
                             .problems = &problems,
                             .out = out,
                             .finding = finding};
      if (form == RKB_EXPORT_C)
         export_c(&exporter, header);
      else if (form == RKB_EXPORT_TORCH)
         export_torch(&exporter);
      else
         export_operator(&exporter);
      if (out->cut) {
         *err = (rkb_error_t){.status = RKB_ERR_LIMIT, .message = "the exported text is too large"};
         status = err->status;
      }
   }
   rkb_manifest_free(manifest);
   rkb_problems_free(&problems);
   return status;
}
