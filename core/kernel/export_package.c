/* Writes the Python module of an exported package (export_package.h): sizes, the domain, the choice of a
 * kernel, the facts that a compiler needs about each operator, and the reference as the
 * fallback.  All conditions are on shapes and numbers, so that torch.compile can trace them without a graph
 * break. */
#include "kernel/export_package_parts.h"

#include <math.h>
#include <string.h>
#include "base/arena.h"
#include "kernel/candidate_finding.h"

enum { ARENA_BYTES = 4 << 20 };
/* Choices are stored as 32-bit floats.  This is the most that a stored choice may differ from the written number, as a share of it. */
#define ROUNDING 1e-6

static void write_no(package_writer_t *writer) {
   rkb_text_add(writer->out, ":\n        return False\n");
}

static void write_tensor_conditions(package_writer_t *writer, const rkb_export_subject_t *subject) {
   const char *anchor = NULL;
   for (uint32_t i = 0; i < subject->tensor_count; i++) {
      const rkb_export_tensor_t *tensor = &subject->tensors[i];
      rkb_expression_t **shape;
      uint32_t rank;
      if (tensor->role == RKB_OUT || !export_shape(package_direction(writer, subject), tensor, &shape, &rank))
         continue;
      anchor = anchor ? anchor : tensor->name;
      rkb_text_format(
         writer->out,
         "    if not isinstance(%s, torch.Tensor) or not %s.is_cuda or %s.dtype != torch.%s or %s.dim() != %u",
         tensor->name, tensor->name, tensor->name, package_python_type(tensor->dtype), tensor->name, rank);
      if (anchor != tensor->name)
         rkb_text_format(writer->out, " or %s.device != %s.device", tensor->name, anchor);
      write_no(writer);
   }
}

static void write_domain(package_writer_t *writer) {
   const rkb_export_package_t *package = writer->package;
   for (uint32_t i = 0; i < package->dim_count; i++) {
      const rkb_export_dim_t *dim = &package->dims[i];
      rkb_text_add(writer->out, "    if not ");
      if (dim->choice_count) {
         for (uint32_t k = 0; k < dim->choice_count; k++)
            rkb_text_format(writer->out, "%s%s == %lld", k ? " or " : "(", dim->name, (long long)dim->choices[k]);
         rkb_text_add(writer->out, ")");
      } else {
         rkb_text_format(writer->out, "%lld <= %s <= %lld", (long long)dim->low, dim->name, (long long)dim->high);
         if (dim->multiple_of > 1)
            rkb_text_format(writer->out, " or %s %% %lld != 0", dim->name, (long long)dim->multiple_of);
      }
      write_no(writer);
   }
   for (uint32_t i = 0; i < package->attribute_count; i++) {
      const rkb_export_attribute_t *attribute = &package->attributes[i];
      rkb_text_format(writer->out, "    if not %.9g <= %s <= %.9g", attribute->least - fabs(attribute->least) * ROUNDING, attribute->name,
                      attribute->greatest + fabs(attribute->greatest) * ROUNDING);
      write_no(writer);
   }
   for (const char *const *require = package->require; *require; require++) {
      rkb_text_add(writer->out, "    if not ");
      package_expression(writer, *require, "the condition");
      write_no(writer);
   }
}

/* Writes the sizes that some kernel of a direction accepts.  Writes none when one kernel accepts all. */
static void write_taken(package_writer_t *writer, bool backward) {
   uint32_t count = 0;
   for (uint32_t i = 0; i < writer->package->kernel_count; i++) {
      const rkb_package_kernel_t *kernel = &writer->package->kernels[i];
      if (package_is_backward(kernel->subject) == backward && !kernel->when)
         return;
   }
   rkb_text_add(writer->out, "    if not (");
   for (uint32_t i = 0; i < writer->package->kernel_count; i++) {
      const rkb_package_kernel_t *kernel = &writer->package->kernels[i];
      if (package_is_backward(kernel->subject) != backward)
         continue;
      rkb_text_add(writer->out, count++ ? " or " : "");
      package_expression(writer, kernel->when, "the condition");
   }
   rkb_text_add(writer->out, ")");
   write_no(writer);
}

