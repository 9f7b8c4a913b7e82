/* Kernels of one task as a Python package that builds a wheel: torch.library operators, and the Python that dispatches over them.  Owns
 * nothing; any thread. */
#ifndef RKB_KERNEL_EXPORT_PACKAGE_H
#define RKB_KERNEL_EXPORT_PACKAGE_H

#include "kernel/export.h"

typedef struct rkb_export_dim {
   const char *name;
   int64_t low, high, multiple_of;
   const int64_t *choices; /* when there are choices, the value is one of them */
   uint32_t choice_count;
} rkb_export_dim_t;

typedef struct rkb_export_attribute {
   const char *name;
   double least, greatest;
} rkb_export_attribute_t;

typedef struct rkb_package_kernel {
   const rkb_export_subject_t *subject; /* subject of its direction; operator_name is set */
   /* Sizes for which the kernel is used; NULL: all sizes that no other kernel of its direction accepts. */
   const char *when;
} rkb_package_kernel_t;

typedef struct rkb_export_package {
   const char *name; /* name of the package and of the library of operators: "rkb_softmax" */
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

/* Writes <name>/__init__.py.  false, with a finding, when the package cannot be written. */
bool rkb_export_package_module(const rkb_export_package_t *package, rkb_text_t *out, rkb_finding_t *finding);
/* Writes pyproject.toml, setup.py, README.md and the C file that makes the library importable.  Only names
 * differ between packages. */
void rkb_export_package_project(const rkb_export_package_t *package, rkb_text_t *out);
void rkb_export_package_setup(const rkb_export_package_t *package, rkb_text_t *out);
void rkb_export_package_readme(const rkb_export_package_t *package, rkb_text_t *out);
void rkb_export_package_entry(rkb_text_t *out);

#endif
