/* Writes the Python module of an exported package (export_package.h): sizes, the domain, the choice of a
 * kernel, the facts that a compiler needs about each operator, its gradient, and the reference as the
 * fallback.  All conditions are on shapes and numbers, so that torch.compile can trace them without a graph
 * break. */
#include "kernel/export_package.h"

#include <math.h>
#include <string.h>
#include "base/arena.h"
#include "kernel/export_parts.h"
#include "kernel/finding.h"

enum { ARENA_BYTES = 4 << 20 };
/* Choices are kept as 32-bit floats; the relative distance to the number that was written is at most this. */
#define ROUNDING 1e-6

typedef struct writer {
   const rkb_export_package_t *package;
   const rkb_export_subject_t *forward, *backward; /* backward may be NULL */
   exporter_t exporter;                            /* for export_shape and its findings */
   rkb_text_t *out;
} writer_t;

static const char *python_type(uint32_t dtype) {
   static const char *const types[] = {[RKB_F16] = "float16", [RKB_BF16] = "bfloat16", [RKB_F32] = "float32",      [RKB_F64] = "float64",
                                       [RKB_I32] = "int32",   [RKB_I64] = "int64",     [RKB_U8] = "uint8",         [RKB_I8] = "int8",
                                       [RKB_E4M3] = "float8_e4m3fn", [RKB_E5M2] = "float8_e5m2"};
   return types[dtype];
}

/* Makes the exporter read a direction: export_shape and the other functions of export_parts.h use it. */
static exporter_t *of_direction(writer_t *writer, const rkb_export_subject_t *subject) {
   writer->exporter.subject = subject;
   return &writer->exporter;
}

static rkb_expression_t *parse(writer_t *writer, const char *text, const char *what) {
   const rkb_place_t nowhere = {NULL, 0, 0};
   rkb_expression_t *expression =
      rkb_expression_parse(writer->exporter.arena, text, strlen(text), nowhere, writer->exporter.problems);
   if (!expression)
      rkb_finding_set(writer->exporter.finding, "plan.manifest", 0, 0, "%s '%.100s' cannot be read", what, text);
   return expression;
}

static void write_expression(writer_t *writer, const char *text, const char *what) {
   const rkb_expression_t *expression = parse(writer, text, what);
   if (expression)
      rkb_expression_write_python(expression, writer->out);
}

/* "(a, b, )": a tuple of any length. */
static void write_shape(writer_t *writer, const rkb_export_subject_t *subject, const rkb_export_tensor_t *tensor) {
   rkb_expression_t **shape;
   uint32_t rank;
   rkb_text_add(writer->out, "(");
   if (export_shape(of_direction(writer, subject), tensor, &shape, &rank))
      for (uint32_t i = 0; i < rank; i++) {
         rkb_expression_write_python(shape[i], writer->out);
         rkb_text_add(writer->out, ", ");
      }
   rkb_text_add(writer->out, ")");
}

/* Names separated by commas: the inputs of a direction, with its integer and real arguments. */
static void write_arguments(writer_t *writer, const rkb_export_subject_t *subject) {
   uint32_t written = 0;
   for (uint32_t i = 0; i < subject->tensor_count; i++)
      if (subject->tensors[i].role != RKB_OUT)
         rkb_text_format(writer->out, "%s%s", written++ ? ", " : "", subject->tensors[i].name);
   for (uint32_t i = 0; i < subject->dim_count; i++)
      if (export_torch_is_argument(of_direction(writer, subject), subject->dims[i]))
         rkb_text_format(writer->out, "%s%s", written++ ? ", " : "", subject->dims[i]);
   for (uint32_t i = 0; i < subject->attribute_count; i++)
      rkb_text_format(writer->out, "%s%s", written++ ? ", " : "", subject->attributes[i]);
}

/* Statements that give every dim and let of a direction its value, from the shapes of its inputs. */
static void write_dims(writer_t *writer, const rkb_export_subject_t *subject) {
   for (uint32_t i = 0; i < subject->dim_count; i++) {
      const char *tensor;
      uint32_t axis;
      if (export_torch_find_axis(of_direction(writer, subject), subject->dims[i], &tensor, &axis))
         rkb_text_format(writer->out, "    %s = %s.shape[%u]\n", subject->dims[i], tensor, axis);
   }
   for (uint32_t i = 0; i < subject->let_count; i++) {
      rkb_text_format(writer->out, "    %s = ", subject->lets[i].name);
      write_expression(writer, subject->lets[i].text, "the let");
      rkb_text_add(writer->out, "\n");
   }
}

static void write_no(writer_t *writer) {
   rkb_text_add(writer->out, ":\n        return False\n");
}