static void write_wants_gradient(package_writer_t *writer) {
   uint32_t written = 0;
   rkb_text_add(writer->out, "    if torch.is_grad_enabled() and (");
   for (uint32_t i = 0; i < writer->forward->tensor_count; i++)
      if (writer->forward->tensors[i].role != RKB_OUT)
         rkb_text_format(writer->out, "%s%s.requires_grad", written++ ? " or " : "", writer->forward->tensors[i].name);
   rkb_text_add(writer->out, ")");
   write_no(writer);
}

static void write_verified(package_writer_t *writer) {
   const rkb_export_subject_t *forward = writer->forward;
   rkb_text_add(writer->out, "\n\ndef verified(");
   package_arguments(writer, forward);
   rkb_text_add(writer->out, "):\n    \"\"\"Whether the kernels are called for this: types, sizes and attributes in the domain that was verified.\"\"\"\n");
   write_tensor_conditions(writer, forward);
   if (!writer->backward)
      write_wants_gradient(writer);
   package_dims(writer, forward);
   write_domain(writer);
   for (uint32_t i = 0; i < forward->tensor_count; i++) {
      if (forward->tensors[i].role == RKB_OUT)
         continue;
      rkb_text_format(writer->out, "    if tuple(%s.shape) != ", forward->tensors[i].name);
      package_shape(writer, forward, &forward->tensors[i]);
      write_no(writer);
   }
   write_taken(writer, false);
   if (writer->backward)
      write_taken(writer, true);
   rkb_text_add(writer->out, "    return True\n");
}

/* Writes def _forward(...), which chooses the operator for the sizes. */
static void write_dispatch(package_writer_t *writer, const rkb_export_subject_t *subject) {
   const rkb_package_kernel_t *other = NULL;
   rkb_text_format(writer->out, "\n\ndef _%s(", subject->direction);
   package_arguments(writer, subject);
   rkb_text_add(writer->out, "):\n");
   package_dims(writer, subject);
   for (uint32_t i = 0; i < writer->package->kernel_count; i++) {
      const rkb_package_kernel_t *kernel = &writer->package->kernels[i];
      if (package_is_backward(kernel->subject) != package_is_backward(subject))
         continue;
      if (!kernel->when) {
         other = kernel;
         continue;
      }
      rkb_text_add(writer->out, "    if ");
      package_expression(writer, kernel->when, "the condition");
      rkb_text_format(writer->out, ":\n        return torch.ops.%s.%s(", writer->package->name, kernel->subject->operator_name);
      package_arguments(writer, subject);
      rkb_text_add(writer->out, ")\n");
   }
   if (other) {
      rkb_text_format(writer->out, "    return torch.ops.%s.%s(", writer->package->name, other->subject->operator_name);
      package_arguments(writer, subject);
      rkb_text_add(writer->out, ")\n");
   } else {
      rkb_text_add(writer->out, "    raise ValueError(\"no kernel takes these sizes\")\n");
   }
}

/* Writes def _fake_forward(...), which gives the outputs' shapes and types without values. */
static void write_fake(package_writer_t *writer, const rkb_export_subject_t *subject) {
   uint32_t outputs = 0, written = 0;
   const char *anchor = NULL;
   for (uint32_t i = 0; i < subject->tensor_count; i++) {
      outputs += subject->tensors[i].role == RKB_OUT;
      anchor = anchor || subject->tensors[i].role == RKB_OUT ? anchor : subject->tensors[i].name;
   }
   rkb_text_format(writer->out, "\n\ndef _fake_%s(", subject->direction);
   package_arguments(writer, subject);
   rkb_text_add(writer->out, "):\n");
   package_dims(writer, subject);
   rkb_text_add(writer->out, outputs > 1 ? "    return (" : "    return ");
   for (uint32_t i = 0; i < subject->tensor_count; i++) {
      if (subject->tensors[i].role != RKB_OUT)
         continue;
      rkb_text_format(writer->out, "%s%s.new_empty(", written++ ? ", " : "", anchor);
      package_shape(writer, subject, &subject->tensors[i]);
      rkb_text_format(writer->out, ", dtype=torch.%s)", package_python_type(subject->tensors[i].dtype));
   }
   rkb_text_add(writer->out, outputs > 1 ? ")\n" : "\n");
   for (uint32_t i = 0; i < writer->package->kernel_count; i++)
      if (package_is_backward(writer->package->kernels[i].subject) == package_is_backward(subject))
         rkb_text_format(writer->out, "\n\ntorch.library.register_fake(\"%s::%s\", _fake_%s)", writer->package->name,
                         writer->package->kernels[i].subject->operator_name, subject->direction);
   rkb_text_add(writer->out, "\n");
}

