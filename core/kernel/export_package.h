/* Kernels of one task as a Python package that builds a wheel: torch.library operators, and the Python that dispatches over them.  Owns
 * nothing; any thread. */
#ifndef RKB_KERNEL_EXPORT_PACKAGE_H
#define RKB_KERNEL_EXPORT_PACKAGE_H

#include "kernel/export.h"

typedef struct rkb_export_dim {
   const char *name;
   int64_t low, high, multiple_of;
   const int64_t *choices; /* where there are choices, the value is one of them */
   uint32_t choice_count;
} rkb_export_dim_t;

typedef struct rkb_export_attribute {
   const char *name;
   double least, greatest;
} rkb_export_attribute_t;

typedef struct rkb_package_kernel {
   const rkb_export_subject_t *subject; /* of its direction; operator_name is set */
   const char *when;                    /* sizes for which it is taken, or NULL: for all that no other kernel of its direction takes */
} rkb_package_kernel_t;

typedef struct rkb_export_package {
   const char *name;    /* of the package and of the library of operators: "rkb_softmax" */
   const char *task, *summary, *version;
   const char *architecture; /* "9.0a" */
   const rkb_package_kernel_t *kernels; /* forward ones first */
   uint32_t kernel_count;
   const rkb_export_dim_t *dims; /* the domain in which the kernels were verified */
   uint32_t dim_count;
   const rkb_export_attribute_t *attributes;
   uint32_t attribute_count;
   const char *const *require; /* NULL-terminated */
} rkb_export_package_t;

/* <name>/__init__.py.  false, with a finding, where the package cannot be written. */
bool rkb_export_package_module(const rkb_export_package_t *package, rkb_text_t *out, rkb_finding_t *finding);
/* pyproject.toml, setup.py, README.md and the C file that makes the library importable: constant but for names. */
void rkb_export_package_project(const rkb_export_package_t *package, rkb_text_t *out);
void rkb_export_package_setup(const rkb_export_package_t *package, rkb_text_t *out);
void rkb_export_package_readme(const rkb_export_package_t *package, rkb_text_t *out);
void rkb_export_package_entry(rkb_text_t *out);

#endif
