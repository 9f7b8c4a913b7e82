/* `rkb export --torch`: a PyTorch extension source (torch.utils.cpp_extension) around the same launches:
 * checks device, dtype, layout and shape, makes the outputs, runs on the current stream; and the parts that export_operator.c shares.
 * Owns nothing; any thread. */
#include "kernel/export_parts.h"
#include "kernel/candidate_finding.h"

#include <string.h>

static const char *scalar_type(uint32_t dtype) {
   static const char *const types[] = {
      [RKB_F16] = "at::kHalf",        [RKB_BF16] = "at::kBFloat16", [RKB_F32] = "at::kFloat",
      [RKB_F64] = "at::kDouble",      [RKB_I32] = "at::kInt",       [RKB_I64] = "at::kLong",
      [RKB_U8] = "at::kByte",         [RKB_I8] = "at::kChar",       [RKB_E4M3] = "at::kFloat8_e4m3fn",
      [RKB_E5M2] = "at::kFloat8_e5m2"};
   return dtype >= RKB_F16 && dtype <= RKB_E5M2 ? types[dtype] : "at::kFloat";
}

/* A dim can be read from an axis of an input if the axis's size is exactly the dim's name. */
bool export_torch_find_axis(exporter_t *exporter, const char *dim, const char **tensor, uint32_t *axis) {
   for (uint32_t i = 0; i < exporter->subject->tensor_count; i++) {
      const rkb_export_tensor_t *candidate = &exporter->subject->tensors[i];
      rkb_expression_t **shape;
      uint32_t rank;
      if (candidate->role == RKB_OUT || !export_shape(exporter, candidate, &shape, &rank))
         continue;
      for (*axis = 0; *axis < rank; (*axis)++) {
         if (strcmp(rkb_expression_text(shape[*axis]), dim) == 0) {
            *tensor = candidate->name;
            return true;
         }
      }
   }
   return false;
}

bool export_torch_is_argument(exporter_t *exporter, const char *dim) {
   const char *tensor;
   uint32_t axis;
   return !export_torch_find_axis(exporter, dim, &tensor, &axis);
}

static void write_signature(exporter_t *exporter) {
   const rkb_export_subject_t *subject = exporter->subject;
   uint32_t written = 0;
   rkb_text_format(exporter->out, "static std::vector<at::Tensor> rkb_%s(", subject->direction);
   for (uint32_t i = 0; i < subject->tensor_count; i++)
      if (subject->tensors[i].role != RKB_OUT)
         rkb_text_format(exporter->out, "%sat::Tensor tensor_%s", written++ ? ", " : "",
                         subject->tensors[i].name);
   for (uint32_t i = 0; i < subject->dim_count; i++)
      if (export_torch_is_argument(exporter, subject->dims[i]))
         rkb_text_format(exporter->out, "%sint64_t %s", written++ ? ", " : "", subject->dims[i]);
   for (uint32_t i = 0; i < subject->attribute_count; i++)
      rkb_text_format(exporter->out, "%sdouble %s", written++ ? ", " : "", subject->attributes[i]);
   rkb_text_add(exporter->out, ") {\n");
}

/* A view may begin at any address, and a misaligned vector load would end the CUDA context. */
static void write_alignment_check(exporter_t *exporter, const rkb_export_tensor_t *tensor) {
   if (tensor->alignment > 1)
      rkb_text_format(exporter->out,
                      "   TORCH_CHECK((uintptr_t)tensor_%s.data_ptr() %% %u == 0,\n"
                      "               \"%s begins at a multiple of %u bytes; clone() a view that does not\");\n",
                      tensor->name, tensor->alignment, tensor->name, tensor->alignment);
}