static void write_tensor_conditions(writer_t *writer, const rkb_export_subject_t *subject) {
   const char *anchor = NULL;
   for (uint32_t i = 0; i < subject->tensor_count; i++) {
      const rkb_export_tensor_t *tensor = &subject->tensors[i];
      rkb_expression_t **shape;
      uint32_t rank;
      if (tensor->role == RKB_OUT || !export_shape(of_direction(writer, subject), tensor, &shape, &rank))
         continue;
      anchor = anchor ? anchor : tensor->name;
      rkb_text_format(writer->out, "    if not isinstance(%s, torch.Tensor) or not %s.is_cuda or %s.dtype != torch.%s or %s.dim() != %u", tensor->name,
                      tensor->name, tensor->name, python_type(tensor->dtype), tensor->name, rank);
      if (anchor != tensor->name)
         rkb_text_format(writer->out, " or %s.device != %s.device", tensor->name, anchor);
      write_no(writer);
   }
}

static void write_domain(writer_t *writer) {
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
      write_expression(writer, *require, "the condition");
      write_no(writer);
   }
}

static bool is_backward(const rkb_export_subject_t *subject) {
   return strcmp(subject->direction, "backward") == 0;
}

/* Writes the sizes that some kernel of a direction accepts.  Writes none when one kernel accepts all. */
static void write_taken(writer_t *writer, bool backward) {
   uint32_t count = 0;
   for (uint32_t i = 0; i < writer->package->kernel_count; i++) {
      const rkb_package_kernel_t *kernel = &writer->package->kernels[i];
      if (is_backward(kernel->subject) == backward && !kernel->when)
         return;
   }
   rkb_text_add(writer->out, "    if not (");
   for (uint32_t i = 0; i < writer->package->kernel_count; i++) {
      const rkb_package_kernel_t *kernel = &writer->package->kernels[i];
      if (is_backward(kernel->subject) != backward)
         continue;
      rkb_text_add(writer->out, count++ ? " or " : "");
      write_expression(writer, kernel->when, "the condition");
   }
   rkb_text_add(writer->out, ")");
   write_no(writer);
}

static void write_wants_gradient(writer_t *writer) {
   uint32_t written = 0;
   rkb_text_add(writer->out, "    if torch.is_grad_enabled() and (");
   for (uint32_t i = 0; i < writer->forward->tensor_count; i++)
      if (writer->forward->tensors[i].role != RKB_OUT)
         rkb_text_format(writer->out, "%s%s.requires_grad", written++ ? " or " : "", writer->forward->tensors[i].name);
   rkb_text_add(writer->out, ")");
   write_no(writer);
}

static void write_verified(writer_t *writer) {
   const rkb_export_subject_t *forward = writer->forward;
   rkb_text_add(writer->out, "\n\ndef verified(");
   write_arguments(writer, forward);
   rkb_text_add(writer->out, "):\n    \"\"\"Whether the kernels are called for this: types, sizes and attributes in the domain that was verified.\"\"\"\n");
   write_tensor_conditions(writer, forward);
   if (!writer->backward)
      write_wants_gradient(writer);
   write_dims(writer, forward);
   write_domain(writer);
   for (uint32_t i = 0; i < forward->tensor_count; i++) {
      if (forward->tensors[i].role == RKB_OUT)
         continue;
      rkb_text_format(writer->out, "    if tuple(%s.shape) != ", forward->tensors[i].name);
      write_shape(writer, forward, &forward->tensors[i]);
      write_no(writer);
   }
   write_taken(writer, false);
   if (writer->backward)
      write_taken(writer, true);
   rkb_text_add(writer->out, "    return True\n");
}

/* Writes def _forward(...), which chooses the operator for the sizes. */
static void write_dispatch(writer_t *writer, const rkb_export_subject_t *subject) {
   const rkb_package_kernel_t *other = NULL;
   rkb_text_format(writer->out, "\n\ndef _%s(", subject->direction);
   write_arguments(writer, subject);
   rkb_text_add(writer->out, "):\n");
   write_dims(writer, subject);
   for (uint32_t i = 0; i < writer->package->kernel_count; i++) {
      const rkb_package_kernel_t *kernel = &writer->package->kernels[i];
      if (is_backward(kernel->subject) != is_backward(subject))
         continue;
      if (!kernel->when) {
         other = kernel;
         continue;
      }
      rkb_text_add(writer->out, "    if ");
      write_expression(writer, kernel->when, "the condition");
      rkb_text_format(writer->out, ":\n        return torch.ops.%s.%s(", writer->package->name, kernel->subject->operator_name);
      write_arguments(writer, subject);
      rkb_text_add(writer->out, ")\n");
   }
   if (other) {
      rkb_text_format(writer->out, "    return torch.ops.%s.%s(", writer->package->name, other->subject->operator_name);
      write_arguments(writer, subject);
      rkb_text_add(writer->out, ")\n");
   } else {
      rkb_text_add(writer->out, "    raise ValueError(\"no kernel takes these sizes\")\n");
   }
}

