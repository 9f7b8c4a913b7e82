/* Writes the launches of an exported kernel as C++ calls: fills, constants, structs passed by value, and each
 * launch with its condition.  Owns nothing; any thread. */
#include "kernel/export_parts.h"

#include <string.h>

void export_support(exporter_t *exporter) {
   rkb_text_format(exporter->out, "\n%s", export_support_text);
   export_map_encoder(exporter);
}

static const manifest_scratch_t *find_scratch(const exporter_t *exporter, const char *name) {
   for (uint32_t i = 0; i < exporter->manifest->scratch_count; i++)
      if (strcmp(exporter->manifest->scratch[i].name, name) == 0)
         return &exporter->manifest->scratch[i];
   return NULL;
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

/* Writes a struct argument.  The launcher declares a struct of its own with the same members. */
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

/* declared: whether the variable that connects an `else` with the launches before it is declared already. */
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
                   launch->dependent ? "any" : "false"); /* the first launch has no earlier launch to depend on */
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
