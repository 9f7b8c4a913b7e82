/* Functions that every exported form uses: names and sizes (export_parts.c), launches (export_launches.c).
 * One thread. */
#ifndef RKB_KERNEL_EXPORT_PARTS_H
#define RKB_KERNEL_EXPORT_PARTS_H

#include "kernel/export.h"
#include "kernel/manifest.h"

typedef struct exporter {
   const rkb_export_subject_t *subject;
   const manifest_t *manifest;
   const int64_t *tune;
   const rkb_device_t *device;
   const char *source;
   rkb_arena_t *arena;
   rkb_problems_t *problems;
   rkb_text_t *out;
   rkb_finding_t *finding;
} exporter_t;

/* The text of export_support.cuh, which the build turns into a constant. */
extern const char export_support_text[];

const char *export_type(uint32_t dtype); /* "float", "__half", ... */
bool export_has_type(const rkb_export_subject_t *subject, uint32_t dtype);
/* Includes the header of 8-bit floats only if a tensor has them, because it is large. */
void export_eighths(const rkb_export_subject_t *subject, rkb_text_t *out);
const rkb_export_tensor_t *export_tensor(const exporter_t *exporter,
                                         const char *name); /* NULL: no tensor of the task */
/* The shape of a tensor, parsed; false with a finding. */
bool export_shape(exporter_t *exporter, const rkb_export_tensor_t *tensor, rkb_expression_t ***list,
                  uint32_t *count);
void export_product(rkb_expression_t *const *list, uint32_t count, rkb_text_t *out);

void export_heading(exporter_t *exporter, const char *what);
void export_source(exporter_t *exporter);  /* tune macros, then the candidate's text */
void export_support(exporter_t *exporter); /* writes rkb_ceildiv, the checked launch, ... */
/* `const int64_t rows = ...;` for lets and used device properties, indented. */
void export_names(exporter_t *exporter);
/* export_launches.c: writes fills, constants and launches.  Pointers have the names of the tensors and the
 * scratch buffers.  Each statement leaves the function with `status` when it fails. */
void export_body(exporter_t *exporter);
/* Writes `const int64_t partial_bytes = ...;` for each scratch buffer. */
void export_scratch_sizes(exporter_t *exporter);

/* export_maps.c: writes the function that encodes tensor maps, if there are maps, and before a launch a
 * variable for each of its maps. */
void export_map_encoder(exporter_t *exporter);
void export_maps(exporter_t *exporter, const manifest_launch_t *launch);
bool export_is_map(const exporter_t *exporter, const char *name);

void export_c(exporter_t *exporter, rkb_text_t *header);
void export_torch(exporter_t *exporter);
void export_operator(exporter_t *exporter);

/* export_torch.c: parts of both PyTorch forms. */
/* Everything up to the launcher; false: the subject has no inputs. */
bool export_torch_head(exporter_t *exporter, const char *what, const char *includes);
/* The launcher's body; copies: it copies inputs that do not fit, instead of refusing them. */
void export_torch_body(exporter_t *exporter, bool copies);
/* Finds the input axis from which a dim can be read; false: there is none. */
bool export_torch_find_axis(exporter_t *exporter, const char *dim, const char **tensor, uint32_t *axis);
/* Whether a dim or integer attribute is an argument: no input has it as a size. */
bool export_torch_is_argument(exporter_t *exporter, const char *dim);

#endif