static void write_input_checks(exporter_t *exporter, const rkb_export_tensor_t *tensor, bool copies) {
   const char *name = tensor->name, *given = copies ? "given" : "tensor";
   rkb_expression_t **shape;
   uint32_t rank;
   if (!export_shape(exporter, tensor, &shape, &rank))
      return;
   rkb_text_format(exporter->out, "   TORCH_CHECK(%s_%s.is_cuda() && %s_%s.scalar_type() == %s && ", given, name, given, name,
                   scalar_type(tensor->dtype));
   if (!copies)
      rkb_text_format(exporter->out, "tensor_%s.is_contiguous() && ", name);
   rkb_text_format(exporter->out,
                   "%s_%s.dim() == %u,\n"
                   "               \"%s: a %sCUDA tensor of type %s and %u dimensions\");\n",
                   given, name, rank, name, copies ? "" : "contiguous ", export_type(tensor->dtype), rank);
   if (copies)
      rkb_text_format(exporter->out, "   const at::Tensor tensor_%s = rkb_ready(given_%s, %u);\n", name, name, tensor->alignment);
   else
      write_alignment_check(exporter, tensor);
}

static void write_sizes(exporter_t *exporter, bool copies) {
   const rkb_export_subject_t *subject = exporter->subject;
   for (uint32_t i = 0; i < subject->tensor_count; i++)
      if (subject->tensors[i].role != RKB_OUT)
         write_input_checks(exporter, &subject->tensors[i], copies);
   for (uint32_t i = 0; i < subject->dim_count; i++) {
      const char *tensor;
      uint32_t axis;
      if (export_torch_find_axis(exporter, subject->dims[i], &tensor, &axis))
         rkb_text_format(exporter->out, "   [[maybe_unused]] const int64_t %s = tensor_%s.size(%u);\n",
                         subject->dims[i], tensor, axis);
   }
}

static void write_shape_list(exporter_t *exporter, const rkb_export_tensor_t *tensor) {
   rkb_expression_t **shape;
   uint32_t rank;
   if (!export_shape(exporter, tensor, &shape, &rank))
      return;
   rkb_text_add(exporter->out, "{");
   for (uint32_t i = 0; i < rank; i++) {
      rkb_text_add(exporter->out, i ? ", (int64_t)" : "(int64_t)");
      rkb_expression_write(shape[i], exporter->out);
   }
   rkb_text_add(exporter->out, "}");
}

static const char *first_input(const rkb_export_subject_t *subject) {
   for (uint32_t i = 0; i < subject->tensor_count; i++)
      if (subject->tensors[i].role != RKB_OUT)
         return subject->tensors[i].name;
   return NULL;
}

static void write_tensors(exporter_t *exporter) {
   const rkb_export_subject_t *subject = exporter->subject;
   const char *anchor = first_input(subject);
   for (uint32_t i = 0; i < subject->tensor_count; i++) {
      const rkb_export_tensor_t *tensor = &subject->tensors[i];
      if (tensor->role == RKB_OUT) {
         rkb_text_format(exporter->out, "   at::Tensor tensor_%s = at::empty(std::vector<int64_t>",
                         tensor->name);
         write_shape_list(exporter, tensor);
         rkb_text_format(exporter->out, ", tensor_%s.options().dtype(%s));\n", anchor,
                         scalar_type(tensor->dtype));
      } else {
         rkb_text_format(exporter->out,
                         "   TORCH_CHECK(tensor_%s.sizes() == at::IntArrayRef(std::vector<int64_t>",
                         tensor->name);
         write_shape_list(exporter, tensor);
         rkb_text_format(exporter->out,
                         ") && tensor_%s.get_device() == tensor_%s.get_device(),\n               \"%s has "
                         "the shape [%s], on one device\");\n",
                         tensor->name, anchor, tensor->name, tensor->shape);
      }
   }
   for (uint32_t i = 0; i < exporter->manifest->scratch_count; i++)
      rkb_text_format(
         exporter->out,
         "   at::Tensor tensor_%s = at::empty({%s_bytes}, tensor_%s.options().dtype(at::kByte));\n",
         exporter->manifest->scratch[i].name, exporter->manifest->scratch[i].name, anchor);
}