/* Writes def _fake_forward(...), which gives the outputs' shapes and types without values. */
static void write_fake(writer_t *writer, const rkb_export_subject_t *subject) {
   uint32_t outputs = 0, written = 0;
   const char *anchor = NULL;
   for (uint32_t i = 0; i < subject->tensor_count; i++) {
      outputs += subject->tensors[i].role == RKB_OUT;
      anchor = anchor || subject->tensors[i].role == RKB_OUT ? anchor : subject->tensors[i].name;
   }
   rkb_text_format(writer->out, "\n\ndef _fake_%s(", subject->direction);
   write_arguments(writer, subject);
   rkb_text_add(writer->out, "):\n");
   write_dims(writer, subject);
   rkb_text_add(writer->out, outputs > 1 ? "    return (" : "    return ");
   for (uint32_t i = 0; i < subject->tensor_count; i++) {
      if (subject->tensors[i].role != RKB_OUT)
         continue;
      rkb_text_format(writer->out, "%s%s.new_empty(", written++ ? ", " : "", anchor);
      write_shape(writer, subject, &subject->tensors[i]);
      rkb_text_format(writer->out, ", dtype=torch.%s)", python_type(subject->tensors[i].dtype));
   }
   rkb_text_add(writer->out, outputs > 1 ? ")\n" : "\n");
   for (uint32_t i = 0; i < writer->package->kernel_count; i++)
      if (is_backward(writer->package->kernels[i].subject) == is_backward(subject))
         rkb_text_format(writer->out, "\n\ntorch.library.register_fake(\"%s::%s\", _fake_%s)", writer->package->name,
                         writer->package->kernels[i].subject->operator_name, subject->direction);
   rkb_text_add(writer->out, "\n");
}

static const rkb_export_tensor_t *tensor_of(const rkb_export_subject_t *subject, const char *name) {
   for (uint32_t i = 0; i < subject->tensor_count; i++)
      if (strcmp(subject->tensors[i].name, name) == 0)
         return &subject->tensors[i];
   return NULL;
}

/* Whether a tensor of the backward direction is the gradient of an output of the forward direction. */
static bool is_gradient(const writer_t *writer, const rkb_export_tensor_t *tensor) {
   return strncmp(tensor->name, "grad_", 5) == 0 && tensor_of(writer->forward, tensor->name + 5) &&
          tensor_of(writer->forward, tensor->name + 5)->role == RKB_OUT;
}

static void write_save(writer_t *writer) {
   rkb_text_add(writer->out, "\n\ndef _save(ctx, inputs, output):\n    (");
   write_arguments(writer, writer->forward);
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
      if (export_torch_is_argument(of_direction(writer, writer->forward), writer->forward->dims[i]))
         rkb_text_format(writer->out, "%s, ", writer->forward->dims[i]);
   for (uint32_t i = 0; i < writer->forward->attribute_count; i++)
      rkb_text_format(writer->out, "%s, ", writer->forward->attributes[i]);
   rkb_text_add(writer->out, ")\n");
}

/* The places of ctx.numbers by name, as _save filled it. */
static void write_numbers(writer_t *writer) {
   uint32_t count = 0;
   for (uint32_t i = 0; i < writer->forward->dim_count; i++)
      if (export_torch_is_argument(of_direction(writer, writer->forward), writer->forward->dims[i]))
         rkb_text_format(writer->out, "%s%s, ", count++ ? "" : "    (", writer->forward->dims[i]);
   for (uint32_t i = 0; i < writer->forward->attribute_count; i++)
      rkb_text_format(writer->out, "%s%s, ", count++ ? "" : "    (", writer->forward->attributes[i]);
   rkb_text_add(writer->out, count ? ") = ctx.numbers\n" : "");
}

