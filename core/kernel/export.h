/* A candidate as source that stands alone: a .cu with a C launcher, or a PyTorch extension.  The same kernel,
 * the same launches, with the manifest's expressions turned into C++ that is evaluated at run time.  Any
 * thread. */
#ifndef RKB_KERNEL_EXPORT_H
#define RKB_KERNEL_EXPORT_H

#include "kernel/kernel.h"
#include "base/text.h"

typedef struct rkb_export_tensor {
   const char *name;
   uint32_t role, dtype;
   const char *shape;  /* expressions over dims and lets: "B, T, D"; "" for a scalar */
   uint32_t alignment; /* bytes that the task promises */
} rkb_export_tensor_t;

typedef struct rkb_export_let {
   const char *name, *text;
} rkb_export_let_t;

/* The meaning of the manifest's names.  core/kernel does not import core/task, so the caller provides it. */
typedef struct rkb_export_subject {
   const char *task, *direction;
   const char *file; /* file of the candidate, for the heading */
   const rkb_export_tensor_t *tensors;
   uint32_t tensor_count;
   const char *const *dims; /* dims and integer attributes */
   uint32_t dim_count;
   const char *const *attributes; /* float attributes */
   uint32_t attribute_count;
   const rkb_export_let_t *lets; /* the task's own lets */
   uint32_t let_count;
   /* For RKB_EXPORT_OPERATOR: the operator becomes torch.ops.<library>.<operator_name>. */
   const char *library, *operator_name;
} rkb_export_subject_t;

/* RKB_EXPORT_C: the .cu with `extern "C" cudaError_t rkb_<task>_<direction>(...)`, and into header (not NULL
 * then) its declaration; device properties in expressions take the target's values.  RKB_EXPORT_TORCH: one
 * .cu for torch.utils.cpp_extension; header unused.  RKB_EXPORT_OPERATOR: one .cu that registers a torch.library operator, which copies an
 * input that is not contiguous or not aligned; header unused. */
int rkb_export(enum rkb_export_form form, const rkb_export_subject_t *subject, const char *source,
               const char *tune_json, const rkb_device_t *device, rkb_text_t *out, rkb_text_t *header,
               rkb_finding_t *finding, rkb_error_t *err);

#endif
