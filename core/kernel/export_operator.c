/* One kernel of an exported package: a .cu that registers torch.ops.<library>.<operator> (torch.library, PyTorch's "Custom C++ and CUDA
 * Operators").  An input that is not contiguous or not aligned is copied; a single output is returned as a tensor.  Owns nothing; any
 * thread. */
#include "kernel/export_parts.h"

/* PyTorch's own allocations begin at multiples of 512 bytes, so a clone is aligned. */
static const char ready[] = "/* The tensor itself, or a copy where it is not contiguous or does not begin at a multiple of alignment. */\n"
                            "static at::Tensor rkb_ready(const at::Tensor &given, uintptr_t alignment) {\n"
                            "   const at::Tensor whole = given.contiguous();\n"
                            "   return (uintptr_t)whole.data_ptr() % alignment == 0 ? whole : whole.clone();\n}\n";

static uint32_t output_count(const rkb_export_subject_t *subject) {
   uint32_t count = 0;
   for (uint32_t i = 0; i < subject->tensor_count; i++)
      count += subject->tensors[i].role == RKB_OUT;
   return count;
}

static void write_result_type(const rkb_export_subject_t *subject, const char *one, const char *begin, const char *end, rkb_text_t *out) {
   const uint32_t count = output_count(subject);
   if (count == 1) {
      rkb_text_add(out, one);
      return;
   }
   rkb_text_add(out, begin);
   for (uint32_t i = 0; i < count; i++)
      rkb_text_format(out, "%s%s", i ? ", " : "", one);
   rkb_text_add(out, end);
}

/* The arguments: inputs, then integers, then reals.  Each with the type's spelling in the language that is written. */
static void write_arguments(exporter_t *exporter, const char *tensor, const char *integer, const char *real) {
   const rkb_export_subject_t *subject = exporter->subject;
   uint32_t written = 0;
   for (uint32_t i = 0; i < subject->tensor_count; i++)
      if (subject->tensors[i].role != RKB_OUT)
         rkb_text_format(exporter->out, "%s%s%s", written++ ? ", " : "", tensor, subject->tensors[i].name);
   for (uint32_t i = 0; i < subject->dim_count; i++)
      if (export_torch_is_argument(exporter, subject->dims[i]))
         rkb_text_format(exporter->out, "%s%s%s", written++ ? ", " : "", integer, subject->dims[i]);
   for (uint32_t i = 0; i < subject->attribute_count; i++)
      rkb_text_format(exporter->out, "%s%s%s", written++ ? ", " : "", real, subject->attributes[i]);
}

static void write_registration(exporter_t *exporter) {
   const rkb_export_subject_t *subject = exporter->subject;
   /* A tune parameter's name could also occur in PyTorch's macros. */
   for (uint32_t i = 0; i < exporter->manifest->public.tune_count; i++)
      rkb_text_format(exporter->out, "#undef %s\n", exporter->manifest->public.tune[i].name);
   rkb_text_format(exporter->out, "\nTORCH_LIBRARY_FRAGMENT(%s, library) {\n   library.def(\"%s(", subject->library,
                   subject->operator_name);
   write_arguments(exporter, "Tensor ", "int ", "float ");
   rkb_text_add(exporter->out, ") -> ");
   write_result_type(subject, "Tensor", "(", ")", exporter->out);
   rkb_text_format(exporter->out, "\");\n}\n\nTORCH_LIBRARY_IMPL(%s, CUDA, library) {\n   library.impl(\"%s\", TORCH_FN(rkb_run));\n}\n",
                   subject->library, subject->operator_name);
}

void export_operator(exporter_t *exporter) {
   if (!export_torch_head(exporter, "A CUDA kernel as a PyTorch operator", "#include <ATen/ATen.h>\n#include <torch/library.h>\n"))
      return;
   export_support(exporter);
   rkb_text_add(exporter->out, ready);
   export_source(exporter);
   rkb_text_add(exporter->out, "\nstatic ");
   write_result_type(exporter->subject, "at::Tensor", "std::tuple<", ">", exporter->out);
   rkb_text_add(exporter->out, " rkb_run(");
   write_arguments(exporter, "const at::Tensor &given_", "int64_t ", "double ");
   rkb_text_add(exporter->out, ") {\n");
   export_torch_body(exporter, true);
   write_registration(exporter);
}