static void write_gradient(writer_t *writer) {
   const rkb_export_subject_t *forward = writer->forward, *backward = writer->backward;
   uint32_t wanted = 0;
   write_save(writer);
   rkb_text_add(writer->out, "\n\ndef _gradient(ctx, *grads):\n    (");
   for (uint32_t i = 0; i < backward->tensor_count; i++)
      if (backward->tensors[i].role == RKB_IN && !is_gradient(writer, &backward->tensors[i]))
         rkb_text_format(writer->out, "%s, ", backward->tensors[i].name);
   rkb_text_add(writer->out, ") = ctx.saved_tensors\n");
   write_numbers(writer);
   write_dims(writer, forward);
   uint32_t output = 0;
   for (uint32_t i = 0; i < forward->tensor_count; i++) {
      if (forward->tensors[i].role != RKB_OUT)
         continue;
      for (uint32_t k = 0; k < backward->tensor_count; k++)
         if (is_gradient(writer, &backward->tensors[k]) && strcmp(backward->tensors[k].name + 5, forward->tensors[i].name) == 0) {
            rkb_text_format(writer->out, "    %s = grads[%u]\n    if %s is None:\n        %s = ctx.saved_tensors[0].new_zeros(",
                            backward->tensors[k].name, output, backward->tensors[k].name, backward->tensors[k].name);
            write_shape(writer, forward, &forward->tensors[i]);
            rkb_text_format(writer->out, ", dtype=torch.%s)\n", python_type(forward->tensors[i].dtype));
         }
      output++;
   }
   for (uint32_t i = 0; i < backward->tensor_count; i++)
      wanted += backward->tensors[i].role == RKB_OUT;
   rkb_text_add(writer->out, wanted == 1 ? "    found = (_backward(" : "    found = _backward(");
   write_arguments(writer, backward);
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
      if (export_torch_is_argument(of_direction(writer, forward), forward->dims[i]))
         rkb_text_format(writer->out, "%sNone", arguments++ ? ", " : "");
   for (uint32_t i = 0; i < forward->attribute_count; i++)
      rkb_text_format(writer->out, "%sNone", arguments++ ? ", " : "");
   rkb_text_add(writer->out, arguments == 1 ? ",\n" : "\n");
   for (uint32_t i = 0; i < writer->package->kernel_count; i++)
      if (!is_backward(writer->package->kernels[i].subject))
         rkb_text_format(writer->out, "\n\ntorch.library.register_autograd(\"%s::%s\", _gradient, setup_context=_save)", writer->package->name,
                         writer->package->kernels[i].subject->operator_name);
   rkb_text_add(writer->out, "\n");
}

static void write_public(writer_t *writer) {
   const char *task = writer->package->task;
   rkb_text_format(writer->out, "\n\n_PARAMETERS = tuple(inspect.signature(_reference.forward_fn).parameters)\n\n\ndef %s(", task);
   write_arguments(writer, writer->forward);
   rkb_text_format(writer->out, "):\n    \"\"\"%s\"\"\"\n    if verified(", writer->package->summary);
   write_arguments(writer, writer->forward);
   rkb_text_add(writer->out, "):\n        return _forward(");
   write_arguments(writer, writer->forward);
   rkb_text_add(writer->out, ")\n    given = {");
   uint32_t written = 0;
   for (uint32_t i = 0; i < writer->forward->tensor_count; i++)
      if (writer->forward->tensors[i].role != RKB_OUT)
         rkb_text_format(writer->out, "%s\"%s\": %s", written++ ? ", " : "", writer->forward->tensors[i].name, writer->forward->tensors[i].name);
   for (uint32_t i = 0; i < writer->forward->dim_count; i++)
      if (export_torch_is_argument(of_direction(writer, writer->forward), writer->forward->dims[i]))
         rkb_text_format(writer->out, ", \"%s\": %s", writer->forward->dims[i], writer->forward->dims[i]);
   for (uint32_t i = 0; i < writer->forward->attribute_count; i++)
      rkb_text_format(writer->out, ", \"%s\": %s", writer->forward->attributes[i], writer->forward->attributes[i]);
   rkb_text_add(writer->out, "}\n    return _reference.forward_fn(*[given[name] for name in _PARAMETERS])\n");
}

static bool changes_nothing(writer_t *writer) {
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

/* Whether the forward operator returns every value that a backward kernel needs. */
static bool gradient_is_possible(writer_t *writer) {
   for (uint32_t i = 0; i < writer->backward->tensor_count; i++) {
      const rkb_export_tensor_t *tensor = &writer->backward->tensors[i];
      if (tensor->role == RKB_IN && !is_gradient(writer, tensor) && !tensor_of(writer->forward, tensor->name)) {
         rkb_finding_set(writer->exporter.finding, "unsupported.export", 0, 0,
                         "the backward kernel reads '%.64s', which the forward one does not give: export the forward direction alone", tensor->name);
         return false;
      }
   }
   return true;
}

static void write_module(writer_t *writer) {
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
      write_gradient(writer);
   }
   write_public(writer);
}

bool rkb_export_package_module(const rkb_export_package_t *package, rkb_text_t *out, rkb_finding_t *finding) {
   rkb_problems_t problems;
   writer_t writer = {.package = package, .out = out};
   for (uint32_t i = package->kernel_count; i--;)
      if (is_backward(package->kernels[i].subject))
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
   if (changes_nothing(&writer) && (!writer.backward || gradient_is_possible(&writer)))
      write_module(&writer);
   rkb_arena_free(writer.exporter.arena);
   rkb_problems_free(&problems);
   return !finding->reason[0];
}
