/* Writes the names, sizes and expressions of an exported package's module (export_package_parts.h).  Owns nothing; any thread. */
#include "kernel/export_package_parts.h"

#include <string.h>
#include "kernel/candidate_finding.h"

const char *package_python_type(uint32_t dtype) {
   static const char *const types[] = {
      [RKB_F16] = "float16",        [RKB_BF16] = "bfloat16",   [RKB_F32] = "float32", [RKB_F64] = "float64",
      [RKB_I32] = "int32",          [RKB_I64] = "int64",       [RKB_U8] = "uint8",    [RKB_I8] = "int8",
      [RKB_E4M3] = "float8_e4m3fn", [RKB_E5M2] = "float8_e5m2"};
   return types[dtype];
}

exporter_t *package_direction(package_writer_t *writer, const rkb_export_subject_t *subject) {
   writer->exporter.subject = subject;
   return &writer->exporter;
}

static rkb_expression_t *parse(package_writer_t *writer, const char *text, const char *what) {
   const rkb_place_t nowhere = {NULL, 0, 0};
   rkb_expression_t *expression =
      rkb_expression_parse(writer->exporter.arena, text, strlen(text), nowhere, writer->exporter.problems);
   if (!expression)
      rkb_finding_set(writer->exporter.finding, "plan.manifest", 0, 0, "%s '%.100s' cannot be read", what,
                      text);
   return expression;
}

void package_expression(package_writer_t *writer, const char *text, const char *what) {
   const rkb_expression_t *expression = parse(writer, text, what);
   if (expression)
      rkb_expression_write_python(expression, writer->out);
}

void package_shape(package_writer_t *writer, const rkb_export_subject_t *subject,
                   const rkb_export_tensor_t *tensor) {
   rkb_expression_t **shape;
   uint32_t rank;
   rkb_text_add(writer->out, "(");
   if (export_shape(package_direction(writer, subject), tensor, &shape, &rank))
      for (uint32_t i = 0; i < rank; i++) {
         rkb_expression_write_python(shape[i], writer->out);
         rkb_text_add(writer->out, ", ");
      }
   rkb_text_add(writer->out, ")");
}

void package_arguments(package_writer_t *writer, const rkb_export_subject_t *subject) {
   uint32_t written = 0;
   for (uint32_t i = 0; i < subject->tensor_count; i++)
      if (subject->tensors[i].role != RKB_OUT)
         rkb_text_format(writer->out, "%s%s", written++ ? ", " : "", subject->tensors[i].name);
   for (uint32_t i = 0; i < subject->dim_count; i++)
      if (export_torch_is_argument(package_direction(writer, subject), subject->dims[i]))
         rkb_text_format(writer->out, "%s%s", written++ ? ", " : "", subject->dims[i]);
   for (uint32_t i = 0; i < subject->attribute_count; i++)
      rkb_text_format(writer->out, "%s%s", written++ ? ", " : "", subject->attributes[i]);
}

void package_dims(package_writer_t *writer, const rkb_export_subject_t *subject) {
   for (uint32_t i = 0; i < subject->dim_count; i++) {
      const char *tensor;
      uint32_t axis;
      if (export_torch_find_axis(package_direction(writer, subject), subject->dims[i], &tensor, &axis))
         rkb_text_format(writer->out, "    %s = %s.shape[%u]\n", subject->dims[i], tensor, axis);
   }
   for (uint32_t i = 0; i < subject->let_count; i++) {
      rkb_text_format(writer->out, "    %s = ", subject->lets[i].name);
      package_expression(writer, subject->lets[i].text, "the let");
      rkb_text_add(writer->out, "\n");
   }
}

bool package_is_backward(const rkb_export_subject_t *subject) {
   return strcmp(subject->direction, "backward") == 0;
}
