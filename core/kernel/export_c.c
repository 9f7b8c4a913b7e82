/* `rkb export --c`: one .cu with an extern "C" launcher that takes device pointers, sizes and a stream, and
 * its header.  Needs nothing but the CUDA runtime.  Owns nothing; any thread. */
#include "kernel/export_parts.h"

static void write_sizes(const exporter_t *exporter, rkb_text_t *out) {
   for (uint32_t i = 0; i < exporter->subject->dim_count; i++)
      rkb_text_format(out, "%sint64_t %s", i ? ", " : "", exporter->subject->dims[i]);
   if (!exporter->subject->dim_count)
      rkb_text_add(out, "void");
}

static void write_launcher_head(const exporter_t *exporter, rkb_text_t *out) {
   const rkb_export_subject_t *subject = exporter->subject;
   rkb_text_format(out, "cudaError_t rkb_%s_%s(", subject->task, subject->direction);
   for (uint32_t i = 0; i < subject->tensor_count; i++)
      rkb_text_format(out, "%s%s *%s, ", subject->tensors[i].role == RKB_IN ? "const " : "",
                      export_type(subject->tensors[i].dtype), subject->tensors[i].name);
   for (uint32_t i = 0; i < subject->dim_count; i++)
      rkb_text_format(out, "int64_t %s, ", subject->dims[i]);
   for (uint32_t i = 0; i < subject->attribute_count; i++)
      rkb_text_format(out, "double %s, ", subject->attributes[i]);
   rkb_text_add(out, "void *scratch, cudaStream_t stream)");
}

static void write_unused(const exporter_t *exporter) {
   for (uint32_t i = 0; i < exporter->subject->dim_count; i++)
      rkb_text_format(exporter->out, "   (void)%s;\n", exporter->subject->dims[i]);
}

static void write_scratch_function(exporter_t *exporter) {
   const manifest_t *manifest = exporter->manifest;
   rkb_text_format(exporter->out, "\nextern \"C\" int64_t rkb_%s_%s_scratch_bytes(", exporter->subject->task,
                   exporter->subject->direction);
   write_sizes(exporter, exporter->out);
   rkb_text_add(exporter->out, ") {\n");
   write_unused(exporter);
   export_names(exporter);
   export_scratch_sizes(exporter);
   rkb_text_add(exporter->out, "   return INT64_C(0)");
   for (uint32_t i = 0; i < manifest->scratch_count; i++)
      rkb_text_format(exporter->out, " + rkb_ceildiv(%s_bytes, 256) * 256", manifest->scratch[i].name);
   rkb_text_add(exporter->out, ";\n}\n");
}

static void write_scratch_pointers(exporter_t *exporter) {
   const manifest_t *manifest = exporter->manifest;
   if (!manifest->scratch_count) {
      rkb_text_add(exporter->out, "   (void)scratch;\n");
      return;
   }
   export_scratch_sizes(exporter);
   rkb_text_add(exporter->out, "   char *free_scratch = (char *)scratch;\n");
   for (uint32_t i = 0; i < manifest->scratch_count; i++)
      rkb_text_format(
         exporter->out,
         "   %s *const %s = (%s *)free_scratch;\n   free_scratch += rkb_ceildiv(%s_bytes, 256) * 256;\n",
         export_type(manifest->scratch[i].dtype), manifest->scratch[i].name,
         export_type(manifest->scratch[i].dtype), manifest->scratch[i].name);
}

static void write_header(const exporter_t *exporter, rkb_text_t *header) {
   const rkb_export_subject_t *subject = exporter->subject;
   rkb_text_format(
      header,
      "/* Launches the kernel for %s, %s.  Pointers are device memory, aligned to 256 bytes, rows "
      "contiguous; scratch has the bytes that\n"
      " * rkb_%s_%s_scratch_bytes gives and may be NULL when that is 0.  Runs on stream and returns at once; "
      "the result is what the\n"
      " * CUDA runtime says of the launches, cudaErrorInvalidValue for sizes the kernel does not take. */\n"
      "#pragma once\n#include <cuda_runtime.h>\n#include <stdint.h>\n",
      subject->task, subject->direction, subject->task, subject->direction);
   if (export_has_type(subject, RKB_F16) || export_has_type(subject, RKB_BF16))
      rkb_text_add(header, "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n");
   export_eighths(subject, header);
   rkb_text_add(header, "\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n");
   rkb_text_format(header, "int64_t rkb_%s_%s_scratch_bytes(", subject->task, subject->direction);
   write_sizes(exporter, header);
   rkb_text_add(header, ");\n");
   write_launcher_head(exporter, header);
   rkb_text_add(header, ";\n#ifdef __cplusplus\n}\n#endif\n");
}

void export_c(exporter_t *exporter, rkb_text_t *header) {
   export_heading(exporter, "A CUDA kernel and its launcher");
   export_eighths(exporter->subject, exporter->out);
   rkb_text_add(
      exporter->out,
      "#include <cuda_bf16.h>\n#include <cuda_fp16.h>\n#include <cuda_runtime.h>\n#include <stdint.h>\n"
      "#include <tuple>\n#include <type_traits>\n#include <utility>\n\n");
   export_support(exporter); /* before the tune macros, because they would rewrite this text too */
   export_source(exporter);
   write_scratch_function(exporter);
   rkb_text_add(exporter->out, "\nextern \"C\" ");
   write_launcher_head(exporter, exporter->out);
   rkb_text_add(exporter->out, " {\n");
   write_unused(exporter);
   export_names(exporter);
   write_scratch_pointers(exporter);
   export_body(exporter);
   rkb_text_add(exporter->out, "}\n");
   write_header(exporter, header);
}