static void write_public(package_writer_t *writer) {
   const char *task = writer->package->task;
   rkb_text_format(writer->out, "\n\n_PARAMETERS = tuple(inspect.signature(_reference.forward_fn).parameters)\n\n\ndef %s(", task);
   package_arguments(writer, writer->forward);
   rkb_text_format(writer->out, "):\n    \"\"\"%s\"\"\"\n    if verified(", writer->package->summary);
   package_arguments(writer, writer->forward);
   rkb_text_add(writer->out, "):\n        return _forward(");
   package_arguments(writer, writer->forward);
   rkb_text_add(writer->out, ")\n    given = {");
   uint32_t written = 0;
   for (uint32_t i = 0; i < writer->forward->tensor_count; i++)
      if (writer->forward->tensors[i].role != RKB_OUT)
         rkb_text_format(writer->out, "%s\"%s\": %s", written++ ? ", " : "", writer->forward->tensors[i].name, writer->forward->tensors[i].name);
   for (uint32_t i = 0; i < writer->forward->dim_count; i++)
      if (export_torch_is_argument(package_direction(writer, writer->forward), writer->forward->dims[i]))
         rkb_text_format(writer->out, ", \"%s\": %s", writer->forward->dims[i], writer->forward->dims[i]);
   for (uint32_t i = 0; i < writer->forward->attribute_count; i++)
      rkb_text_format(writer->out, ", \"%s\": %s", writer->forward->attributes[i], writer->forward->attributes[i]);
   rkb_text_add(writer->out, "}\n    return _reference.forward_fn(*[given[name] for name in _PARAMETERS])\n");
}

static bool changes_nothing(package_writer_t *writer) {
   for (uint32_t k = 0; k < writer->package->kernel_count; k++)
      for (uint32_t i = 0; i < writer->package->kernels[k].subject->tensor_count; i++)
         if (writer->package->kernels[k].subject->tensors[i].role == RKB_INOUT) {
            rkb_finding_set(writer->exporter.finding, "unsupported.export", 0, 0,
                            "'%.64s' is changed in place, which an exported operator cannot do yet; export with --torch",
                            writer->package->kernels[k].subject->tensors[i].name);
            return false;
         }
   return true;
}

static void write_module(package_writer_t *writer) {
   rkb_text_format(writer->out,
                   "\"\"\"%s: %s\n\nWritten by rkb %s.  Outside the sizes that were verified, and where no kernel fits, reference.py is called.\"\"\"\n"
                   "import inspect\nimport math  # noqa: F401  (sizes may need it)\n\nimport torch\n\n"
                   "from . import _kernels  # noqa: F401  (loading it registers torch.ops.%s)\nfrom . import reference as _reference\n\n"
                   "__all__ = [\"%s\", \"verified\"]\n",
                   writer->package->task, writer->package->summary, writer->package->version, writer->package->name, writer->package->task);
   write_verified(writer);
   write_dispatch(writer, writer->forward);
   write_fake(writer, writer->forward);
   if (writer->backward) {
      write_dispatch(writer, writer->backward);
      write_fake(writer, writer->backward);
      package_gradient(writer);
   }
   write_public(writer);
}

bool rkb_export_package_module(const rkb_export_package_t *package, rkb_text_t *out, rkb_finding_t *finding) {
   rkb_problems_t problems;
   package_writer_t writer = {.package = package, .out = out};
   for (uint32_t i = package->kernel_count; i--;)
      if (package_is_backward(package->kernels[i].subject))
         writer.backward = package->kernels[i].subject;
      else
         writer.forward = package->kernels[i].subject;
   rkb_finding_clear(finding);
   if (!writer.forward) {
      rkb_finding_set(finding, "unsupported.export", 0, 0, "a package needs a forward kernel");
      return false;
   }
   rkb_problems_init(&problems);
   writer.exporter = (exporter_t){.arena = rkb_arena_new(ARENA_BYTES), .problems = &problems, .out = out, .finding = finding};
   if (changes_nothing(&writer) && (!writer.backward || package_gradient_is_possible(&writer)))
      write_module(&writer);
   rkb_arena_free(writer.exporter.arena);
   rkb_problems_free(&problems);
   return !finding->reason[0];
}
