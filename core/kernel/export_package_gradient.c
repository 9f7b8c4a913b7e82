/* Writes the gradient of an exported package's operator: the functions for torch.library.register_autograd.  Owns nothing; any
 * thread. */
#include "kernel/export_package_parts.h"

#include <string.h>
#include "kernel/candidate_finding.h"

static const rkb_export_tensor_t *tensor_of(const rkb_export_subject_t *subject, const char *name) {
   for (uint32_t i = 0; i < subject->tensor_count; i++)
      if (strcmp(subject->tensors[i].name, name) == 0)
         return &subject->tensors[i];
   return NULL;
}

/* Whether a tensor of the backward direction is the gradient of an output of the forward direction. */
static bool is_gradient(const package_writer_t *writer, const rkb_export_tensor_t *tensor) {
   return strncmp(tensor->name, "grad_", 5) == 0 && tensor_of(writer->forward, tensor->name + 5) &&
          tensor_of(writer->forward, tensor->name + 5)->role == RKB_OUT;
}

static void write_save(package_writer_t *writer) {
   rkb_text_add(writer->out, "\n\ndef _save(ctx, inputs, output):\n    (");
   package_arguments(writer, writer->forward);
   rkb_text_add(writer->out, ", ) = inputs\n    (");
   uint32_t outputs = 0;
   for (uint32_t i = 0; i < writer->forward->tensor_count; i++)
      if (writer->forward->tensors[i].role == RKB_OUT) {
         rkb_text_format(writer->out, "%s, ", writer->forward->tensors[i].name);
         outputs++;
      }
   rkb_text_format(writer->out, ") = %s\n    ctx.save_for_backward(", outputs > 1 ? "output" : "(output, )");
   for (uint32_t i = 0; i < writer->backward->tensor_count; i++)
      if (writer->backward->tensors[i].role == RKB_IN && !is_gradient(writer, &writer->backward->tensors[i]))
         rkb_text_format(writer->out, "%s, ", writer->backward->tensors[i].name);
   rkb_text_add(writer->out, ")\n    ctx.numbers = (");
   for (uint32_t i = 0; i < writer->forward->dim_count; i++)
      if (export_torch_is_argument(package_direction(writer, writer->forward), writer->forward->dims[i]))
         rkb_text_format(writer->out, "%s, ", writer->forward->dims[i]);
   for (uint32_t i = 0; i < writer->forward->attribute_count; i++)
      rkb_text_format(writer->out, "%s, ", writer->forward->attributes[i]);
   rkb_text_add(writer->out, ")\n");
}

/* The places of ctx.numbers by name, as _save filled it. */
static void write_numbers(package_writer_t *writer) {
   uint32_t count = 0;
   for (uint32_t i = 0; i < writer->forward->dim_count; i++)
      if (export_torch_is_argument(package_direction(writer, writer->forward), writer->forward->dims[i]))
         rkb_text_format(writer->out, "%s%s, ", count++ ? "" : "    (", writer->forward->dims[i]);
   for (uint32_t i = 0; i < writer->forward->attribute_count; i++)
      rkb_text_format(writer->out, "%s%s, ", count++ ? "" : "    (", writer->forward->attributes[i]);
   rkb_text_add(writer->out, count ? ") = ctx.numbers\n" : "");
}

void package_gradient(package_writer_t *writer) {
   const rkb_export_subject_t *forward = writer->forward, *backward = writer->backward;
   uint32_t wanted = 0;
   write_save(writer);
   rkb_text_add(writer->out, "\n\ndef _gradient(ctx, *grads):\n    (");
   for (uint32_t i = 0; i < backward->tensor_count; i++)
      if (backward->tensors[i].role == RKB_IN && !is_gradient(writer, &backward->tensors[i]))
         rkb_text_format(writer->out, "%s, ", backward->tensors[i].name);
   rkb_text_add(writer->out, ") = ctx.saved_tensors\n");
   write_numbers(writer);
   package_dims(writer, forward);
   uint32_t output = 0;
   for (uint32_t i = 0; i < forward->tensor_count; i++) {
      if (forward->tensors[i].role != RKB_OUT)
         continue;
      for (uint32_t k = 0; k < backward->tensor_count; k++)
         if (is_gradient(writer, &backward->tensors[k]) &&
             strcmp(backward->tensors[k].name + 5, forward->tensors[i].name) == 0) {
            rkb_text_format(
               writer->out,
               "    %s = grads[%u]\n    if %s is None:\n        %s = ctx.saved_tensors[0].new_zeros(",
               backward->tensors[k].name, output, backward->tensors[k].name, backward->tensors[k].name);
            package_shape(writer, forward, &forward->tensors[i]);
            rkb_text_format(writer->out, ", dtype=torch.%s)\n",
                            package_python_type(forward->tensors[i].dtype));
         }
      output++;
   }
   for (uint32_t i = 0; i < backward->tensor_count; i++)
      wanted += backward->tensors[i].role == RKB_OUT;
   rkb_text_add(writer->out, wanted == 1 ? "    found = (_backward(" : "    found = _backward(");
   package_arguments(writer, backward);
   rkb_text_add(writer->out, wanted == 1 ? "), )\n    return " : ")\n    return ");
   uint32_t arguments = 0;
   for (uint32_t i = 0; i < forward->tensor_count; i++) {
      if (forward->tensors[i].role == RKB_OUT)
         continue;
      uint32_t place = 0, found = UINT32_MAX;
      for (uint32_t k = 0; k < backward->tensor_count; k++) {
         if (backward->tensors[k].role != RKB_OUT)
            continue;
         if (strcmp(backward->tensors[k].name + 5, forward->tensors[i].name) == 0)
            found = place;
         place++;
      }
      if (found == UINT32_MAX)
         rkb_text_format(writer->out, "%sNone", arguments++ ? ", " : "");
      else
         rkb_text_format(writer->out, "%sfound[%u]", arguments++ ? ", " : "", found);
   }
   for (uint32_t i = 0; i < forward->dim_count; i++)
      if (export_torch_is_argument(package_direction(writer, forward), forward->dims[i]))
         rkb_text_format(writer->out, "%sNone", arguments++ ? ", " : "");
   for (uint32_t i = 0; i < forward->attribute_count; i++)
      rkb_text_format(writer->out, "%sNone", arguments++ ? ", " : "");
   rkb_text_add(writer->out, arguments == 1 ? ",\n" : "\n");
   for (uint32_t i = 0; i < writer->package->kernel_count; i++)
      if (!package_is_backward(writer->package->kernels[i].subject))
         rkb_text_format(writer->out,
                         "\n\ntorch.library.register_autograd(\"%s::%s\", _gradient, setup_context=_save)",
                         writer->package->name, writer->package->kernels[i].subject->operator_name);
   rkb_text_add(writer->out, "\n");
}

bool package_gradient_is_possible(package_writer_t *writer) {
   for (uint32_t i = 0; i < writer->backward->tensor_count; i++) {
      const rkb_export_tensor_t *tensor = &writer->backward->tensors[i];
      if (tensor->role == RKB_IN && !is_gradient(writer, tensor) &&
          !tensor_of(writer->forward, tensor->name)) {
         rkb_finding_set(
            writer->exporter.finding, "unsupported.export", 0, 0,
            "the backward kernel reads '%.64s', which the forward one does not give: export the forward direction alone",
            tensor->name);
         return false;
      }
   }
   return true;
}
