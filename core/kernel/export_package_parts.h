/* Functions that write the parts of an exported package's module: names and sizes (export_package_parts.c), and the gradient
 * (export_package_gradient.c).  One thread. */
#ifndef RKB_KERNEL_EXPORT_PACKAGE_PARTS_H
#define RKB_KERNEL_EXPORT_PACKAGE_PARTS_H

#include "kernel/export_package.h"
#include "kernel/export_parts.h"

typedef struct package_writer {
   const rkb_export_package_t *package;
   const rkb_export_subject_t *forward, *backward; /* backward may be NULL */
   exporter_t exporter;                            /* for export_shape and its findings */
   rkb_text_t *out;
} package_writer_t;

bool package_is_backward(const rkb_export_subject_t *subject);
/* "float32"; a name of torch's. */
const char *package_python_type(uint32_t dtype);
/* Makes the exporter read a direction: export_shape and the other functions of export_parts.h use it. */
exporter_t *package_direction(package_writer_t *writer, const rkb_export_subject_t *subject);
/* Writes an expression of a manifest in Python; `what` names it in a finding. */
void package_expression(package_writer_t *writer, const char *text, const char *what);
/* Writes "(a, b, )": a tuple of any length. */
void package_shape(package_writer_t *writer, const rkb_export_subject_t *subject,
                   const rkb_export_tensor_t *tensor);
/* Writes names separated by commas: the inputs of a direction, with its integer and real arguments. */
void package_arguments(package_writer_t *writer, const rkb_export_subject_t *subject);
/* Writes statements that give every dim and let of a direction its value, from the shapes of its inputs. */
void package_dims(package_writer_t *writer, const rkb_export_subject_t *subject);

/* export_package_gradient.c: writes the functions that save values for the backward direction and that call it, and
 * their registration. */
void package_gradient(package_writer_t *writer);
/* Whether the forward operator returns every value that a backward kernel needs; if not, there is a finding. */
bool package_gradient_is_possible(package_writer_t *writer);

#endif