/* Writes the launcher up to the launches, then the launches. */
static void write_launcher(exporter_t *exporter) {
   const rkb_export_subject_t *subject = exporter->subject;
   for (uint32_t i = 0; i < subject->tensor_count; i++)
      rkb_text_format(exporter->out, "   %s%s *const %s = (%s%s *)tensor_%s.data_ptr();\n",
                      subject->tensors[i].role == RKB_IN ? "const " : "",
                      export_type(subject->tensors[i].dtype), subject->tensors[i].name,
                      subject->tensors[i].role == RKB_IN ? "const " : "",
                      export_type(subject->tensors[i].dtype), subject->tensors[i].name);
   for (uint32_t i = 0; i < exporter->manifest->scratch_count; i++) {
      const manifest_scratch_t *scratch = &exporter->manifest->scratch[i];
      rkb_text_format(exporter->out, "   %s *const %s = (%s *)tensor_%s.data_ptr();\n",
                      export_type(scratch->dtype), scratch->name, export_type(scratch->dtype), scratch->name);
   }
   rkb_text_add(exporter->out, "   const c10::cuda::CUDAGuard guard(");
   rkb_text_format(exporter->out, "tensor_%s.device());\n", first_input(subject));
   rkb_text_add(exporter->out, "   const cudaStream_t stream = c10::cuda::getCurrentCUDAStream();\n"
                               "   const cudaError_t launched = [&]() -> cudaError_t {\n");
   export_body(exporter);
   rkb_text_add(exporter->out, "   }();\n   TORCH_CHECK(launched == cudaSuccess, cudaGetErrorString(launched));\n");
}

static void write_result(exporter_t *exporter) {
   const rkb_export_subject_t *subject = exporter->subject;
   rkb_text_add(exporter->out, "   return {");
   uint32_t written = 0;
   for (uint32_t i = 0; i < subject->tensor_count; i++)
      if (subject->tensors[i].role != RKB_IN)
         rkb_text_format(exporter->out, "%stensor_%s", written++ ? ", " : "", subject->tensors[i].name);
   rkb_text_add(exporter->out, "};\n}\n");
}

bool export_torch_head(exporter_t *exporter, const char *what, const char *includes) {
   if (!first_input(exporter->subject)) {
      rkb_finding_set(exporter->finding, "unsupported.export", 0, 0,
                      "a task without inputs cannot become a PyTorch function");
      return false;
   }
   export_heading(exporter, what);
   /* PyTorch's build flags disable these operators, but the kernel was judged with them. */
   rkb_text_add(exporter->out,
                "#undef __CUDA_NO_HALF_OPERATORS__\n#undef __CUDA_NO_HALF_CONVERSIONS__\n"
                "#undef __CUDA_NO_HALF2_OPERATORS__\n#undef __CUDA_NO_BFLOAT16_OPERATORS__\n"
                "#undef __CUDA_NO_BFLOAT16_CONVERSIONS__\n#undef __CUDA_NO_BFLOAT162_OPERATORS__\n");
   export_eighths(exporter->subject, exporter->out);
   rkb_text_format(
      exporter->out,
      "%s#include <c10/cuda/CUDAGuard.h>\n#include <c10/cuda/CUDAStream.h>\n"
      "#include <cuda_bf16.h>\n#include <cuda_fp16.h>\n#include <cuda_runtime.h>\n#include <stdint.h>\n"
      "#include <tuple>\n#include <type_traits>\n#include <utility>\n#include <vector>\n\n",
      includes);
   return true;
}

void export_torch_body(exporter_t *exporter, bool copies) {
   write_sizes(exporter, copies);
   export_names(exporter);
   export_scratch_sizes(exporter);
   write_tensors(exporter);
   write_launcher(exporter);
   write_result(exporter);
}

void export_torch(exporter_t *exporter) {
   if (!export_torch_head(exporter, "A CUDA kernel as a PyTorch extension", "#include <torch/extension.h>\n"))
      return;
   export_support(exporter); /* before the tune macros, because they would rewrite this text too */
   export_source(exporter);
   rkb_text_add(exporter->out, "\n/* Returns the outputs, in the task's order. */\n");
   write_signature(exporter);
   export_torch_body(exporter, false);
   rkb_text_format(exporter->out,
                   "\nPYBIND11_MODULE(TORCH_EXTENSION_NAME, module) {\n   module.def(\"%s\", &rkb_%s);\n}\n",
                   exporter->subject->direction, exporter->subject->direction);
}
